// `npm run setup` and `npm run doctor`.

import { onPinnedNode, SetupError } from "../setup.mjs";
import { main } from "../step.mjs";

await main(async () => {
  const [command, ...args] = process.argv.slice(2);
  await onPinnedNode({ stdin: "inherit" });
  // Loaded only now: these use what the pinned Node has and the system's may not.
  const { throughTheProxy, world } = await import("./world.mjs");
  throughTheProxy();
  if (command === "doctor") {
    const { doctor } = await import("./doctor.mjs");
    process.exitCode = await doctor(args, world());
  } else if (command === "setup") {
    const { setup } = await import("./setup/main.mjs");
    process.exitCode = await setup(args, world());
  } else {
    throw new SetupError("npm run setup, or npm run doctor");
  }
});

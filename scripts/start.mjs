// `npm start`: sets up and builds what is missing, then plays the demo. Arguments go to the demo.

import { onPinnedNode } from "./setup.mjs";
import { main } from "./step.mjs";

await main(async () => {
  await onPinnedNode();
  // Loaded only now: these may use what the pinned Node has and the system's may not.
  const { checkRust } = await import("./rust.mjs");
  const { buildWorker } = await import("./build.mjs");
  await checkRust();
  await buildWorker();
  await import("./demo/main.mjs");
});

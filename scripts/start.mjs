// `npm start`: sets up and builds what is missing, then plays the demo. Arguments go to the demo.

import { onPinnedNode } from "./setup.mjs";
import { main } from "./step.mjs";

await main(async () => {
  await onPinnedNode();
  // Loaded only now: these may use what the pinned Node has and the system's may not.
  const { checkRust } = await import("./rust.mjs");
  const { buildWorker } = await import("./build.mjs");
  const { parseArguments } = await import("./demo/arguments.mjs");
  if (wantsTheWorker(parseArguments)) {
    await checkRust();
    await buildWorker();
  }
  await import("./demo/main.mjs");
});

/** Whether the arguments ask for more than help. Who mistyped one does not wait for a build to be told so by the demo. */
function wantsTheWorker(parseArguments) {
  try {
    return !parseArguments(process.argv.slice(2)).help;
  } catch {
    return false;
  }
}

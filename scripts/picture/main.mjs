// `npm run picture`: draws docs/alarm.png anew. The texts in it are made by the built Worker, in a short history.

import { join } from "node:path";
import { onPinnedNode } from "../setup.mjs";
import { main, step } from "../step.mjs";

const file = join("docs", "alarm.png");

await main(async () => {
  await onPinnedNode();
  // Loaded only now: these need the npm packages.
  const { checkBrowser, drawPicture } = await import("./browser.mjs");
  const { FONTS, PICTURE, pictureHtml } = await import("./page.mjs");
  // Before the build, which takes longer than to say what is missing.
  await checkBrowser(Object.values(FONTS));
  const { checkRust } = await import("../rust.mjs");
  const { buildWorker } = await import("../build.mjs");
  await checkRust();
  await buildWorker();
  const { playHistory } = await import("./history.mjs");
  const history = await step("history", playHistory);
  await drawPicture(pictureHtml(history), PICTURE, file);
});

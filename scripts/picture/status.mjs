// `npm run picture:status`: docs/status.png and docs/status-phone.png, the page of the built Worker as a person sees it.

import { join } from "node:path";
import { STANDINGS, standing } from "../../test/worker/standing.mjs";
import { BASIC } from "../../test/worker/visitor.mjs";
import { onPinnedNode, root } from "../setup.mjs";
import { main } from "../step.mjs";
import { checkBrowser, openBrowser, squeeze, tellWritten } from "./browser.mjs";

const pictures = [
  { file: join("docs", "status.png"), width: 1000, height: 1250, colorScheme: "light", state: "all well" },
  { file: join("docs", "status-phone.png"), width: 390, height: 844, colorScheme: "dark", state: "entries" },
];

await main(async () => {
  await onPinnedNode();
  await checkBrowser([]);
  const ends = [];
  const browser = await openBrowser();
  try {
    const { stand } = await standing({ after: (end) => ends.push(end) });
    for (const { file, width, height, colorScheme, state } of pictures) {
      const home = await stand((stored) => {
        STANDINGS[state][1](stored);
        // The tests look at names that nobody has.
        stored.ledger.events = stored.ledger.events.filter(({ e: event }) => /^\w+$/.test(event));
      });
      const context = await browser.newContext({
        viewport: { width, height },
        deviceScaleFactor: 1.5,
        colorScheme,
        timezoneId: "UTC",
        locale: "en-GB",
        extraHTTPHeaders: BASIC,
      });
      const page = await context.newPage();
      await page.goto(home);
      const path = join(root, file);
      await page.screenshot({ path });
      await squeeze(path, 64);
      tellWritten(file);
      await context.close();
    }
  } finally {
    await browser.close();
    for (const end of ends) await end();
  }
});

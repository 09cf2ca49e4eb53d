// `npm run picture:status`: docs/status.png and docs/status-phone.png, the page of the built Worker as a person sees it.

import { fileURLToPath } from "node:url";
import { STANDINGS, standing } from "../../test/worker/standing.mjs";
import { TOKEN } from "../../test/worker/visitor.mjs";
import { onPinnedNode } from "../setup.mjs";
import { main, run } from "../step.mjs";
import { checkBrowser, openBrowser } from "./browser.mjs";

const pictures = [
  { file: "status.png", width: 1000, height: 1250, colorScheme: "light", state: "all well" },
  { file: "status-phone.png", width: 390, height: 844, colorScheme: "dark", state: "entries" },
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
      const basic = `Basic ${Buffer.from(`admin:${TOKEN}`).toString("base64")}`;
      const context = await browser.newContext({
        viewport: { width, height },
        deviceScaleFactor: 1.5,
        colorScheme,
        timezoneId: "UTC",
        locale: "en-GB",
        extraHTTPHeaders: { authorization: basic },
      });
      const page = await context.newPage();
      await page.goto(home);
      const path = fileURLToPath(new URL(`../../docs/${file}`, import.meta.url));
      await page.screenshot({ path });
      await run("pngquant", ["--nofs", "--strip", "--force", "--output", path, "64", path]);
      console.log(`docs/${file}`);
      await context.close();
    }
  } finally {
    await browser.close();
    for (const end of ends) await end();
  }
});

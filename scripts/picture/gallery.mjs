// `npm run gallery`: writes docs/gallery.html from test/fixtures/gallery.json, and draws it as docs/gallery.png. The texts
// come from `UPDATE_EXPECT=1 cargo test --lib gallery`.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onPinnedNode, root } from "../setup.mjs";
import { main } from "../step.mjs";

const page = join("docs", "gallery.html");
const picture = join("docs", "gallery.png");

await main(async () => {
  await onPinnedNode();
  // Loaded only now: these need the npm packages.
  const { GALLERY, GALLERY_WIDTH, galleryHtml } = await import("./gallery-page.mjs");
  const sections = JSON.parse(readFileSync(join(root, "test", "fixtures", "gallery.json"), "utf8"));
  const html = galleryHtml(sections);
  writeFileSync(join(root, page), html);
  const { checkBrowser, drawPicture, tellWritten } = await import("./browser.mjs");
  tellWritten(page);
  const { FONTS } = await import("./page.mjs");
  await checkBrowser(Object.values(FONTS));
  // As wide as GitHub shows it, and as many colours as keep it below 2 MB: it is as long as thirty screens.
  const look = { width: GALLERY_WIDTH, scale: 0.8, colours: 48 };
  await drawPicture(html, GALLERY, picture, look);
});

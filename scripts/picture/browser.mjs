// Draws a page with the system's Chromium. Knows nothing of what is on it.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { SetupError } from "../setup.mjs";
import { run } from "../step.mjs";

const program = process.env.CHROMIUM ?? "/usr/bin/chromium";
const packages = "chromium fontconfig fonts-inter fonts-dejavu-core fonts-noto-color-emoji pngquant";
const toInstall = `on Debian, apt-get update && apt-get install -y ${packages}`;

// No sandbox, as it cannot be had in most containers: the page runs no script and loads nothing. Without hinting the
// letters are the same on every machine.
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--font-render-hinting=none",
];

/** The system's Chromium, for whoever closes it again. */
export function openBrowser() {
  return chromium.launch({ executablePath: program, headless: true, args: flags });
}

/** Installs Chromium where that needs nobody: as root on Debian, which is what CI runs on. Throws if there is none otherwise. */
export async function ensureBrowser() {
  if (existsSync(program)) return;
  const mayInstall = process.getuid?.() === 0 && existsSync("/etc/debian_version") && !process.env.CHROMIUM;
  if (!mayInstall) throw new SetupError(`there is no ${program} (CHROMIUM may name another): ${toInstall}`);
  await run("apt-get", ["update", "-qq"]);
  await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"]);
}

/** Throws unless everything is there to make a picture that looks like the last one. */
export async function checkBrowser(fonts) {
  if (!existsSync(program)) {
    throw new SetupError(`there is no ${program} to draw with (CHROMIUM may name another): ${toInstall}`);
  }
  const families = await run("fc-list", [":", "family"]).catch(() => "");
  const missing = fonts.filter((font) => !families.split(/[,\n]/).includes(font));
  if (missing.length > 0) throw new SetupError(`fonts are missing (${missing.join(", ")}): ${toInstall}`);
  await run("pngquant", ["--version"]).catch(() => {
    throw new SetupError(`there is no pngquant to make the file small: ${toInstall}`);
  });
}

/** The element `selector` of a page as a PNG, at `scale` times its size, transparent where nothing is, in so many `colours`. */
export async function draw(html, selector, file, { width = 1400, scale = 2, colours = 256 } = {}) {
  const browser = await openBrowser();
  try {
    const page = await browser.newPage({
      viewport: { width, height: 900 },
      deviceScaleFactor: scale,
      javaScriptEnabled: false,
      offline: true,
    });
    await page.setContent(html);
    await page.locator(selector).screenshot({ path: file, omitBackground: true });
  } finally {
    await browser.close();
  }
  // Letters and areas have few colours: a palette is a third of the size, and no eye sees it.
  await run("pngquant", ["--nofs", "--strip", "--force", "--output", file, String(colours), file]);
}

// Draws a page with the system's Chromium. Knows nothing of what is on it.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { root, SetupError } from "../setup.mjs";
import { run, step } from "../step.mjs";

const program = process.env.CHROMIUM ?? "/usr/bin/chromium";
const packages = "chromium fontconfig fonts-inter fonts-dejavu-core fonts-noto-color-emoji pngquant";
const toInstall = `on Debian, apt-get update && apt-get install -y ${packages}`;
const noBrowser = `there is no ${program} (CHROMIUM may name another): ${toInstall}`;

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
  if (!mayInstall) throw new SetupError(noBrowser);
  await run("apt-get", ["update", "-qq"]);
  await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"]);
}

/** Throws unless everything is there to make a picture that looks like the last one. */
export async function checkBrowser(fonts) {
  if (!existsSync(program)) throw new SetupError(noBrowser);
  const families = await run("fc-list", [":", "family"]).catch(() => "");
  const missing = fonts.filter((font) => !families.split(/[,\n]/).includes(font));
  if (missing.length > 0) throw new SetupError(`fonts are missing (${missing.join(", ")}): ${toInstall}`);
  await run("pngquant", ["--version"]).catch(() => {
    throw new SetupError(`there is no pngquant to make the file small: ${toInstall}`);
  });
}

/**
 * Draws the element `selector` of a page as `file`, a PNG below the top of the repository: at `scale` times its size, transparent
 * where nothing is, in so many `colours`.
 */
export async function drawPicture(html, selector, file, look) {
  await step("picture", () => draw(html, selector, join(root, file), look));
  tellWritten(file);
}

/** Names a file that was written, with its size. */
export function tellWritten(file) {
  console.log(`${file}  ${Math.ceil(statSync(join(root, file)).size / 1000)} kB`);
}

async function draw(html, selector, path, { width = 1400, scale = 2, colours = 256 } = {}) {
  const browser = await openBrowser();
  try {
    const page = await browser.newPage({
      viewport: { width, height: 900 },
      deviceScaleFactor: scale,
      javaScriptEnabled: false,
      offline: true,
    });
    await page.setContent(html);
    await page.locator(selector).screenshot({ path, omitBackground: true });
  } finally {
    await browser.close();
  }
  await squeeze(path, colours);
}

/** Letters and areas have few colours: a palette is a third of the size, and no eye sees it. */
export async function squeeze(path, colours) {
  await run("pngquant", ["--nofs", "--strip", "--force", "--output", path, String(colours), path]);
}

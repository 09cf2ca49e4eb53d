// The picture as one HTML page that loads nothing.

import { issueCss, issueHtml } from "./github.mjs";
import { chatCss, chatHtml } from "./telegram.mjs";

/** The element to be drawn. */
export const PICTURE = "#picture";

/** Families that the picture is set in; browser.mjs looks whether they are there. */
export const FONTS = { text: "Inter", mono: "DejaVu Sans Mono", emoji: "Noto Color Emoji" };

const css = `
:root { --mono: "${FONTS.mono}", monospace; }
* { box-sizing: border-box; }
body { margin: 0; font-family: "${FONTS.text}", "${FONTS.emoji}", sans-serif; }
${PICTURE} { display: grid; grid-template-columns: 408px 1fr; gap: 20px; width: 1280px; }
.face { display: grid; place-items: center; font-weight: 600; }
`;

/** `message`, `bot` and `issue` as history.mjs gives them. */
export function pictureHtml({ message, bot, issue }) {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>The alarm</title>
<style>${css}${chatCss}${issueCss}</style>
<main id="${PICTURE.slice(1)}">
${chatHtml({ message, bot })}
${issueHtml(issue)}
</main>
</html>
`;
}

// `npm run compare`: plays weeks of an App for this Worker and for other systems, and prints the table. `-- --write` also writes
// docs/compare.json and the table of docs/compare.md; `-- --picture` draws docs/compare.png of what was written last; `-- --growth` plays
// a month of the busiest traffic for this Worker alone, and fails if anything it keeps, writes or computes grew (docs/state.md).

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkRust } from "./rust.mjs";
import { onPinnedNode, root, SetupError } from "./setup.mjs";
import { main, run, step } from "./step.mjs";

const picture = join("docs", "compare.png");
const program = ["run", "--locked", "--quiet", "--profile", "long", "--example", "compare"];

const weeks = "10 weeks for each of 15 systems";
const plays = {
  "": [weeks, []],
  "--write": [weeks, ["--", "docs"]],
  "--growth": ["three months", ["--", "--growth"]],
};

await main(async () => {
  const chosen = choose(process.argv.slice(2));
  await onPinnedNode();
  if (chosen === "--picture") return drawPicture();
  await checkRust();
  const build = ["build", ...program.slice(1)];
  await step("compiled", () => run("cargo", build, { cwd: root }), "a minute or two the first time");
  const [what, args] = plays[chosen];
  console.log(`…  played (${what}, about a minute)\n`);
  await run("cargo", [...program, ...args], { cwd: root, show: true });
});

function choose(args) {
  const [argument = ""] = args;
  if (args.length <= 1 && (Object.hasOwn(plays, argument) || argument === "--picture")) return argument;
  throw new SetupError("npm run compare takes nothing, or one of: -- --write, -- --picture, -- --growth");
}

async function drawPicture() {
  // Loaded only now: these need the npm packages.
  const { checkBrowser, drawPicture } = await import("./picture/browser.mjs");
  const { FONTS } = await import("./picture/page.mjs");
  const { COMPARED, COMPARED_WIDTH, comparedHtml } = await import("./picture/compared.mjs");
  await checkBrowser([FONTS.text]);
  const html = comparedHtml(JSON.parse(readFileSync(join(root, "docs", "compare.json"), "utf8")));
  await drawPicture(html, COMPARED, picture, { width: COMPARED_WIDTH, colours: 128 });
}

// `npm run prove`: the invariants over random histories, a million cases of them. `-- CASES SEED` names how many, and which.

import { checkRust } from "./rust.mjs";
import { onPinnedNode, root, SetupError } from "./setup.mjs";
import { main, run, step } from "./step.mjs";

const MILLION = 1_000_000;

// The same names as in the tests; `npm test` runs the same properties over fewer cases.
const properties = [
  "policy::tests::properties",
  "policy::tests::nights",
  "policy::tests::recovering",
  "sweep::tests::random",
  "alarm::channels::tests::random",
];
const tests = ["test", "--locked", "--profile", "long", "--lib"];

await main(async () => {
  const [cases, seed] = choose(process.argv.slice(2));
  await onPinnedNode();
  await checkRust();
  await step("compiled", () => run("cargo", [...tests, "--no-run"], { cwd: root }), "a minute or two the first time");
  console.log(`…  ${cases} cases, seed ${seed} (a million take hours)\n`);
  await run("cargo", [...tests, "--", ...properties], {
    cwd: root,
    env: { CASES: String(cases), SEED: String(seed) },
    show: true,
  });
});

function choose(args) {
  const [cases = MILLION, seed = 1] = args.map((text) => (/^[1-9]\d{0,9}$/.test(text) ? Number(text) : Number.NaN));
  if (args.length <= 2 && Number.isFinite(cases + seed)) return [cases, seed];
  throw new SetupError("npm run prove takes nothing, or -- CASES SEED, both whole numbers from 1 on");
}

// `npm run advisories`: known holes in what the Worker is made of, and in what builds and tests it. Both databases are on the network, so
// this is no part of `npm test`.

import { cargoDeny, checkRust } from "./rust.mjs";
import { onPinnedNode, root, SetupError } from "./setup.mjs";
import { main, report, run, step } from "./step.mjs";

await main(async () => {
  await onPinnedNode();
  await checkRust();
  const deny = await cargoDeny();
  const checks = {
    "crates (RustSec)": () =>
      run(deny, ["--locked", "--config", "scripts/deny.toml", "check", "advisories"], { cwd: root }),
    "npm packages (GitHub)": () => run("npm", ["audit"], { cwd: root }),
  };
  const failed = [];
  for (const [name, check] of Object.entries(checks)) {
    await step(name, check).catch((error) => {
      report(error);
      failed.push(name);
    });
  }
  if (failed.length > 0) throw new SetupError(`advisories or no answer: ${failed.join(", ")}`);
});

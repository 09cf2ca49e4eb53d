// `npm run advisories`: known holes in what the Worker is made of, and in what builds and tests it. Both databases are on the network, so
// this is no part of `npm test`.

import { cargoDeny, checkRust } from "./rust.mjs";
import { onPinnedNode, root, SetupError } from "./setup.mjs";
import { everyStep, main, run } from "./step.mjs";

await main(async () => {
  await onPinnedNode();
  await checkRust();
  const deny = await cargoDeny();
  const of = (manifest) =>
    run(deny, ["--locked", "--manifest-path", manifest, "--config", "scripts/deny.toml", "check", "advisories"], {
      cwd: root,
    });
  const failed = await everyStep([
    ["crates (RustSec)", () => of("Cargo.toml")],
    ["crates of the fuzzer (RustSec)", () => of("test/fuzz/Cargo.toml")],
    ["npm packages (GitHub)", () => run("npm", ["audit"], { cwd: root })],
  ]);
  if (failed.length > 0) throw new SetupError(`advisories or no answer: ${failed.join(", ")}`);
});

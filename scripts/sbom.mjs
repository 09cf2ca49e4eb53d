// `npm run sbom`: a bill of materials of the Worker in CycloneDX's form, in target/sbom.json. Of the crates in its wasm and no others: no
// npm package is shipped.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cargoCyclonedx, checkRust } from "./rust.mjs";
import { onPinnedNode, root, SetupError } from "./setup.mjs";
import { shippedCrates } from "./shipped.mjs";
import { main, run } from "./step.mjs";

const result = join("target", "sbom.json");
// cargo-cyclonedx writes beside Cargo.toml and nowhere else.
const raw = "sbom-of-all-crates";

await main(async () => {
  await onPinnedNode();
  await checkRust();
  const program = await cargoCyclonedx();
  const bom = JSON.parse(await written(program));
  const shipped = new Set(await shippedCrates());
  const kept = ({ name, version }) => shipped.has(`${name}@${version}`);
  bom.components = bom.components.filter(kept);
  if (bom.components.length !== shipped.size) {
    throw new SetupError(`cargo-cyclonedx knows ${bom.components.length} of the ${shipped.size} crates in the Worker`);
  }
  const own = bom.metadata.component["bom-ref"];
  const refs = new Set([own, ...bom.components.map((component) => component["bom-ref"])]);
  bom.dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn?.filter((other) => refs.has(other)) }));
  // The tool names the Worker by the folder it lies in.
  const text = JSON.stringify(bom, null, 2).replaceAll(own, bom.metadata.component.purl.split("?")[0]);
  writeFileSync(join(root, result), `${text}\n`);
  console.log(`${result}: ${bom.components.length} crates`);
});

/** The bill of everything that cargo would compile for the Worker, derive macros and features of the tests included. */
async function written(program) {
  const what = ["--format", "json", "--spec-version", "1.5", "--target", "wasm32-unknown-unknown"];
  const file = join(root, `${raw}.json`);
  try {
    await run(program, ["cyclonedx", ...what, "--override-filename", raw], {
      cwd: root,
      env: { SOURCE_DATE_EPOCH: await committedAt() },
    });
    return readFileSync(file, "utf8");
  } finally {
    rmSync(file, { force: true });
  }
}

/** Seconds: the same commit has the same bill. */
async function committedAt() {
  return (await run("git", ["log", "-1", "--format=%ct"], { cwd: root })).trim();
}

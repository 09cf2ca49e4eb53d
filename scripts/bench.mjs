// `npm run bench`: what a sweep costs in CPU, beside what the same work costs others, and how large the Worker is. Everything in one
// run on one machine. docs/benchmarks.md has the last figures and what they mean.
//
//   npm run bench                      everything, 15 processes for each figure: some minutes
//   npm run bench -- --only cpu        one part: size, cpu, wall or decide
//   npm run bench -- --runs 3          fewer processes
//   npm run bench -- --scene busiest   one scene
//   npm run bench -- --build DIR       another build than build/

import { parseArgs } from "node:util";
import { onPinnedNode, SetupError } from "./setup.mjs";
import { main } from "./step.mjs";

const parts = {
  size: () => import("./bench/size.mjs"),
  cpu: () => import("./bench/cpu-table.mjs"),
  wall: () => import("./bench/wall.mjs"),
  decide: () => import("./bench/decide.mjs"),
};

await main(async () => {
  const { values } = parseArgs({
    options: {
      runs: { type: "string", default: "15" },
      build: { type: "string" },
      only: { type: "string" },
      scene: { type: "string" },
    },
  });
  if (values.only && !Object.hasOwn(parts, values.only))
    throw new SetupError(`--only takes ${Object.keys(parts).join(", ")}`);
  await onPinnedNode();
  // Loaded only now: these use what the pinned Node has.
  for (const name of values.only ? [values.only] : Object.keys(parts)) {
    const { report } = await parts[name]();
    await report({ runs: Number(values.runs), build: values.build, scene: values.scene });
  }
});

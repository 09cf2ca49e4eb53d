// What a sweep costs the isolate, of the Worker and of others that do the same work.

import { SetupError } from "../setup.mjs";
import { runFloor, runSweeps } from "./measure.mjs";
import { phaseNames } from "./phases.mjs";
import { scenes } from "./scenes.mjs";
import { subjects } from "./subjects.mjs";
import { median, spread, table } from "./tables.mjs";

const titles = {
  worker: "this Worker",
  plain: "plain JavaScript",
  octokit: "GitHub's script, octokit",
  floor: "floor: JSON.parse and a signature",
};

export async function report({ runs, build, scene: only }) {
  if (only && !Object.hasOwn(scenes, only)) throw new SetupError(`--scene takes ${Object.keys(scenes).join(", ")}`);
  const directories = await subjects(build);
  for (const [sceneName, scene] of Object.entries(scenes).filter(([name]) => !only || name === only)) {
    const results = Object.fromEntries(Object.keys(directories).map((name) => [name, []]));
    // In turn, so that whatever else the machine does falls on all of them alike.
    for (let run = 0; run < runs; run += 1) {
      for (const name of ["worker", "plain", "octokit"]) results[name].push(await runSweeps(scene, directories[name]));
      results.floor.push(await runFloor(scene, pagesOf(results.worker[0].sweep), directories.floor));
    }
    printScene(sceneName, scene, results, runs);
  }
}

const pagesOf = ({ failures_list, deliveries_list, gap_pages }) =>
  failures_list.pages + deliveries_list.pages + gap_pages;

function printScene(sceneName, scene, results, runs) {
  const rows = Object.entries(results).map(([name, all]) => {
    const { sweep } = all[0];
    const warm = all.flatMap((run) => run.warm);
    return [
      titles[name],
      sweep ? `${pagesOf(sweep)} / ${sweep.calls}` : `${pagesOf(results.worker[0].sweep)} / 0`,
      spread(all.map(({ start }) => start.all)),
      spread(all.map(({ cold }) => cold.all)),
      spread(all.map(({ cold }) => cold.all - cold.console)),
      spread(warm.map(({ all: ms }) => ms)),
      spread(warm.map(({ threadMs }) => threadMs)),
    ];
  });
  const head = ["", "pages / calls", "start", "cold", "cold but for its console", "warm", "thread, warm"];
  const title = `CPU of the isolate in ms, ${sceneName} sweep (${scene.what}): median and middle half of ${runs} processes`;
  table(title, [head, ...rows]);
  const split = (name, pick) =>
    phaseNames.map((phase) => median(results[name].flatMap(pick).map((tick) => tick[phase])).toFixed(1));
  table(`Where it goes, ${sceneName} sweep`, [
    ["", ...phaseNames],
    ...["worker", "plain"].flatMap((name) => [
      [`${titles[name]}, cold`, ...split(name, ({ cold }) => [cold])],
      [`${titles[name]}, warm`, ...split(name, ({ warm }) => warm)],
    ]),
  ]);
}

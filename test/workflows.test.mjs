// The GitHub workflows: they may only read, run nobody else's code, and do nothing that a person cannot do with the same command.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { root } from "../scripts/setup.mjs";
import { read } from "./operator/pages.mjs";

const folder = ".github/workflows";
const { scripts } = JSON.parse(read("package.json"));
const contributing = read("CONTRIBUTING.md");

/** Reads a workflow as strictly as GitHub does: a key given twice is an error. */
const workflows = readdirSync(join(root, folder)).map((name) => [
  name,
  parse(read(`${folder}/${name}`), { strict: true }),
]);
const steps = (workflow) => Object.values(workflow.jobs).flatMap((job) => job.steps);

describe("the workflows", () => {
  test("there is one that tests and one that deploys", () => {
    assert.deepEqual(workflows.map(([name]) => name).sort(), ["deploy.yml", "test.yml"]);
  });

  for (const [name, workflow] of workflows) {
    test(`${name} may read the repository and nothing else, and ends by itself`, () => {
      assert.deepEqual(workflow.permissions, { contents: "read" });
      for (const job of Object.values(workflow.jobs)) {
        assert.equal(job.permissions, undefined);
        assert.ok(job["timeout-minutes"] <= 60);
        assert.match(job["runs-on"], /^ubuntu-\d\d\.\d\d$/);
      }
    });

    test(`${name} runs no action that is not pinned to a commit`, () => {
      const used = steps(workflow).flatMap(({ uses }) => uses ?? []);
      assert.deepEqual(
        used.filter((action) => !/@[0-9a-f]{40}$/.test(action)),
        [],
      );
    });

    test(`${name} puts nothing from outside into a command, and a secret only into the step that needs it`, () => {
      for (const { run = "", env = {} } of steps(workflow)) {
        assert.doesNotMatch(run, /\$\{\{/, "an expression is pasted into the script before a shell reads it");
        const secrets = Object.values(env).filter((value) => String(value).includes("secrets."));
        if (secrets.length > 0) assert.equal(run, "npm run deploy");
      }
      assert.doesNotMatch(
        JSON.stringify([workflow.env, ...Object.values(workflow.jobs).map(({ env }) => env)]),
        /secrets|token/i,
      );
    });

    test(`${name} runs commands that CONTRIBUTING.md names, and their scripts are there`, () => {
      const commands = steps(workflow)
        .map(({ run = "" }) => run)
        .filter((run) => run.startsWith("npm "));
      assert.ok(commands.length > 0);
      for (const command of commands) {
        assert.ok(contributing.includes(command), `${command} is not in CONTRIBUTING.md`);
        const script = command.match(/^npm (?:run )?([\w:]+)$/)?.[1];
        assert.ok(Object.hasOwn(scripts, script), `package.json has no ${script}`);
      }
    });
  }

  test("each job fetches the commit in the same way, with commands that a shell can read", () => {
    const fetches = workflows.flatMap(([, workflow]) => Object.values(workflow.jobs).map((job) => job.steps[0]));
    for (const fetch of fetches) assert.deepEqual(fetch, fetches[0]);
    for (const { run = "" } of workflows.flatMap(([, workflow]) => steps(workflow)))
      execFileSync("bash", ["-n", "-c", run]);
  });

  test("only a person or a tag deploys", () => {
    const deploy = new Map(workflows).get("deploy.yml");
    assert.deepEqual(deploy.on, { workflow_dispatch: null, push: { tags: ["v*"] } });
    assert.equal(deploy.jobs.deploy.environment, "production");
  });
});

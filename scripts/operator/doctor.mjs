// `npm run doctor`: the checks alone, as a table. Ends with 1 if there is a problem.

import { failed, warning } from "./checks/finding.mjs";
import { diagnose } from "./diagnose.mjs";
import { DOCTOR_USAGE, readOptions } from "./options.mjs";
import { summary, table } from "./report.mjs";
import { differences, readSettings } from "./settings.mjs";
import { readableByOthers } from "./vars-file.mjs";

/**
 * @param {string[]} args
 * @param {import('./world.mjs').World} world
 * @returns {Promise<number>} the exit code
 */
export async function doctor(args, world) {
  const { root, env, cwd, home, ports, wrangler, print, columns } = world;
  const { help, flags } = readOptions(args, { usage: DOCTOR_USAGE, cwd, home });
  if (help) {
    print(DOCTOR_USAGE);
    return 0;
  }
  const settings = readSettings({ root, env, flags });
  const findings = [...(await diagnose(ports, settings, { wrangler, env })), ...files(root)];
  for (const line of ["", ...table(findings, columns), "", ` ${summary(findings)}`]) print(line);
  return failed(findings) ? 1 : 0;
}

function files(root) {
  const found = [];
  if (readableByOthers(root)) {
    found.push(warning(".dev.vars", "Others on this machine can read it.", "chmod 600 .dev.vars"));
  }
  const names = differences(root);
  if (names.length > 0) {
    const text = `.dev.vars and wrangler.toml differ in ${names.join(", ")}; .dev.vars was looked at.`;
    found.push(warning("two sources", text, "Only wrangler.toml is deployed. Make them agree, if they are to."));
  }
  return found;
}

// `npm run setup` or `npm run doctor` as a program of its own, for a folder that is not this repository.
// launch.mjs FOLDER setup|doctor ARGUMENT...

import { doctor } from "../../scripts/operator/doctor.mjs";
import { setup } from "../../scripts/operator/setup/main.mjs";
import { throughTheProxy, world } from "../../scripts/operator/world.mjs";

const [root, command, ...args] = process.argv.slice(2);
throughTheProxy();
process.exitCode = await { doctor, setup }[command](args, world({ root }));

// What a test plays, played by a file that is run by itself.

import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Whether this file is what Node was started with. @param {string} url  its `import.meta.url` */
export const isRunAlone = (url) => Boolean(process.argv[1]) && realpathSync(process.argv[1]) === fileURLToPath(url);

/**
 * Plays it, and clears up whatever comes of it.
 * @template T
 * @param {(t: any) => Promise<T>} play  wants a test only for its `after`
 * @returns {Promise<T>}
 */
export async function alone(play) {
  const cleaners = [];
  try {
    return await play({ after: (clean) => cleaners.unshift(clean) });
  } finally {
    for (const clean of cleaners) await clean();
  }
}

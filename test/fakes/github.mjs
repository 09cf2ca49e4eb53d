// A stateful GitHub for one App: `startGitHub(options)`. See github/server.mjs for what it holds.

export { startGitHub } from "./github/server.mjs";
export { otherKeys, testKeys } from "./keys.mjs";

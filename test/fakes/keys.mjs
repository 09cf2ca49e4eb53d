// The key pair of the test App, and those of others. They are made anew in every process, so that no private key is ever
// committed.

import { generateKeyPairSync } from "node:crypto";

/** @typedef {{pkcs1: string, pkcs8: string, publicKey: string}} Keys  in PEM */

/** @type {Keys | undefined} */
let keys;

/** `pkcs1` is the form in which GitHub hands out an App's key. 2048 bits, the size of GitHub's own keys. */
export function testKeys() {
  keys ??= otherKeys();
  return keys;
}

/** A key pair that is no other's, as another App has one. @returns {Keys} */
export function otherKeys() {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    pkcs1: String(privateKey.export({ type: "pkcs1", format: "pem" })),
    pkcs8: String(privateKey.export({ type: "pkcs8", format: "pem" })),
    publicKey: String(publicKey.export({ type: "spki", format: "pem" })),
  };
}

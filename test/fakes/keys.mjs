// The key pair of the test App. It is made anew in every process, so that no private key is ever committed.

import { generateKeyPairSync } from "node:crypto";

/** @type {{pkcs1: string, pkcs8: string, publicKey: string} | undefined} */
let keys;

/** `pkcs1` is the form in which GitHub hands out an App's key. 2048 bits, the size of GitHub's own keys. */
export function testKeys() {
  if (!keys) {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    keys = {
      pkcs1: String(privateKey.export({ type: "pkcs1", format: "pem" })),
      pkcs8: String(privateKey.export({ type: "pkcs8", format: "pem" })),
      publicKey: String(publicKey.export({ type: "spki", format: "pem" })),
    };
  }
  return keys;
}

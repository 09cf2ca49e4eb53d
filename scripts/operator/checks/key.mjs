// The App's private key, from whatever a person gave as one. The Worker takes the same forms (src/github/key.rs).

import { createPrivateKey } from "node:crypto";

const ANOTHER = "Generate a private key on the App's settings page and give the file that you then download.";
const LEAST_BITS = 2048;

/**
 * @param {string} given  PEM, with real or literal `\n`, or base64 of the whole file
 * @returns {{key: import('node:crypto').KeyObject, pem: string} | {wrong: string, todo: string}}
 */
export function readKey(given) {
  const text = unfolded(given);
  const strange = stranger(text);
  if (strange) return { wrong: strange, todo: ANOTHER };
  const [, label] = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(text) ?? [];
  if (!label) return { wrong: "This is no PEM file: it has no line -----BEGIN.", todo: ANOTHER };
  if (!/PRIVATE KEY$/.test(label))
    return { wrong: `This is a PEM file, but of a ${label.toLowerCase()}.`, todo: ANOTHER };
  if (label.startsWith("ENCRYPTED") || text.includes("Proc-Type:")) {
    return { wrong: "The key is encrypted with a passphrase.", todo: "Give the file as GitHub let you download it." };
  }
  if (!text.includes(`-----END ${label}-----`)) {
    return { wrong: "The key is cut off: the line -----END is missing.", todo: "Give the whole file." };
  }
  const key = decoded(text);
  if (!key) return { wrong: "The key is damaged: a part of it is missing or changed.", todo: ANOTHER };
  if (key.asymmetricKeyType !== "rsa") return { wrong: "This is no RSA key, and GitHub's are.", todo: ANOTHER };
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < LEAST_BITS) return { wrong: `The key has ${bits} bits, and GitHub's have 2048.`, todo: ANOTHER };
  return { key, pem: text };
}

/** Things that people give instead, by how they begin. */
function stranger(text) {
  if (text === "") return "The key is empty.";
  if (/BEGIN OPENSSH PRIVATE KEY/.test(text)) return "This is an OpenSSH key, as ssh-keygen makes them, not the App's.";
  if (/^PuTTY-User-Key-File/.test(text)) return "This is a key of PuTTY, not the App's.";
  if (/^(ssh-|ecdsa-)/.test(text)) return "This is a public SSH key, not the App's private key.";
  if (/^SHA256:/.test(text)) return "This is the fingerprint of a key, not the key itself.";
  if (/PUBLIC KEY-----/.test(text)) return "This is a public key, and the private one is needed.";
  return undefined;
}

function decoded(text) {
  try {
    return createPrivateKey(text);
  } catch {
    return undefined;
  }
}

/** One line a line, without what copying adds. */
function unfolded(given) {
  let text = breaks(
    given
      .replace(/^\uFEFF/, "")
      .trim()
      .replace(/^["']|["']$/g, ""),
  );
  const packed = text.replace(/\s/g, "");
  // Nothing but base64 has no PEM header, and a file in base64 begins with that of "-----".
  if (/^LS0tLS[A-Za-z0-9+/]+=*$/.test(packed)) text = breaks(Buffer.from(packed, "base64").toString("utf8"));
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines.filter(Boolean).join("\n") + (lines.some(Boolean) ? "\n" : "");
}

const breaks = (text) => text.replaceAll("\\r", "").replaceAll("\\n", "\n");

// Settings by their form alone: the private key as the Worker takes it, everything else that people take for one, numbers.

import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { wrongForm } from "../scripts/operator/checks/forms.mjs";
import { readKey } from "../scripts/operator/checks/key.mjs";
import { RANGES } from "../scripts/operator/checks/limits.mjs";
import { root } from "../scripts/setup.mjs";
import { testKeys } from "./fakes/github.mjs";

const { pkcs1, pkcs8, publicKey } = testKeys();
const lines = pkcs1.trim().split("\n");
const made = (type, options, format) => {
  const { privateKey, publicKey: other } = generateKeyPairSync(type, options);
  return format === "public" ? other : privateKey;
};
const rsa1024 = made("rsa", { modulusLength: 1024 }).export({ type: "pkcs1", format: "pem" });
const elliptic = made("ec", { namedCurve: "P-256" }).export({ type: "pkcs8", format: "pem" });
const encrypted = made("rsa", { modulusLength: 2048 }).export({
  type: "pkcs8",
  format: "pem",
  cipher: "aes-256-cbc",
  passphrase: "x",
});
const openSsh = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n";

for (const [name, text] of [
  ["as GitHub hands it out", pkcs1],
  ["PKCS#8", pkcs8],
  ["with Windows line ends", pkcs1.replaceAll("\n", "\r\n")],
  ["with a byte order mark", `\uFEFF${pkcs1}`],
  ["on one line with \\n", pkcs1.replaceAll("\n", "\\n")],
  ["in base64", Buffer.from(pkcs1).toString("base64")],
  ["in base64 over several lines", Buffer.from(pkcs1).toString("base64").replace(/.{76}/g, "$&\n")],
  ["indented", pkcs1.replaceAll("\n", "\n   ")],
  ["in quotes", `"${pkcs1.trim()}"`],
]) {
  test(`a key is taken ${name}`, () => {
    const read = readKey(text);
    assert.ok("key" in read, JSON.stringify(read));
    assert.match(read.pem, /^-----BEGIN (RSA )?PRIVATE KEY-----\n[\s\S]+\n-----END \1PRIVATE KEY-----\n$/);
  });
}

/** @type {[string, string, RegExp][]} */
const refused = [
  ["nothing", " \n", /is empty/],
  ["a public key", publicKey, /a public key/],
  ["a public SSH key", "ssh-rsa AAAAB3NzaC1yc2E ada@host", /public SSH key/],
  ["an OpenSSH key", openSsh, /OpenSSH key/],
  ["a key of PuTTY", "PuTTY-User-Key-File-3: ssh-rsa", /PuTTY/],
  ["a fingerprint", "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8=", /fingerprint/],
  ["a certificate", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", /of a certificate/],
  ["a passphrase", String(encrypted), /passphrase/],
  ["an old passphrase", pkcs1.replace("-----\n", "-----\nProc-Type: 4,ENCRYPTED\n"), /passphrase/],
  ["the first half", lines.slice(0, 12).join("\n"), /cut off/],
  ["a line less", [...lines.slice(0, 5), ...lines.slice(6)].join("\n"), /damaged/],
  ["an elliptic key", String(elliptic), /no RSA key/],
  ["a short key", String(rsa1024), /1024 bits/],
  ["something else", "hunter2", /no PEM file/],
];
for (const [name, text, says] of refused) {
  test(`no key is ${name}`, () => {
    const read = readKey(text);
    assert.ok("wrong" in read, "it was taken");
    assert.match(read.wrong, says);
    assert.ok(read.todo.length > 0);
    const secret = text.split("\n").find((line) => /^[\w+/]{40,}/.test(line));
    assert.ok(!secret || !(read.wrong + read.todo).includes(secret));
  });
}

test("numbers have the ranges of the Worker", () => {
  const config = readFileSync(join(root, "src", "config", "reader.rs"), "utf8").replaceAll("_", "");
  const found = Array.from(config.matchAll(/self\.number\("(\w+)", [^"]*?(\d+), (\d+|kept)\)/g));
  const ranges = Object.entries(RANGES).map(([name, range]) => [name.replaceAll("_", ""), ...range]);
  assert.deepEqual(
    // The window is no longer than GitHub keeps a delivery, which stands above it.
    found.map(([, name, least, most]) => [name, Number(least), Number(most === "kept" ? found[0][3] : most)]),
    ranges,
  );
});

/** @type {[string, string, RegExp | undefined][]} */
const forms = [
  ["GITHUB_APP_ID", "1234567", undefined],
  ["GITHUB_APP_ID", "Iv1.ab1112223334445c", undefined],
  ["GITHUB_APP_ID", "Ov23liAbCdEf", /OAuth App/],
  ["GITHUB_APP_ID", "ghp_0123456789", /token/],
  ["GITHUB_APP_ID", "0123456789abcdef0123456789abcdef01234567", /client secret/],
  ["TELEGRAM_BOT_TOKEN", "7000000001:AAtest_-9", undefined],
  ["TELEGRAM_BOT_TOKEN", "@redelivery_bot", /the bot's name/],
  ["TELEGRAM_BOT_TOKEN", "AAtest", /@BotFather/],
  ["TELEGRAM_CHAT_ID", "-1001234567890", undefined],
  ["TELEGRAM_CHAT_ID", "@alarms", undefined],
  ["TELEGRAM_CHAT_ID", "alarms", /number/],
  ["CONTROL_REPO", "octo/control.x_y-z", undefined],
  ["CONTROL_REPO", "octo", /owner\/name/],
  ["CONTROL_REPO", "git@github.com:octo/control.git", /octo\/control\./],
  ["CONTROL_REPO", "octo/..", /owner\/name/],
  ["GITHUB_API_URL", "https://ghe.example.com/api/v3", undefined],
  ["GITHUB_API_URL", "http://localhost:1", undefined],
  ["GITHUB_API_URL", "ghe.example.com", /whole address/],
  ["GITHUB_API_URL", "https://me:pw@ghe.example.com", /without user/],
  ["GITHUB_API_URL", "http://ghe.example.com/api/v3", /https/],
];
for (const [setting, value, says] of forms) {
  test(`${setting} ${says ? "cannot" : "can"} be ${value}`, () => {
    const wrong = wrongForm[setting](value);
    if (says) assert.match(wrong ?? "", says);
    else assert.equal(wrong, undefined);
  });
}

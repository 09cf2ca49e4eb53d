// What no line, state, message or issue may hold.

import assert from "node:assert/strict";

/** Credentials that the Worker makes or is given while it runs: a JWT, and a token of an installation. */
const MADE = [/eyJ[\w-]{8,}/, /gh[a-z]_[\w.-]+/, /bearer /i];

/** Throws if any of `texts` holds a secret of the settings, a line of the key, or a credential. */
export function assertNoSecret(texts, settings) {
  const { GITHUB_APP_PRIVATE_KEY = "", TELEGRAM_BOT_TOKEN, HEARTBEAT_URL, ADMIN_TOKEN } = settings;
  const key = GITHUB_APP_PRIVATE_KEY.split(/\s+|\\n/).filter((line) => line.length > 20);
  const given = [...key, TELEGRAM_BOT_TOKEN, TELEGRAM_BOT_TOKEN?.split(":")[1], HEARTBEAT_URL, ADMIN_TOKEN].filter(
    Boolean,
  );
  for (const text of texts) {
    const found = given.find((secret) => text.includes(secret)) ?? MADE.find((form) => form.test(text));
    assert.equal(found, undefined, `a secret in: ${text.slice(0, 300)}`);
  }
}

// What the Workers to measure against have in common, as the Worker itself has it: the schedule fires, the App's object sweeps, and
// one line tells what it did.

export default {
  async fetch() {
    return new Response("Not Found", { status: 404 });
  },
  async scheduled(event, env) {
    const stub = env.RECOVERY.get(env.RECOVERY.idFromName(env.GITHUB_APP_ID));
    const answer = await stub.fetch(`https://recovery/sweep?at=${event.scheduledTime}`);
    if (answer.status !== 200) throw new Error("the sweep failed");
  },
};

/** The object; a subclass has `sweep(now)`, in ms. */
export class Sweeper {
  constructor(state, env) {
    this.storage = state.storage;
    this.env = env;
  }

  async fetch(request) {
    await this.sweep(Number(new URL(request.url).searchParams.get("at")));
    return new Response();
  }
}

/** The line of a sweep, as far as the bench reads it. */
export function logSweep({ failurePages = 0, deliveryPages, asks, calls }) {
  const line = {
    message: "sweep",
    failures_list: { pages: failurePages },
    deliveries_list: { pages: deliveryPages },
    gap_pages: 0,
    events: { redelivered: asks },
    calls,
    failure: null,
  };
  say(line);
}

/** One line of the log. A function of its own, so that a profile names it. */
export function say(line) {
  console.log(JSON.stringify(line));
}

/** A key in PKCS#8 PEM. */
export function importKey(pem) {
  const bytes = Uint8Array.from(atob(pem.replaceAll(/-----.*?-----|\s/g, "")), (letter) => letter.charCodeAt(0));
  return crypto.subtle.importKey("pkcs8", bytes, { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, false, ["sign"]);
}

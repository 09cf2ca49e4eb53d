// The world of a demo: the built Worker in workerd, and the fakes of the tests around it. One clock for all three.

import { startGitHub, testKeys } from "../../test/fakes/github.mjs";
import { startTelegram } from "../../test/fakes/telegram.mjs";
import { startWorker } from "../../test/harness.mjs";

/** Starts all of it, runs `body` and clears up, whatever happens. */
export async function inWorld({ github: gitHubOptions, telegram: telegramOptions, settings }, body) {
  const open = [];
  try {
    const github = await startGitHub(gitHubOptions);
    open.push(github.close);
    const telegram = await startTelegram(telegramOptions);
    open.push(telegram.close);
    const worker = await startWorker({
      bindings: {
        GITHUB_APP_ID: "1234567",
        GITHUB_APP_PRIVATE_KEY: testKeys().pkcs1,
        GITHUB_API_URL: github.url,
        TELEGRAM_API_URL: telegram.url,
        ...settings({ telegram }),
      },
    });
    open.push(() => worker.stop());
    return await body(new World({ github, telegram, worker }));
  } finally {
    for (const close of open.reverse()) await close();
  }
}

class World {
  constructor(parts) {
    Object.assign(this, parts);
  }

  /** Moves the clock to `now` and sweeps. The outcome, and the lines of the log by what they say. */
  async sweep(now) {
    const { github, telegram, worker } = this;
    github.now = now;
    telegram.now = now;
    const requests = () => github.requests.length + telegram.requests.length;
    const before = requests();
    const { outcome, logs } = await worker.tick(now);
    const lines = (message) => logs.filter((line) => line.message === message);
    return {
      outcome,
      requests: requests() - before,
      sweep: lines("sweep")[0],
      scheduled: lines("sweep")[0]?.scheduled,
      redeliveries: lines("redelivery"),
      gaveUp: lines("gave_up"),
      plan: lines("plan"),
      failures: lines("failure"),
    };
  }
}

// What GitHub's documented script for failed deliveries does, through its own client `octokit`, as a Worker: read the deliveries
// list back to the last run, and redeliver each guid of which no attempt is "OK". To measure the Worker against.
//
// Source: https://docs.github.com/webhooks/testing-and-troubleshooting-webhooks/automatically-redelivering-failed-deliveries-for-a-github-app-webhook
// That script keeps the time of its last run in a variable of the repository and asks without a limit. This one keeps it in the
// object's storage, stops at the 50 calls of the Free plan, and is without the client's waits of a second before each ask. The
// client reads ids of 19 digits as JavaScript numbers, so GitHub does not know most of those that it asks for: that costs the same.

import { App, Octokit } from "octokit";
import { logSweep, Sweeper } from "./shared.js";

export { default } from "./shared.js";

const CALLS = 50;

export class Recovery extends Sweeper {
  async sweep(now) {
    const { env, storage } = this;
    this.app ??= new App({
      appId: env.GITHUB_APP_ID,
      privateKey: env.GITHUB_APP_PRIVATE_KEY_PKCS8,
      Octokit: Octokit.defaults({
        baseUrl: env.GITHUB_API_URL,
        throttle: { enabled: false },
        retry: { enabled: false },
        log: { debug() {}, info() {}, warn() {}, error() {} },
      }),
    });
    const last = (await storage.get("last")) ?? now - 3 * 60 * 60_000;
    const { deliveries, pages } = await fetchDeliveriesSince(this.app, last);
    const failed = failedDeliveryIds(deliveries).slice(0, CALLS - pages);
    for (const deliveryId of failed) {
      const ask = this.app.octokit.request("POST /app/hook/deliveries/{delivery_id}/attempts", {
        delivery_id: deliveryId,
      });
      await ask.catch(() => {});
    }
    await storage.put("last", now);
    logSweep({ deliveryPages: pages, asks: failed.length, calls: pages + failed.length });
  }
}

async function fetchDeliveriesSince(app, lastTime) {
  const deliveries = [];
  let pages = 0;
  for await (const { data } of app.octokit.paginate.iterator("GET /app/hook/deliveries", { per_page: 100 })) {
    deliveries.push(...data);
    pages += 1;
    const oldest = data.at(-1);
    if (!oldest || new Date(oldest.delivered_at).getTime() < lastTime || pages === CALLS) break;
  }
  return { deliveries, pages };
}

function failedDeliveryIds(deliveries) {
  const byGuid = {};
  for (const delivery of deliveries) {
    byGuid[delivery.guid] ??= [];
    byGuid[delivery.guid].push(delivery);
  }
  return Object.values(byGuid)
    .filter((attempts) => !attempts.some(({ status }) => status === "OK"))
    .map(([newest]) => newest.id);
}

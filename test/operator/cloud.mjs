// `wrangler tail`, the real one, and Cloudflare's API as far as it needs that: it hands out one tail, sends its events, and ends it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import { root } from "../../scripts/setup.mjs";

const WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/**
 * What `wrangler tail` prints of a run of the schedule.
 * @param {any} t @param {any} desk  where it runs
 * @param {{lines: string[], at: number, format: 'pretty' | 'json'}} what  the lines that the run printed, and its time in ms
 * @returns {Promise<string>}
 */
export async function wranglerTail(t, desk, { lines, at, format }) {
  const env = {
    ...desk.environment(),
    CLOUDFLARE_API_BASE_URL: await startCloud(t, [tailed(lines, at)]),
    CLOUDFLARE_API_TOKEN: "a-token",
    CLOUDFLARE_ACCOUNT_ID: "a1",
    // It would ask the registry for a newer version.
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_SEND_METRICS: "false",
    TZ: "UTC",
    LC_ALL: "en_US.UTF-8",
  };
  const program = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
  const args = [program, "tail", "github-app-redeliver", "--format", format];
  const child = spawn(process.execPath, args, { cwd: desk.folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let [output, errors] = ["", ""];
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.deepEqual([code, errors], [0, ""]);
  return output;
}

function tailed(lines, at) {
  return {
    outcome: "ok",
    scriptName: "github-app-redeliver",
    eventTimestamp: at,
    event: { cron: "*/15 * * * *", scheduledTime: at },
    logs: lines.map((line) => ({ message: [line], level: "log", timestamp: at })),
    exceptions: [],
  };
}

/** @returns {Promise<string>} the address of the API */
async function startCloud(t, events) {
  const server = createServer((request, response) => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    const url = `ws://127.0.0.1:${port}/tail`;
    const result = request.method === "POST" ? { id: "t1", url, expires_at: "2026-11-02T20:00:00Z" } : null;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ success: true, errors: [], messages: [], result }));
  });
  server.on("upgrade", (request, socket) => {
    const key = createHash("sha1").update(request.headers["sec-websocket-key"] + WEBSOCKET);
    const protocol = request.headers["sec-websocket-protocol"];
    const head = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
    head.push(`Sec-WebSocket-Accept: ${key.digest("base64")}`, `Sec-WebSocket-Protocol: ${protocol}`, "", "");
    socket.write(head.join("\r\n"));
    // It first says which events it wants.
    socket.once("data", () => {
      for (const event of events) socket.write(frame(0x81, Buffer.from(JSON.stringify(event))));
      socket.end(frame(0x88, Buffer.from([0x03, 0xe8])));
    });
    socket.on("error", () => {});
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  t.after(() => server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `http://127.0.0.1:${port}/client/v4`;
}

/** A frame of a WebSocket, from a server. */
function frame(kind, payload) {
  const length = payload.length;
  if (length < 126) return Buffer.concat([Buffer.from([kind, length]), payload]);
  const head = Buffer.from([kind, 126, 0, 0]);
  head.writeUInt16BE(length, 2);
  return Buffer.concat([head, payload]);
}

// Cloudflare's API as far as `wrangler tail` needs it: it hands out one tail, sends the events that it has, and ends it.

import { createHash } from "node:crypto";
import { createServer } from "node:http";

const WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** One event for `wrangler tail`: a run of the schedule with what it printed. @param {string[]} lines @param {number} at  ms */
export function tailed(lines, at) {
  return {
    outcome: "ok",
    scriptName: "github-app-redeliver",
    eventTimestamp: at,
    event: { cron: "*/15 * * * *", scheduledTime: at },
    logs: lines.map((line) => ({ message: [line], level: "log", timestamp: at })),
    exceptions: [],
  };
}

/** @param {any} t @param {object[]} events @returns {Promise<string>} the address of the API */
export async function startCloud(t, events) {
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

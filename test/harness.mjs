// The only file that starts the Worker: the built build/index.js in workerd, with a real SQLite-backed Durable Object.
// It knows Miniflare and how workerd keeps an object's storage, and nothing of what a sweep does. Outgoing calls go
// straight to the addresses in the bindings, fakes on 127.0.0.1. Time is the scheduled time of a tick; nothing in
// here sleeps.
//
// Written for Miniflare 4: version 5 takes other options.

import { createHash, createHmac } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { finished } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import v8 from "node:v8";
import { Log, LogLevel, Miniflare } from "miniflare";

const builtWorker = fileURLToPath(new URL("../build", import.meta.url));
const wranglerToml = readFileSync(new URL("../wrangler.toml", import.meta.url), "utf8");
const [, compatibilityDate] = wranglerToml.match(/^compatibility_date = "(.+)"/m);
const [, cron] = wranglerToml.match(/^crons = \["(.+)"\]/m);

// Port 9 refuses every connection: a test that forgets a fake never reaches the real service.
const nowhere = { GITHUB_API_URL: "http://127.0.0.1:9", TELEGRAM_API_URL: "http://127.0.0.1:9" };

// A second Worker in the same process that prints what it is sent. Both write to the same two pipes, so once its line
// has come through, so has everything that was printed before.
const echo = `export default { async fetch(request) {
  const line = await request.text(); console.log(line); console.error(line); return new Response();
} }`;

// workerd's own table for the key-value side of an object's storage. The values are serialized as V8 does it.
const keyValueTable = "CREATE TABLE IF NOT EXISTS _cf_KV (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID";

// Worker and class: workerd makes the ids of objects from this key, and names their directory by it.
const objectClass = "worker-Recovery";

// Starts of one test process go one after the other: so a workerd that appears meanwhile is known to be ours.
let lastStart = Promise.resolve();

/**
 * Starts the Worker and returns a `RunningWorker`.
 *
 * - `bindings`: settings and secrets, texts all of them.
 * - `persist`: the directory of the storage; without it a temporary one, which `stop()` removes.
 * - `buildDir`: where index.js and index_bg.wasm are.
 * - `inspector`: true opens the DevTools protocol, see `inspectorUrl()`.
 * - `v8Flags`: flags for V8, blanks between them.
 */
export async function startWorker(options = {}) {
  const worker = new RunningWorker(options);
  await worker.restart();
  return worker;
}

class RunningWorker {
  /** What the Worker printed as JSON, one object a line. Kept over a restart. */
  logs = [];
  /** Every line it printed, as text. Kept over a restart. */
  lines = [];
  /** All bindings it ran with. */
  settings = [];

  #options;
  #directory;
  #run;
  #echoes = 0;

  constructor({ bindings = {}, persist, buildDir = builtWorker, inspector = false, v8Flags }) {
    this.settings.push(bindings);
    this.#options = { bindings, buildDir: resolve(buildDir), inspector, v8Flags, temporary: persist === undefined };
    this.#directory = persist ?? mkdtempSync(join(tmpdir(), "redeliver-"));
  }

  /**
   * Fires the schedule at that time (milliseconds) and waits for the end of the run. Its `outcome` is `ok`,
   * `exception`, or `killed` by `kill()`; `logs` and `lines` are what was printed meanwhile.
   */
  async tick(scheduledTimeMs) {
    const [logs, lines] = [this.logs.length, this.lines.length];
    const run = this.#run;
    let result;
    try {
      // By HTTP, as Miniflare's own way to call a handler starts a thread with a third of a second of work.
      const query = new URLSearchParams({ time: String(scheduledTimeMs), cron, format: "json" });
      const answer = await run.miniflare.dispatchFetch(`http://worker.test/cdn-cgi/handler/scheduled?${query}`);
      result = await answer.json();
      await this.flush();
    } catch (error) {
      if (!run.killed) throw error;
      result = { outcome: "killed" };
    }
    return { ...result, logs: this.logs.slice(logs), lines: this.lines.slice(lines) };
  }

  /** A request to the HTTP side; a redirect is returned, not followed. */
  async fetch(path, init) {
    const worker = await this.#run.miniflare.getWorker("worker");
    return worker.fetch(new URL(path, "http://worker.test").href, { redirect: "manual", ...init });
  }

  /** Where a browser reaches the HTTP side. */
  async url() {
    return (await this.#run.miniflare.ready).href;
  }

  /** Waits until all that was printed so far is in `logs` and `lines`. */
  async flush() {
    const marker = `harness-echo-${++this.#echoes}`;
    const run = this.#run;
    const arrived = new Promise((resolve) => run.echoes.set(marker, { missing: 2, resolve }));
    await run.miniflare.dispatchFetch("http://echo.test/", { method: "POST", body: marker });
    await arrived;
  }

  clearLogs() {
    this.logs = [];
    this.lines = [];
  }

  /**
   * What the Durable Object has stored: the value under `key`, or an object with all of them. Read from its database
   * file, whether the Worker runs or not. `object` is its name, the App id unless given.
   */
  async state(key, object) {
    const file = this.#database(object);
    if (!existsSync(file)) return key === undefined ? {} : undefined;
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const table = database.prepare("SELECT 1 FROM sqlite_master WHERE name = '_cf_KV'").get();
      const rows = table ? database.prepare("SELECT key, value FROM _cf_KV ORDER BY key").all() : [];
      const values = Object.fromEntries(rows.map((row) => [row.key, v8.deserialize(row.value)]));
      return key === undefined ? values : values[key];
    } finally {
      database.close();
    }
  }

  /**
   * Plants a value under `key`, `undefined` removes it. The Worker is stopped for it and started again, if it runs,
   * as an object keeps in memory what it likes.
   */
  async writeState(key, value, object) {
    const file = this.#database(object);
    const runs = this.#run !== undefined;
    await this.#end();
    mkdirSync(dirname(file), { recursive: true });
    const database = new DatabaseSync(file);
    try {
      database.exec(keyValueTable);
      if (value === undefined) database.prepare("DELETE FROM _cf_KV WHERE key = ?").run(key);
      else database.prepare("INSERT OR REPLACE INTO _cf_KV VALUES (?, ?)").run(key, v8.serialize(value));
    } finally {
      database.close();
    }
    if (runs) await this.restart();
  }

  /** Makes a file of an object's database that no SQLite opens: whatever the object does from now on throws. */
  async breakStorage(object) {
    const file = this.#database(object);
    await this.#end();
    for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true });
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "no database. ".repeat(1000));
    await this.restart();
  }

  /** The DevTools protocol of the isolate the Worker runs in. */
  async inspectorUrl() {
    return new URL("/core:user:worker", await this.#run.miniflare.getInspectorURL()).href;
  }

  /** The process that runs the Worker. */
  get pid() {
    return this.#run.process.pid;
  }

  /** Ends workerd as a crash would, at once and in the middle of whatever it does. `restart()` brings it back. */
  async kill() {
    const run = this.#run;
    run.killed = true;
    const exit = run.process.exitCode === null && run.process.signalCode === null && once(run.process, "exit");
    run.process.kill("SIGKILL");
    await exit;
    await Promise.all(run.printed);
    await this.#end();
  }

  /** Starts anew with the storage as it is, and with `bindings` in place of the old ones if given. */
  async restart({ bindings } = {}) {
    if (bindings) {
      this.settings.push(bindings);
      this.#options.bindings = bindings;
    }
    await this.#end();
    const start = lastStart.then(() => this.#begin());
    lastStart = start.catch(() => {});
    await start;
  }

  /** Ends the Worker; a temporary storage is removed. */
  async stop() {
    await this.#end();
    if (this.#options.temporary) rmSync(this.#directory, { recursive: true, force: true });
  }

  async #begin() {
    const { bindings, buildDir, inspector, v8Flags } = this.#options;
    const run = { echoes: new Map(), printed: [], killed: false, process: undefined, miniflare: undefined };
    const spawned = ({ process: child }) => {
      // Published before the program of the child is known.
      queueMicrotask(() => {
        if (child.spawnfile?.endsWith("workerd")) run.process = child;
      });
    };
    subscribe("child_process", spawned);
    // Miniflare takes them from here only. Starts go one after the other, so no other process gets them.
    const { MINIFLARE_WORKERD_V8_FLAGS: before } = process.env;
    if (v8Flags) process.env.MINIFLARE_WORKERD_V8_FLAGS = v8Flags;
    try {
      run.miniflare = new Miniflare({
        host: "127.0.0.1",
        log: new Log(LogLevel.ERROR),
        durableObjectsPersist: this.#directory,
        unsafeTriggerHandlers: true,
        inspectorPort: inspector ? 0 : undefined,
        handleRuntimeStdio: (...streams) => {
          run.printed = streams.map((stream) => {
            const lines = createInterface({ input: stream });
            lines.on("line", (line) => this.#printed(run, line));
            return finished(stream).catch(() => {});
          });
        },
        workers: [
          {
            name: "worker",
            modulesRoot: buildDir,
            scriptPath: join(buildDir, "index.js"),
            modules: true,
            modulesRules: [{ type: "CompiledWasm", include: ["**/*.wasm"] }],
            compatibilityDate,
            bindings: { ...nowhere, ...bindings },
            durableObjects: { RECOVERY: { className: "Recovery", useSQLite: true } },
          },
          { name: "echo", modules: true, script: echo, compatibilityDate, routes: ["echo.test/*"] },
        ],
      });
      await run.miniflare.ready;
    } catch (error) {
      await run.miniflare?.dispose();
      throw error;
    } finally {
      unsubscribe("child_process", spawned);
      if (v8Flags && before !== undefined) process.env.MINIFLARE_WORKERD_V8_FLAGS = before;
      else if (v8Flags) delete process.env.MINIFLARE_WORKERD_V8_FLAGS;
    }
    this.#run = run;
  }

  async #end() {
    const run = this.#run;
    this.#run = undefined;
    await run?.miniflare.dispose();
  }

  #printed(run, line) {
    const echoed = run.echoes.get(line);
    if (echoed) {
      if (--echoed.missing === 0) echoed.resolve();
      return;
    }
    this.lines.push(line);
    if (line.startsWith("{")) {
      try {
        this.logs.push(JSON.parse(line));
      } catch {
        // Some other text that happens to start like that.
      }
    }
  }

  /** The file of an object's database, whether it is there yet or not. */
  #database(name = this.#options.bindings.GITHUB_APP_ID) {
    return join(this.#directory, objectClass, `${objectId(name)}.sqlite`);
  }
}

/** What `idFromName` gives. Computed, as to ask the runtime for it costs a third of a second at each start. */
function objectId(name) {
  const key = createHash("sha256").update(objectClass).digest();
  const start = createHmac("sha256", key).update(name).digest().subarray(0, 16);
  const end = createHmac("sha256", key).update(start).digest().subarray(0, 16);
  return Buffer.concat([start, end]).toString("hex");
}

// What the Worker is made of, and what builds and tests it: each with an exact version and a reason, from the registries alone.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { root } from "../scripts/setup.mjs";
import { shippedCrates } from "../scripts/shipped.mjs";
import { read } from "./operator/pages.mjs";

const npm = JSON.parse(read("package.json"));

/** A Cargo.toml as cargo understands it. */
function crate(manifest = "Cargo.toml") {
  const args = ["metadata", "--locked", "--no-deps", "--format-version", "1", "--manifest-path", manifest];
  return JSON.parse(execFileSync("cargo", args, { cwd: root, encoding: "utf8" })).packages[0];
}

/** The names in Cargo.toml's tables of dependencies whose line has no comment right above it. */
function withoutReason(toml) {
  const lines = toml.split("\n");
  let table = "";
  return lines.flatMap((line, index) => {
    table = line.match(/^\[(.+)\]$/)?.[1] ?? table;
    const name = table.endsWith("dependencies") && line.match(/^([\w-]+) *=/)?.[1];
    return name && !lines[index - 1].startsWith("# ") ? [name] : [];
  });
}

test("the Worker has one version, wherever it stands", () => {
  const lock = JSON.parse(read("package-lock.json"));
  const [, fuzzed] = read("test/fuzz/Cargo.lock").match(/name = "github-app-redeliver"\nversion = "(.+)"/);
  const all = [crate().version, lock.version, lock.packages[""].version, fuzzed];
  assert.deepEqual(all, Array(all.length).fill(npm.version));
});

test("every crate has an exact version", () => {
  const all = [...crate().dependencies, ...crate("test/fuzz/Cargo.toml").dependencies.filter(({ source }) => source)];
  const loose = all.filter(({ req }) => !/^=\d+\.\d+\.\d+$/.test(req));
  assert.deepEqual(
    loose.map(({ name, req }) => `${name} ${req}`),
    [],
  );
});

test("every crate has its reason in the line above it", () => {
  for (const toml of ["Cargo.toml", "test/fuzz/Cargo.toml"]) assert.deepEqual(withoutReason(read(toml)), [], toml);
  const bare = "[dependencies]\n# Why.\na = '1'\nb = '1'\n[dev-dependencies]\nc = '1'\n[lints]\nd = 1";
  assert.deepEqual(withoutReason(bare), ["b", "c"]);
});

test("every npm package has an exact version and a reason, and no reason is left of one that went", () => {
  const { dependencies = {}, devDependencies, "//dependencies": reasons } = npm;
  assert.deepEqual(dependencies, {}, "nothing of npm is shipped");
  const loose = Object.entries(devDependencies).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
  assert.deepEqual(loose, []);
  assert.deepEqual(Object.keys(reasons).sort(), Object.keys(devDependencies).sort());
  assert.deepEqual(
    Object.entries(reasons).filter(([, reason]) => reason.length < 20),
    [],
  );
});

test("every package of the npm lock comes from the registry and has a digest", () => {
  const { "": _, ...packages } = JSON.parse(read("package-lock.json")).packages;
  const names = Object.keys(packages);
  assert.ok(names.length > Object.keys(npm.devDependencies).length);
  const elsewhere = names.filter((name) => packages[name].resolved || packages[name].link);
  assert.deepEqual(elsewhere, [], "the lock names an address only where it is not the registry's");
  assert.deepEqual(
    names.filter((name) => !/^sha512-/.test(packages[name].integrity)),
    [],
  );
});

test("the programs of a package run at installation only where package.json says so", () => {
  const { packages } = JSON.parse(read("package-lock.json"));
  const scripted = Object.keys(packages).filter((name) => packages[name].hasInstallScript);
  const names = new Set(scripted.map((name) => name.split("node_modules/").at(-1)));
  assert.deepEqual([...names].sort(), Object.keys(npm.allowScripts).sort());
});

test("what signs, makes random numbers or speaks TLS by itself is no part of the Worker", async () => {
  const shipped = await shippedCrates();
  assert.ok(
    shipped.includes(
      `worker@${crate()
        .dependencies.find(({ name }) => name === "worker")
        .req.slice(1)}`,
    ),
  );
  const unwanted =
    /^(rsa|rand|getrandom|num-bigint-dig|ring|rustls|openssl|native-tls|aws-lc-rs|ed25519-dalek|k256|p256)@/;
  assert.deepEqual(
    shipped.filter((crate) => unwanted.test(crate)),
    [],
  );
});

// Reads a WebAssembly module as far as its size is of interest: which section has how many bytes, and which crate how
// many bytes of code. It knows the binary format and how rustc writes names, and nothing of this Worker.
//
// Source: https://webassembly.github.io/spec/core/binary/modules.html, and for the names appendix "Custom Sections".

const sectionNames = [
  "custom",
  "type",
  "import",
  "function",
  "table",
  "memory",
  "global",
  "export",
  "start",
  "element",
  "code",
  "data",
  "data count",
  "tag",
];

/** The sections in their order: `name`, `bytes` with the header, and `body`. A custom one is `custom NAME`. */
export function sections(module) {
  const reader = new Reader(module, 8);
  const found = [];
  while (reader.at < module.length) {
    const start = reader.at;
    const id = reader.byte();
    const body = reader.bytes(reader.number());
    const name = id === 0 ? `custom ${new Reader(body).text()}` : (sectionNames[id] ?? `section ${id}`);
    found.push({ name, bytes: reader.at - start, body });
  }
  return found;
}

/** How many of the functions are imported: they are numbered before the module's own. */
function importedFunctions(module) {
  const body = section(module, "import");
  if (!body) return 0;
  const reader = new Reader(body);
  let functions = 0;
  for (let left = reader.number(); left > 0; left -= 1) {
    reader.text();
    reader.text();
    const kind = reader.byte();
    if (kind === 0) {
      reader.number();
      functions += 1;
    } else if (kind === 1) {
      reader.byte();
      reader.limits();
    } else if (kind === 2) {
      reader.limits();
    } else {
      reader.bytes(2);
    }
  }
  return functions;
}

/** Bytes of code by crate, the largest first. Of a module that still has its names. */
export function codeByCrate(module) {
  const names = functionNames(module);
  const imported = importedFunctions(module);
  const reader = new Reader(section(module, "code"));
  const crates = new Map();
  const count = reader.number();
  for (let index = 0; index < count; index += 1) {
    const bytes = reader.number();
    reader.bytes(bytes);
    const crate = crateOf(names.get(imported + index) ?? "");
    crates.set(crate, (crates.get(crate) ?? 0) + bytes);
  }
  return { count, crates: [...crates].sort(([, one], [, other]) => other - one) };
}

function section(module, wanted) {
  return sections(module).find(({ name }) => name === wanted)?.body;
}

function functionNames(module) {
  const body = section(module, "custom name");
  const names = new Map();
  if (!body) return names;
  const reader = new Reader(body);
  reader.text();
  while (reader.at < body.length) {
    const kind = reader.byte();
    const part = new Reader(reader.bytes(reader.number()));
    if (kind !== 1) continue;
    for (let left = part.number(); left > 0; left -= 1) names.set(part.number(), part.text());
  }
  return names;
}

/**
 * The crate that a function's code comes from. A generic one counts for the crate it was written in, and a trait's
 * method for the crate of the type or else of the trait.
 */
function crateOf(name) {
  // The first path in it, whichever way it is mangled: `_RNv…Cs1a2b_4serde…`, `_ZN4core3fmt…` or, read out, `core::fmt`.
  const v0 = name.startsWith("_R") && name.match(/Cs[0-9A-Za-z]*_(\d+)(.*)/);
  if (v0) return v0[2].slice(v0[2].startsWith("_") ? 1 : 0).slice(0, Number(v0[1]));
  const legacy = name.match(/^_ZN(\d+)(.*)/);
  const path = legacy ? legacy[2].slice(0, Number(legacy[1])).replaceAll("$LT$", "<").replaceAll("..", "::") : name;
  const crate = path.match(/([A-Za-z_][A-Za-z0-9_]*)(?=::)/);
  return crate ? crate[1] : "(no name)";
}

class Reader {
  constructor(bytes, at = 0) {
    this.buffer = bytes;
    this.at = at;
  }

  byte() {
    this.at += 1;
    return this.buffer[this.at - 1];
  }

  bytes(count) {
    this.at += count;
    return this.buffer.subarray(this.at - count, this.at);
  }

  /** An unsigned LEB128. */
  number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  text() {
    return new TextDecoder().decode(this.bytes(this.number()));
  }

  limits() {
    const flags = this.byte();
    this.number();
    if (flags & 1) this.number();
  }
}

// GitHub's own description of its API (`@octokit/openapi`), as a judge of every request and every answer.
//
// The description is 13 MB. Only the operations that the fake serves are compiled, each at its first use and once
// a process, with the schemas they reach; that takes well under a second.
//
// Ids: the description says `integer`, a JSON Schema validator knows only doubles. So a *view* is validated in which
// a BigInt is the nearest number: the judge confirms that it is an integer where one belongs, and the digits are
// exact by construction, since the writer of `../http.mjs` writes the BigInt itself. A test reads the raw text.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import Ajv from "ajv";
import addFormats from "ajv-formats";

const FILE = "@octokit/openapi/generated/api.github.com.json";

/** What GitHub answers, and its description of the operation leaves out. */
const UNDESCRIBED = [
  { status: 401, why: "no credential, or a wrong one", of: /./ },
  {
    status: 404,
    why: "a JWT of no App, no webhook, a delivery that is not kept, an account without the App",
    of: /^GET \/app$|hook\/|^GET \/users\//,
  },
  { status: 403, why: "a suspended installation, a token without the permission", of: /^GET \/repos\/.*\/issues/ },
  { status: 410, why: "issues are turned off", of: /^GET \/repos\/.*\/issues$/ },
];

/** @type {any} */
let description;
/** @type {any} */
let ajv;
/** @type {Map<string, ReturnType<typeof operation>>} */
const compiled = new Map();

/** @param {string} method @param {string} pattern  as in the description, such as `/app/hook/deliveries` */
export function describedOperation(method, pattern) {
  const key = `${method} ${pattern}`;
  if (!compiled.has(key)) compiled.set(key, operation(method, pattern));
  return /** @type {ReturnType<typeof operation>} */ (compiled.get(key));
}

function operation(method, pattern) {
  load();
  const described = description.paths[pattern]?.[method.toLowerCase()];
  if (!described) throw new Error(`GitHub's description has no ${method} ${pattern}`);
  const parameters = (described.parameters ?? []).map(resolve);
  const bodySchema = described.requestBody?.content["application/json"].schema;
  const bodyRequired = described.requestBody?.required ?? false;
  const bodyFields = bodySchema && Object.keys(resolve(bodySchema).properties ?? {});
  const validBody = bodySchema && compile(bodySchema);
  const answers = new Map();
  const isKnown = (status) => UNDESCRIBED.some((one) => one.status === status && one.of.test(`${method} ${pattern}`));

  /** The request with the types of the description, and what is wrong with it. */
  function request({ params, query, body }) {
    const typed = { params: {}, query: {}, body };
    const known = (place) => parameters.filter((parameter) => parameter.in === place);
    for (const [place, given] of /** @type {[string, any][]} */ ([
      ["path", params],
      ["query", query],
    ])) {
      for (const [name, text] of Object.entries(given)) {
        const parameter = known(place).find((one) => one.name === name);
        if (!parameter) return { ...typed, wrong: `unknown ${place} parameter ${name}` };
        const value = typedValue(parameter.schema, text);
        if (value === undefined) return { ...typed, wrong: `${place} parameter ${name} cannot be ${text}` };
        (place === "path" ? typed.params : typed.query)[name] = value;
      }
    }
    const fields = Object.keys(body ?? {});
    const stranger = fields.find((name) => !(bodyFields ?? []).includes(name));
    // GitHub ignores a field it does not know; a client that sends one has a mistake in it.
    if (stranger) return { ...typed, wrong: `unknown body field ${stranger}` };
    if (bodyRequired && body === undefined) return { ...typed, wrong: "the body is missing" };
    if (validBody && body !== undefined && !validBody(body)) return { ...typed, wrong: text(validBody) };
    return { ...typed, wrong: undefined };
  }

  /** What is wrong with an answer. */
  function wrongAnswer(status, body) {
    if (!described.responses[status]) return isKnown(status) ? undefined : "a status that is not described";
    if (!answers.has(status)) {
      const schema = resolve(described.responses[status]).content?.["application/json"]?.schema;
      answers.set(status, schema && compile(schema));
    }
    const valid = answers.get(status);
    return !valid || valid(view(body)) ? undefined : text(valid);
  }

  return { request, wrongAnswer };
}

function load() {
  if (description) return;
  const file = createRequire(import.meta.url).resolve(FILE);
  description = JSON.parse(readFileSync(file, "utf8"));
  // `example` and other words of OpenAPI are no keywords of JSON Schema, hence not strict.
  ajv = new Ajv({ strict: false, allErrors: false, validateFormats: true });
  addFormats(ajv);
}

function resolve(part) {
  return part.$ref ? pointed(part.$ref) : part;
}

function pointed(reference) {
  return reference
    .slice(2)
    .split("/")
    .reduce((part, name) => part[name], description);
}

/** A validator of one schema, with the schemas it reaches beside it. */
function compile(schema) {
  const reached = new Map();
  const root = converted(schema, reached);
  return ajv.compile({ ...root, $defs: Object.fromEntries(reached) });
}

/** OpenAPI 3.0 to JSON Schema: `nullable` becomes a choice, references point into `$defs`. */
function converted(schema, reached) {
  if (Array.isArray(schema)) return schema.map((part) => converted(part, reached));
  if (typeof schema !== "object" || schema === null) return schema;
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    if (!reached.has(name)) {
      reached.set(name, true); // Holds the place: schemas refer to themselves.
      reached.set(name, converted(pointed(schema.$ref), reached));
    }
    return { $ref: `#/$defs/${name}` };
  }
  const { nullable, example, examples, ...rest } = schema;
  const plain = Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, converted(part, reached)]));
  return nullable === true ? { anyOf: [{ type: "null" }, plain] } : plain;
}

function typedValue(schema, text) {
  const { type, enum: allowed, format } = resolve(schema);
  if (type === "integer") {
    if (!/^-?\d+$/.test(text)) return undefined;
    const number = Number(text);
    return Number.isSafeInteger(number) ? number : BigInt(text);
  }
  if (allowed && !allowed.includes(text)) return undefined;
  if (format === "date-time" && Number.isNaN(Date.parse(text))) return undefined;
  return text;
}

function view(value) {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(view);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, view(part)]));
}

function text(valid) {
  return valid.errors.map(({ instancePath, message }) => `${instancePath || "/"} ${message}`).join("; ");
}

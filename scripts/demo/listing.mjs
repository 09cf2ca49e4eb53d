// Reads a listing of deliveries as people have it in a file: one array, several arrays in a row (`gh api --paginate` of
// older versions), an array of arrays (`--slurp`), or items one after the other (`--jq '.[]'`).
//
// Ids have 19 digits, more than a JavaScript number holds, so they are read from the text as BigInt.

/** Something about the input is wrong; the message says what, and what to do. */
export class InputError extends Error {
  name = "InputError";
}

/** Where a listing comes from. */
export const howToGet = `To get one, with a token of the App (a JWT) in $JWT:
  gh api --paginate "/app/hook/deliveries?per_page=100" \\
    -H "Authorization: Bearer $JWT" > deliveries.json`;

const largestId = 2n ** 64n - 1n;

/** The items in the text of a file, each attempt once, as they came but for their ids. */
export function readListing(bytes, file) {
  const values = [...jsonTexts(decode(bytes), file)].map(({ text, line }) => parse(text, line, file));
  if (values.length === 0) throw new InputError(`${file} is empty.\n${howToGet}`);
  const items = values.flat(2);
  items.forEach((item, index) => {
    checkItem(item, index, items.length, file);
  });
  if (items.length === 0) {
    throw new InputError(
      `${file} holds no deliveries: the list is empty, so there is nothing to decide. GitHub keeps them for three days.\nIf there should be some, ask with the token of the App whose webhook it is.`,
    );
  }
  return once(items, file);
}

/** Windows PowerShell writes UTF-16 when a program's output is redirected. */
function decode(bytes) {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes);
}

/** The JSON values of a text, one after the other, with the line on which each begins. */
function* jsonTexts(text, file) {
  const token = /"(?:[^"\\]|\\.)*"|[[\]{}]|\n|[^\s[\]{}"]+|"/gs;
  let depth = 0;
  let line = 1;
  let start;
  for (const { 0: found, index } of text.matchAll(token)) {
    if (found === "\n") line += 1;
    else if (found === "[" || found === "{") {
      if (depth === 0) start = { index, line };
      depth += 1;
    } else if (depth === 0) {
      throw notJson(file, line, text.slice(index).split("\n")[0]);
    } else if (found === "]" || found === "}") {
      depth -= 1;
      if (depth === 0) yield { text: text.slice(start.index, index + 1), line: start.line };
    }
  }
  if (depth > 0)
    throw new InputError(`${file} ends in the middle of its JSON: it is not complete. Fetch it again.\n${howToGet}`);
}

function notJson(file, line, what) {
  const shown = what.trim().slice(0, 40);
  const hint = /^HTTP\//.test(shown) ? "\nThat is the head of an answer: leave out -i (--include)." : "";
  return new InputError(`${file} is not JSON: line ${line} has ${JSON.stringify(shown)}.${hint}\n${howToGet}`);
}

function parse(text, line, file) {
  try {
    return JSON.parse(text, (key, value, { source }) =>
      key === "id" && /^\d+$/.test(source ?? "") ? BigInt(source) : value,
    );
  } catch (error) {
    throw new InputError(`${file} is not JSON: in what begins on line ${line}, ${error.message}\n${howToGet}`);
  }
}

const isText = (value) => typeof value === "string" && value !== "";
// RFC 3339, as GitHub writes times.
const isTime = (value) =>
  isText(value) &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value) &&
  // GitHub has had webhooks since 2008, and a time far ahead is a slip that no window would reach.
  Date.parse(value) > Date.UTC(2008) &&
  Date.parse(value) < Date.UTC(2100);

const fields = {
  id: [(value) => typeof value === "bigint" && value <= largestId, "a whole number with all its digits"],
  guid: [isText, "a text"],
  delivered_at: [isTime, "a time such as 2026-11-02T09:15:00Z"],
  redelivery: [(value) => typeof value === "boolean", "true or false"],
  status_code: [Number.isInteger, "a whole number"],
  event: [isText, "a text"],
};

function checkItem(item, index, total, file) {
  const place = total > 1 ? `item ${index + 1} of ${total}` : "the only item";
  if (typeof item !== "object" || item === null || Array.isArray(item)) {
    throw new InputError(`${file}: ${place} is ${shown(item)}, not a delivery.\n${howToGet}`);
  }
  if (isText(item.message) && item.guid === undefined) {
    throw new InputError(
      `${file} holds an error of GitHub, not a listing: ${JSON.stringify(item.message)}.\n${howToGet}`,
    );
  }
  // Some tools keep all digits of an id by writing it as text.
  if (typeof item.id === "string" && /^\d+$/.test(item.id)) item.id = BigInt(item.id);
  for (const [name, [isRight, expected]] of Object.entries(fields)) {
    if (isRight(item[name])) continue;
    const what =
      item[name] === undefined ? `has no "${name}"` : `has ${shown(item[name])} as "${name}", not ${expected}`;
    throw new InputError(
      `${file}: ${place} ${what}.\nA sweep judges by ${Object.keys(fields).join(", ")}: give it the items as GitHub lists them.\n${howToGet}`,
    );
  }
}

const shown = (value) => (typeof value === "bigint" ? String(value) : JSON.stringify(value).slice(0, 40));

/** Each attempt once: pages overlap when something is delivered while they are fetched. */
function once(items, file) {
  const byId = new Map();
  for (const item of items) {
    const same = byId.get(item.id);
    if (same && same.guid !== item.guid) {
      throw new InputError(
        `${file}: two deliveries have the id ${item.id}, so something has rounded the ids, as jq does before version 1.7.\n` +
          `Use the output of gh api as it is.\n${howToGet}`,
      );
    }
    byId.set(item.id, item);
  }
  return [...byId.values()];
}

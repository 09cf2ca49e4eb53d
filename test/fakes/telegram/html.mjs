// Telegram's HTML mode, as strict as its documentation: text out, entities out, or the reason why not.
//
// Stricter than the real server in one thing: that one lets a lone `&` and an unknown entity pass as text, although
// its documentation forbids both. A client that relies on it forgot to escape.

/** Tag → entity. @type {Record<string, string>} */
const TAGS = {
  b: "bold",
  strong: "bold",
  i: "italic",
  em: "italic",
  u: "underline",
  ins: "underline",
  s: "strikethrough",
  strike: "strikethrough",
  del: "strikethrough",
  code: "code",
  pre: "pre",
  a: "text_link",
  "tg-spoiler": "spoiler",
  span: "spoiler",
  blockquote: "blockquote",
  "tg-emoji": "custom_emoji",
};

/** Which attributes a tag may have. @type {Record<string, string[]>} */
const ATTRIBUTES = {
  a: ["href"],
  span: ["class"],
  "tg-emoji": ["emoji-id"],
  blockquote: ["expandable"],
  code: ["class"],
};

/** @type {Record<string, string>} */
const NAMED = { lt: "<", gt: ">", amp: "&", quot: '"' };

/** @typedef {{type: string, offset: number, length: number, url?: string}} Entity */

/**
 * Offsets and lengths count UTF-16 units, as Telegram does and JavaScript strings do.
 * @param {string} html
 * @returns {{text: string, entities: Entity[]} | {error: string}}
 */
export function parseHtml(html) {
  let text = "";
  /** @type {(Entity & {tag: string})[]} */
  const open = [];
  /** @type {Entity[]} */
  const entities = [];
  const at = (/** @type {number} */ index) => `at byte offset ${Buffer.byteLength(html.slice(0, index))}`;

  for (let index = 0; index < html.length; ) {
    const letter = html[index];
    if (letter === ">") return { error: `Unexpected ">" ${at(index)}` };
    if (letter === "&") {
      const entity = /^&(#\d{1,7}|#[xX][\da-fA-F]{1,6}|\w+);/.exec(html.slice(index, index + 20));
      const meaning = entity && decoded(entity[1]);
      if (!entity || meaning === undefined) return { error: `Unescaped "&" or unknown entity ${at(index)}` };
      text += meaning;
      index += entity[0].length;
    } else if (letter === "<") {
      const tag = /^<(\/?)([a-zA-Z-]*)((?:\s+[^<>]*)?)>/.exec(html.slice(index));
      if (!tag) return { error: `Unclosed start tag ${at(index)}` };
      const [all, slash, written, rest] = tag;
      const name = written.toLowerCase();
      if (!(name in TAGS)) return { error: `Unsupported start tag "${name}" ${at(index)}` };
      if (slash) {
        const last = open.pop();
        if (!last) return { error: `Unexpected end tag ${at(index)}` };
        if (last.tag !== name) {
          return { error: `Unmatched end tag ${at(index)}, expected "</${last.tag}>", found "</${name}>"` };
        }
        close(last);
      } else {
        const attributes = attributesOf(name, rest);
        if (attributes.error) return { error: `${attributes.error} ${at(index)}` };
        const entity = { tag: name, type: TAGS[name], offset: text.length, length: 0 };
        open.push(name === "a" ? { ...entity, url: attributes.values.href } : entity);
      }
      index += all.length;
    } else {
      text += letter;
      index += 1;
    }
  }
  if (open.length) return { error: `Can't find end tag corresponding to start tag "${open[open.length - 1].tag}"` };
  return { text, entities: entities.sort((a, b) => a.offset - b.offset || b.length - a.length) };

  /** @param {Entity & {tag: string}} opened */
  function close({ tag, ...entity }) {
    const length = text.length - entity.offset;
    // An empty entity, and a link to nowhere, are dropped without a word.
    if (length === 0 || (tag === "a" && !isLink(entity.url))) return;
    entities.push({ ...entity, length });
  }
}

/** @param {string} name @param {string} rest */
function attributesOf(name, rest) {
  /** @type {Record<string, string>} */
  const values = {};
  let left = rest.trim();
  while (left) {
    const attribute = /^([a-zA-Z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=]+)))?\s*/.exec(left);
    if (!attribute) return { values, error: `Bad attribute of tag "${name}"` };
    const key = attribute[1].toLowerCase();
    if (!ATTRIBUTES[name]?.includes(key)) return { values, error: `Unsupported attribute "${key}" of tag "${name}"` };
    const raw = attribute[2] ?? attribute[3] ?? attribute[4] ?? "";
    let bad = false;
    values[key] = raw.replace(/&(#\d{1,7}|#[xX][\da-fA-F]{1,6}|\w+);|&/g, (_all, entity) => {
      const meaning = entity && decoded(entity);
      bad ||= meaning === undefined;
      return meaning ?? "";
    });
    if (bad) return { values, error: `Unescaped "&" in attribute "${key}"` };
    left = left.slice(attribute[0].length);
  }
  if (name === "span" && values.class !== "tg-spoiler")
    return { values, error: 'Tag "span" must have class "tg-spoiler"' };
  if (name === "a" && values.href === undefined) return { values, error: 'Tag "a" must have attribute "href"' };
  return { values };
}

/** @param {string} entity  without `&` and `;` */
function decoded(entity) {
  if (!entity.startsWith("#")) return NAMED[entity];
  const point = /^#x/i.test(entity) ? parseInt(entity.slice(2), 16) : parseInt(entity.slice(1), 10);
  return point > 0 && point < 0x110000 && !(point >= 0xd800 && point < 0xe000)
    ? String.fromCodePoint(point)
    : undefined;
}

/** What Telegram takes for the address of a link or a button. @param {string | undefined} url */
export function isLink(url) {
  return url !== undefined && /^(https?:\/\/[^\s/]+\.[^\s]+|tg:\/\/\S+)$/i.test(url);
}

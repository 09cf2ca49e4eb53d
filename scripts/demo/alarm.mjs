// The alarm as a person sees it: Telegram's message with its button, and the issue of the control repository.

import { markdown } from "./markdown.mjs";
import { box, columns, paint, print, wrap } from "./terminal.mjs";

const styles = { bold: "bold", code: "cyan", text_link: "underline" };
const indent = 7;
const outer = columns - indent;

/** Looks at both channels; `changes()` says what is different since it was last asked. */
export class Watcher {
  #seen = { messages: new Map(), sounds: 0, issues: new Map() };

  /** @param {{ telegram: any, github: any, chat: number, repository: string }} world */
  constructor(world) {
    this.world = world;
  }

  changes() {
    const { telegram, github, chat, repository } = this.world;
    const seen = this.#seen;
    const sounded = telegram.chat(chat).sounds > seen.sounds;
    const messages = telegram.messages(chat).map((message) => ({ message: structuredClone(message) }));
    const issues = github.issues(repository).map(({ repository: _, ...issue }) => ({ issue: structuredClone(issue) }));
    const changes = [
      ...changed(messages, seen.messages, ({ message }) => [message.message_id, [message.html, message.reply_markup]]),
      ...changed(issues, seen.issues, ({ issue }) => [issue.number, [issue.title, issue.body, issue.state]]),
    ];
    seen.sounds = telegram.chat(chat).sounds;
    return changes.map((change) => ({ ...change, sounded: change.message && change.isNew && sounded }));
  }
}

function changed(things, seen, describe) {
  return things.flatMap((thing) => {
    const [key, value] = describe(thing);
    const [text, before] = [JSON.stringify(value), seen.get(key)];
    seen.set(key, text);
    return text === before ? [] : [{ ...thing, isNew: before === undefined }];
  });
}

/** Prints what changed, at a time such as `13:30`. */
export function showChange(change, { chatTitle, repository }) {
  print();
  print(change.message ? telegramBox(change, chatTitle) : issueBox(change, repository), indent);
  const link = change.message?.reply_markup?.inline_keyboard.flat()[0]?.url;
  if (link)
    print(
      ["The button opens", link].map((text) => paint("dim", text)),
      indent,
    );
}

function telegramBox({ message, isNew, sounded }, chatTitle) {
  const buttons = message.reply_markup?.inline_keyboard.flat() ?? [];
  const how = isNew ? (sounded ? "new message, with a sound" : "new message, silent") : "edited, without a sound";
  const foot = buttons.map(({ text }) => {
    const label = `[ ${text} ↗ ]`;
    return " ".repeat(Math.max(0, Math.floor((outer - 4 - label.length) / 2))) + paint("cyan", label);
  });
  const lines = wrap(entitySpans(message), outer - 4);
  const state = paint(sounded ? "yellow" : "dim", how);
  return box(lines, {
    head: `Telegram: ${chatTitle}`,
    state,
    foot: foot.length > 0 ? foot : undefined,
    columns: outer,
  });
}

function issueBox({ issue, isNew }, repository) {
  const open = issue.state === "open";
  const state = paint(open ? "green" : "dim", isNew ? "opened" : open ? "edited" : "closed");
  const title = wrap([{ text: `${issue.title} #${issue.number}`, style: "bold" }], outer - 4);
  const author = paint("dim", `${open ? "Open" : "Closed"} · ${issue.author.login}`);
  const body = markdown(issue.body ?? "", outer - 4);
  return box([...title, author, "", ...body], { head: `GitHub: ${repository}`, state, columns: outer });
}

/** A message's text cut where its markup changes. Telegram counts in UTF-16 units, as JavaScript does. */
function entitySpans({ text, entities }) {
  const spans = [];
  let end = 0;
  for (const { type, offset, length } of entities.toSorted((a, b) => a.offset - b.offset)) {
    if (offset < end) continue;
    spans.push({ text: text.slice(end, offset) }, { text: text.slice(offset, offset + length), style: styles[type] });
    end = offset + length;
  }
  return [...spans, { text: text.slice(end) }];
}

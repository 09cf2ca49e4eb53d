// The Telegram side of the pictures: a message in a chat with a bot, on a phone, in dark mode.

import { escaped, shownTime } from "./html.mjs";

/** How an entity looks. What is not here is shown as plain text. A link leads nowhere: it is only looked at. */
const ELEMENTS = {
  bold: ["<b>", "</b>"],
  code: ["<code>", "</code>"],
  text_link: ['<span class="link">', "</span>"],
};

/** The chat, with a `message` of the fake Telegram, from the `bot` of its getMe. */
export function chatHtml({ message, bot }) {
  const clock = clockOf(message);
  const day = shownTime(message.date, { month: "long", day: "numeric" });
  return `<section class="phone">
  <header>
    <div class="status"><span>${clock}</span><i class="battery"></i></div>
    <div class="who">
      <svg class="back" viewBox="0 0 12 20"><path d="M10 2 2 10l8 8"/></svg>
      <div class="face">${escaped([...bot.first_name][0] ?? "")}</div>
      <div><div class="name">${escaped(bot.first_name)}</div><div class="kind">bot</div></div>
    </div>
  </header>
  <div class="chat">
    <div class="day">${day}</div>
    ${messageHtml(message)}
  </div>
</section>`;
}

/** The `message` alone, with its buttons. */
export function messageHtml(message) {
  const rows = message.reply_markup?.inline_keyboard ?? [];
  return `<div class="bubble">
      <svg class="tail" viewBox="0 0 10 18"><path d="M10 0v18H0c6-2 10-8 10-18z"/></svg>
      <div class="text">${entitiesHtml(message.text, message.entities)}</div>
      <div class="clock">${message.edits > 0 ? "edited " : ""}${clockOf(message)}</div>
    </div>
    ${rows.map((row) => `<div class="row">${row.map(button).join("")}</div>`).join("")}`;
}

const clockOf = ({ date }) => shownTime(date, { hour: "2-digit", minute: "2-digit" });

function button({ text }) {
  const arrow = '<svg viewBox="0 0 10 10"><path d="M2 8l6-6M3 2h5v5"/></svg>';
  return `<div class="button">${escaped(text)}${arrow}</div>`;
}

/** Text with Telegram's entities, as a client of it draws them: never by way of the HTML that was sent. */
function entitiesHtml(text, entities) {
  const known = entities.filter(({ type }) => Object.hasOwn(ELEMENTS, type));
  // Sorted as Telegram gives them: the outer one before what is inside of it.
  function part(from, to, within) {
    let html = "";
    let at = from;
    for (const entity of within) {
      if (entity.offset < at) continue;
      const end = entity.offset + entity.length;
      const inner = within.filter((other) => other !== entity && other.offset >= entity.offset && other.offset < end);
      const [open, close] = ELEMENTS[entity.type];
      html += escaped(text.slice(at, entity.offset)) + open + part(entity.offset, end, inner) + close;
      at = end;
    }
    return html + escaped(text.slice(at, to));
  }
  return part(0, text.length, known);
}

export const chatCss = `
.phone { display: flex; flex-direction: column; overflow: hidden; border: 1px solid #2b3743; border-radius: 34px;
  background: #0e1621; color: #f4f6f8; font-size: 16px; line-height: 1.34; }
.phone header { background: #17212b; }
.status { display: flex; justify-content: space-between; align-items: center; padding: 13px 26px 0; font-size: 15px;
  font-weight: 600; }
.battery { position: relative; width: 25px; height: 12px; border: 1.5px solid #8d99a5; border-radius: 4px; }
.battery::before { content: ""; position: absolute; inset: 1.5px 6px 1.5px 1.5px; border-radius: 1.5px; background: #f4f6f8; }
.battery::after { content: ""; position: absolute; right: -4px; top: 2.5px; width: 2px; height: 4px; border-radius: 1px;
  background: #8d99a5; }
.who { display: flex; align-items: center; gap: 12px; padding: 10px 18px 12px; }
.back { width: 11px; fill: none; stroke: #6ab3f3; stroke-width: 2.4; stroke-linecap: round; stroke-linejoin: round; }
.face { display: grid; place-items: center; width: 42px; height: 42px; border-radius: 50%; background: #3d8fd9;
  font-size: 19px; font-weight: 600; }
.name { font-size: 17px; font-weight: 600; line-height: 1.25; }
.kind { color: #8393a3; font-size: 14px; line-height: 1.3; }
.chat { flex: 1; padding: 14px 12px 20px; }
.day { width: fit-content; margin: 0 auto 12px; padding: 3px 12px; border-radius: 14px; background: #1d2b39;
  font-size: 14px; font-weight: 500; }
.bubble { position: relative; margin: 0 8px; padding: 10px 14px 8px; border-radius: 17px 17px 17px 0; background: #1b2a3a; }
.tail { position: absolute; left: -9px; bottom: 0; width: 10px; height: 18px; fill: #1b2a3a; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
.text code { font: 13.3px/1.34 var(--mono); color: #9fc9ee; }
.text .link { color: #6ab3f3; }
.clock { margin-top: 2px; text-align: right; color: #7f91a4; font-size: 13px; line-height: 1.3; }
.row { display: flex; gap: 6px; margin: 6px 8px 0; }
.button { position: relative; flex: 1; padding: 11px 26px; border-radius: 12px; background: #2a3b4d; text-align: center;
  font-weight: 500; line-height: 1.3; }
.button svg { position: absolute; right: 8px; top: 8px; width: 9px; fill: none; stroke: #b7c4d1; stroke-width: 1.5;
  stroke-linecap: round; stroke-linejoin: round; }
`;

// What both sides of the picture need to write HTML.

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text as HTML, for content and for attributes in quotes. */
export const escaped = (text) => String(text).replace(/[&<>"']/g, (letter) => ENTITIES[letter]);

/** A time in English and in UTC, whatever machine draws the picture. */
export const shownTime = (ms, format) =>
  new Intl.DateTimeFormat("en-US", { timeZone: "UTC", hourCycle: "h23", ...format }).format(ms);

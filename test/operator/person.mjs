// A person at a terminal that is none: streams which @clack/prompts takes for one, and answers that wait for their
// question.

import { PassThrough, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { screenOf } from "./screen.mjs";

export const KEY = { enter: "\r", down: "\x1b[B", cancel: "\x03", clear: "\x15" };

/** Chooses the option at an index of a list. @param {number} index */
export const choose = (index) => KEY.down.repeat(index) + KEY.enter;

/** Types a text in the place of what is suggested. @param {string} text */
export const type = (text) => KEY.clear + text + KEY.enter;

class Keyboard extends PassThrough {
  isTTY = true;
  setRawMode() {
    return this;
  }
}

/**
 * Each answer is given once what it answers is on the screen; text from before an earlier answer does not count.
 * @param {[RegExp, string | (() => string)][]} answers  a question and what is pressed, in order
 */
export function person(answers) {
  const input = new Keyboard();
  const left = [...answers];
  let raw = "";
  let screen = "";
  let fresh = "";
  const output = new Writable({
    write(chunk, _encoding, done) {
      raw += chunk;
      const text = stripVTControlCharacters(String(chunk));
      screen += text;
      fresh += text;
      const [question, answer] = left[0] ?? [];
      if (question?.test(fresh.replace(/\s*\n[│\s]*/g, " "))) {
        left.shift();
        fresh = "";
        // After the prompt has finished drawing, so that it is listening.
        setImmediate(() => input.write(typeof answer === "function" ? answer() : answer));
      }
      done();
    },
  });
  return {
    streams: { input, output: Object.assign(output, { isTTY: true, columns: 80, rows: 40 }) },
    /** Everything that was ever on the screen, without colours. */
    get screen() {
      return screen;
    },
    /** What stays there in the end. */
    get rest() {
      return screenOf(raw);
    },
    /** Questions that never came. */
    get unasked() {
      return left.map(([question]) => question);
    },
  };
}

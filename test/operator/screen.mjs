// What a person sees in the end: the text of a terminal after cursor moves and deletions. Colours are left out.

const ESC = String.fromCharCode(27);
const PART = new RegExp(`${ESC}\\[(\\?)?([\\d;]*)([A-Za-z])|[\\s\\S]`, "gu");

/** @param {string} raw  what a program wrote to its terminal @returns {string} */
export function screenOf(raw) {
  /** @type {string[][]} */
  const rows = [[]];
  let [row, column] = [0, 0];
  const moves = {
    A: (by) => (row = Math.max(0, row - by)),
    B: (by) => (row += by),
    C: (by) => (column += by),
    D: (by) => (column = Math.max(0, column - by)),
    G: (by) => (column = by - 1),
    J: () => {
      rows.length = row + 1;
      rows[row].length = Math.min(rows[row].length, column);
    },
    K: (_by, kind) => (rows[row].length = kind === "2" ? 0 : Math.min(rows[row].length, column)),
    m: () => {},
    h: () => {},
    l: () => {},
  };
  for (const [text, , number, move] of raw.matchAll(PART)) {
    if (move) {
      if (!moves[move]) throw new Error(`a terminal sequence that is not known: ${JSON.stringify(text)}`);
      moves[move](Number(number || 1), number);
    } else if (text === "\n") [row, column] = [row + 1, 0];
    else if (text === "\r") column = 0;
    else {
      rows[row][column] = text;
      column += 1;
    }
    while (rows.length <= row) rows.push([]);
  }
  return rows
    .map((letters) =>
      Array.from(letters, (letter) => letter ?? " ")
        .join("")
        .trimEnd(),
    )
    .join("\n");
}

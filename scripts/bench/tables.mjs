// Tables as Markdown, so that what was printed can be kept.

/** The middle one. */
export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** The median, and the quarters around it: one process that was disturbed moves neither. */
export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)].toFixed(1);
  return `${at(0.5)} (${at(0.25)}–${at(0.75)})`;
}

/** Prints rows of cells, the first of them the head. */
export function table(title, rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  const line = (row) => `| ${row.map((cell, column) => String(cell).padEnd(widths[column])).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  console.log(`\n${title}\n\n${line(rows[0])}\n${rule}\n${rows.slice(1).map(line).join("\n")}`);
}

// The shown values of a plot as CSV. This module is independent of the page.
import { type Group, within } from "./series";

/** A character that begins a formula, in any width, at the start of a cell: also after separators
    of other files, white space and quotes. */
const formula = /(^|[,;\t\r\n])([\s"\u200b\ufeff]*)(?=[=+\-@＝＋－＠﹦﹢﹣﹫])/g;

/** A cell, quoted if necessary. An apostrophe precedes characters that a spreadsheet would read as
    a formula. */
export function cell(text: string): string {
  const plain = text.replace(formula, "$1$2'");
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

const value = (v: number | undefined) => (v === undefined || Number.isNaN(v) ? "" : String(v));

/** The rows of a range of x. Each group has its own columns, because their x values differ. */
export function csvOf(groups: Group[], range: [number, number], xLabel: string, time: boolean): string {
  const parts = groups.map(({ series, curves }) => {
    const [from, to] = within(series, range);
    const columns = curves.flatMap((c) => [series.ys[c.y]!, ...(c.error === undefined ? [] : [series.ys[c.error]!])]);
    const names = curves.flatMap((c) => [c.name, ...(c.error === undefined ? [] : [`${c.name} error`])]);
    return { series, from, to, columns, names };
  });
  const x = (v: number) => (time ? new Date(v * 1000).toISOString() : value(v));
  const lines = [parts.flatMap((p) => [xLabel, ...p.names]).map(cell).join(",")];
  const longest = Math.max(0, ...parts.map((p) => p.to - p.from));
  for (let i = 0; i < longest; i++) {
    const cells = parts.flatMap(({ series, from, to, columns }) => (from + i < to ? [x(series.x[from + i]!), ...columns.map((c) => value(c[from + i]))] : ["", ...columns.map(() => "")]));
    lines.push(cells.join(","));
  }
  return `${lines.join("\n")}\n`;
}

// Tables in text formats: dialects and rows. This module is independent of the page.

const separators = ["\t", ";", "|", ","] as const;

/** A space stands for any number of spaces and tabs between cells, which then have no quotes. */
export type Separator = (typeof separators)[number] | " ";

export interface Dialect {
  separator: Separator;
  /** Lines before the table: comments or the header of a device. */
  notes: number;
  /** Whether the first row contains the names of the columns. */
  header: boolean;
  /** The names of the columns; without names in the file, their numbers. */
  names: string[];
  decimal: "." | ",";
}

/** A row without an end is cut after this many characters. */
const longestRow = 1 << 20;

/** A quote that is not closed within this many characters is an ordinary character. */
const longestQuote = 1 << 15;

const quote = 34;
const lf = 10;
const cr = 13;
const separatorCodes = new Set(separators.map((s) => s.charCodeAt(0)));
const afterQuote = new Set([...separatorCodes, lf, cr, 32]);

/** The rows of a text that is added in chunks, without empty lines. Rows are split into cells on
    demand. */
export class Rows {
  private blocks: { text: string; base: number; first: number; starts: Uint32Array; ends: Uint32Array }[] = [];
  /** Characters before the rest. */
  private passed = 0;
  private rest = "";
  count = 0;

  append(chunk: string, last: boolean) {
    const text = this.rest + chunk;
    const starts: number[] = [];
    const ends: number[] = [];
    let start = 0;
    const end = (at: number, next: number) => {
      if (at > start) {
        starts.push(start);
        ends.push(at);
      }
      start = next;
    };
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c === lf) end(i, i + 1);
      else if (c === cr) {
        if (i + 1 === text.length && !last) break; // the line feed can begin the next chunk
        const next = text.charCodeAt(i + 1) === lf ? i + 2 : i + 1;
        end(i, next);
        i = next - 1;
      } else if (c === quote && (i === start || separatorCodes.has(text.charCodeAt(i - 1)))) {
        const close = closing(text, i);
        if (close >= text.length - 1 && !last && close - i < longestQuote) break; // the next chunk decides
        if (close < text.length) i = close;
      }
    }
    if (last || text.length - start > longestRow) end(text.length, text.length);
    this.rest = text.slice(start);
    const base = this.passed;
    this.passed += start;
    if (!starts.length) return;
    this.blocks.push({ text, base, first: this.count, starts: Uint32Array.from(starts), ends: Uint32Array.from(ends) });
    this.count += starts.length;
  }

  /** Drops all rows to free memory. The next rows are counted from 0. */
  drop() {
    this.blocks = [];
    this.count = 0;
  }

  /** The number of characters before a row, in all added text. */
  position(row: number): number {
    const block = this.block(row);
    return block.base + block.starts[row - block.first]!;
  }

  private block(row: number) {
    let low = 0;
    let high = this.blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.blocks[middle]!.first <= row) low = middle;
      else high = middle - 1;
    }
    return this.blocks[low]!;
  }

  /** The block that contains a row, and the start and end of the row in it. */
  private locate(row: number): [text: string, start: number, end: number] {
    const block = this.block(row);
    return [block.text, block.starts[row - block.first]!, block.ends[row - block.first]!];
  }

  line(row: number): string {
    const [text, start, end] = this.locate(row);
    return text.slice(start, end);
  }

  cells(row: number, separator: Separator): string[] {
    return split(this.line(row), separator);
  }

  /** One cell, without splitting the rest of the row. */
  cell(row: number, column: number, separator: Separator): string {
    if (separator === " ") return this.cells(row, separator)[column] ?? "";
    const [text, start, end] = this.locate(row);
    const by = separator.charCodeAt(0);
    let at = start;
    for (let n = 0; at <= end; n++) {
      const stop = cellEnd(text, at, end, by);
      if (n === column) return unquoted(text.slice(at, stop));
      at = stop + 1;
    }
    return "";
  }
}

/** The index of the quote that closes the one at `open`, at the end of a cell; the length of the
    text if none is near. */
function closing(text: string, open: number): number {
  const bound = Math.min(text.length, open + longestQuote);
  for (let i = open + 1; i < bound; i++) {
    if (text.charCodeAt(i) !== quote) continue;
    const next = text.charCodeAt(i + 1);
    if (next === quote) i++;
    else return Number.isNaN(next) || afterQuote.has(next) ? i : text.length;
  }
  return text.length;
}

function cellEnd(text: string, at: number, end: number, by: number): number {
  if (text.charCodeAt(at) === quote) {
    const close = closing(text, at);
    if (close < end) at = close;
  }
  while (at < end && text.charCodeAt(at) !== by) at++;
  return at;
}

function unquoted(cell: string): string {
  const trimmed = cell.trim();
  if (trimmed.length < 2 || trimmed[0] !== '"' || !trimmed.endsWith('"')) return trimmed;
  return trimmed.slice(1, -1).replaceAll('""', '"');
}

export function split(line: string, separator: Separator): string[] {
  if (separator === " ") return line.trim().split(/[ \t]+/);
  const by = separator.charCodeAt(0);
  const cells: string[] = [];
  for (let at = 0; at <= line.length; ) {
    const stop = cellEnd(line, at, line.length, by);
    cells.push(unquoted(line.slice(at, stop)));
    at = stop + 1;
  }
  return cells;
}

const number = { ".": /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i, ",": /^[+-]?(\d+,?\d*|,\d+)(e[+-]?\d+)?$/i };

/** The number in a cell, or NaN. */
export function toNumber(cell: string, decimal: "." | ","): number {
  if (!number[decimal].test(cell)) return NaN;
  return Number(decimal === "," ? cell.replace(",", ".") : cell);
}

const iso = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:[.,]\d+)?))?)?\s*(Z|[+-]\d\d:?\d\d)?$/;
const dotted = /^(\d\d?)\.(\d\d?)\.(\d{4})(?:,? (\d\d?):(\d\d)(?::(\d\d(?:[.,]\d+)?))?)?$/;

/** The time in a cell, in seconds since 1970, or NaN. Times without a zone are in UTC. */
export function toTime(cell: string): number {
  const [, y, m, d, h = "0", min = "0", s = "0", zone = "Z"] = iso.exec(cell) ?? [];
  if (y) return seconds(y, m!, d!, [h, min, s]) - offset(zone);
  const [, day, month, year, hour = "0", minute = "0", second = "0"] = dotted.exec(cell) ?? [];
  return year ? seconds(year, month!, day!, [hour, minute, second]) : NaN;
}

const seconds = (y: string, m: string, d: string, [h, min, s]: [string, string, string]) =>
  Date.UTC(+y, +m - 1, +d, +h, +min) / 1000 + Number(s.replace(",", "."));

function offset(zone: string): number {
  if (zone === "Z") return 0;
  const digits = zone.replace(":", "");
  return (digits[0] === "-" ? -1 : 1) * (Number(digits.slice(1, 3)) * 3600 + Number(digits.slice(3)) * 60);
}

/** The number of rows that determine the dialect. */
const sample = 200;

/** Detects the dialect from the first rows. Given values are not detected. */
export function detect(rows: Rows, given: { separator?: Separator | undefined; header?: boolean | undefined } = {}): Dialect {
  const all = Array.from({ length: Math.min(sample, rows.count) }, (_, i) => rows.line(i));
  const stated = separatorLine.exec(all[0] ?? "")?.[1] as Separator | undefined;
  if (stated && !given.separator) return detectBelow(all.slice(1), { ...given, separator: stated }, 1);
  return detectBelow(all, given, 0);
}

/** A first line that names the separator, which spreadsheets read and hide. */
const separatorLine = /^\ufeff?"?sep=([,;|\t])"?[,;|\t]*$/i;

/** `skipped` lines are above `lines`. */
function detectBelow(lines: string[], given: { separator?: Separator | undefined; header?: boolean | undefined }, skipped: number): Dialect {
  const before = (comment: RegExp) => Math.max(0, lines.findIndex((line) => !comment.test(line)));
  const guessing = !given.separator;
  const prose = guessing ? linesOfProse(lines) : 0;
  const described = guessing && prose > 0 && prose <= lines.length - leastTail;
  const spaced = given.separator === " " || (guessing && (isSpaced(lines.slice(before(spacedComment))) || described));
  const comments = Math.max(before(spaced ? spacedComment : /^#/), described ? prose : 0);
  const body = lines.slice(comments);
  const separator = given.separator ?? (spaced ? " " : guessSeparator(body));
  const notes = lines.slice(0, comments);
  const table = body.map((line) => split(line, separator));
  const width = mostFrequent(table.map((r) => r.length));
  const start = Math.max(0, table.findIndex((r) => r.length === width));
  const first = table[start] ?? [];
  const decimal = guessDecimal(table.slice(start + 1));
  const isValue = (cell: string) => !Number.isNaN(toNumber(cell, decimal)) || !Number.isNaN(toTime(cell));
  const header = given.header ?? (!first.some(isValue) && first.some((cell) => cell !== ""));
  let names: string[] = header ? first : [];
  if (!header && comments) {
    // numpy.savetxt writes the names into the last comment.
    const commented = split(lines[comments - 1]!.replace(/^\s*([#%!]+|\w+:)/, ""), separator);
    names = commented.length === width ? commented : namesOfGrace(notes);
  }
  const columns = Math.max(width, names.length);
  return { separator, notes: skipped + comments + start, header, decimal, names: Array.from({ length: columns }, (_, i) => names[i] || `column ${i + 1}`) };
}

/** Column names in the notes of Grace (.xvg): the label of the axis, and the legends of the series.
 */
function namesOfGrace(notes: string[]): string[] {
  const names: string[] = [];
  for (const note of notes) {
    const [, axis, series, text] = /^@\s*(?:(xaxis)\s+label|s(\d{1,3})\s+legend)\s+"(.*)"/.exec(note) ?? [];
    if (text !== undefined) names[axis ? 0 : Number(series) + 1] = text;
  }
  return Array.from(names, (name) => name ?? "");
}

/** The separator that splits most lines into the same number of cells. The comma comes last,
    because it can be a decimal comma. */
function guessSeparator(lines: string[]): Separator {
  let best: { separator: Separator; share: number } = { separator: ",", share: 0 };
  for (const separator of separators) {
    const widths = lines.map((line) => split(line, separator).length);
    const width = mostFrequent(widths);
    const share = width > 1 ? widths.filter((w) => w === width).length / widths.length : 0;
    if (share >= 0.9) return separator;
    if (share > best.share) best = { separator, share };
  }
  return best.separator;
}

/** Comment characters of files with spaces between numbers. */
const spacedComment = /^\s*[#%@!]/;

/** Whether most lines are the same count of numbers with spaces between them. */
function isSpaced(lines: string[]): boolean {
  const rows = lines.map((line) => split(line, " "));
  const width = mostFrequent(rows.map((r) => r.length));
  const numeric = rows.filter((r) => r.length === width && r.every((cell) => !Number.isNaN(Number(cell)))).length;
  // one line can have the names
  return width > 1 && numeric > 0 && (numeric >= 0.8 * rows.length || numeric === rows.length - 1);
}

/** The minimum number of numeric lines that make a table after a description. */
const leastTail = 5;

/** The number of lines before the final lines with the same count of numbers. */
function linesOfProse(lines: string[]): number {
  const width = split(lines.findLast((line) => line.trim()) ?? "", " ").length;
  if (width < 2) return lines.length;
  const isOther = (cells: string[]) => cells.length !== width || cells.some((cell) => Number.isNaN(Number(cell)));
  return lines.findLastIndex((line) => line.trim() !== "" && isOther(split(line, " "))) + 1;
}

/** The most frequent number; of several the greatest. */
function mostFrequent(numbers: number[]): number {
  const seen = new Map<number, number>();
  for (const n of numbers) seen.set(n, (seen.get(n) ?? 0) + 1);
  return [...seen].sort((a, b) => b[1] - a[1] || b[0] - a[0])[0]?.[0] ?? 1;
}

function guessDecimal(table: string[][]): "." | "," {
  let commas = 0;
  let points = 0;
  for (const cell of table.flat()) {
    if (/^[+-]?\d*,\d+(e[+-]?\d+)?$/i.test(cell)) commas++;
    else if (/^[+-]?\d*\.\d+(e[+-]?\d+)?$/i.test(cell)) points++;
  }
  return commas > points ? "," : ".";
}

export type ColumnType = "number" | "time" | "text";

/** The number of rows that determine the column types. It exceeds the number for the dialect,
    because a column can begin with missing values. */
export const typeSample = 2000;

/** Detects the type of each column from its first values. */
export function columnTypes(rows: Rows, dialect: Dialect): ColumnType[] {
  const from = dialect.notes + (dialect.header ? 1 : 0);
  const table = Array.from({ length: Math.max(0, Math.min(typeSample, rows.count - from)) }, (_, i) => rows.cells(from + i, dialect.separator));
  return dialect.names.map((_, column) => {
    const cells = table.map((r) => r[column] ?? "").filter((cell) => cell !== "" && !/^(nan|na|null|n\/a|-)$/i.test(cell)).slice(0, sample);
    const mostly = (is: (cell: string) => number) => cells.length > 0 && cells.filter((c) => !Number.isNaN(is(c))).length >= 0.8 * cells.length;
    if (mostly((c) => toNumber(c, dialect.decimal))) return "number";
    return mostly(toTime) ? "time" : "text";
  });
}

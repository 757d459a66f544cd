// Tables as text: how they are separated, and their rows. Nothing here knows the page.

const separators = ["\t", ";", "|", ","] as const;
export type Separator = (typeof separators)[number];

export interface Dialect {
  separator: Separator;
  /** Lines before the table: comments, or what a device wrote of itself. */
  notes: number;
  /** Whether the first row holds names. */
  header: boolean;
  /** Names of the columns; where the file has none, they are numbered. */
  names: string[];
  decimal: "." | ",";
}

/** A row that has this many characters and no end is cut. */
const longestRow = 1 << 20;

/** A quote that is not closed within this many characters is a character like others. */
const longestQuote = 1 << 15;

const quote = 34;
const lf = 10;
const cr = 13;
const afterWhich = new Set(separators.map((s) => s.charCodeAt(0)));
const endsQuoted = new Set([...afterWhich, lf, cr, 32]);

/** The rows of a text that comes in parts. Cells are only taken apart when they are asked for. Empty lines are left out. */
export class Rows {
  private blocks: { text: string; first: number; starts: Uint32Array; ends: Uint32Array }[] = [];
  private rest = "";
  count = 0;

  append(part: string, last: boolean) {
    const text = this.rest + part;
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
        if (i + 1 === text.length && !last) break; // the line feed may be the first of the next part
        const next = text.charCodeAt(i + 1) === lf ? i + 2 : i + 1;
        end(i, next);
        i = next - 1;
      } else if (c === quote && (i === start || afterWhich.has(text.charCodeAt(i - 1)))) {
        const close = closing(text, i);
        if (close >= text.length - 1 && !last && close - i < longestQuote) break; // how it goes on is in the next part
        if (close < text.length) i = close;
      }
    }
    if (last || text.length - start > longestRow) end(text.length, text.length);
    this.rest = text.slice(start);
    if (!starts.length) return;
    this.blocks.push({ text, first: this.count, starts: Uint32Array.from(starts), ends: Uint32Array.from(ends) });
    this.count += starts.length;
  }

  /** Where a row is within the text that holds it. */
  private find(row: number): [text: string, start: number, end: number] {
    let low = 0;
    let high = this.blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.blocks[middle]!.first <= row) low = middle;
      else high = middle - 1;
    }
    const block = this.blocks[low]!;
    return [block.text, block.starts[row - block.first]!, block.ends[row - block.first]!];
  }

  line(row: number): string {
    const [text, start, end] = this.find(row);
    return text.slice(start, end);
  }

  cells(row: number, separator: Separator): string[] {
    return split(this.line(row), separator);
  }

  /** One cell, without taking the others apart. */
  cell(row: number, column: number, separator: Separator): string {
    const [text, start, end] = this.find(row);
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

/** Index of the quote that closes the one at `open`: one with which a cell ends. The length of the text if there is none near. */
function closing(text: string, open: number): number {
  const bound = Math.min(text.length, open + longestQuote);
  for (let i = open + 1; i < bound; i++) {
    if (text.charCodeAt(i) !== quote) continue;
    const next = text.charCodeAt(i + 1);
    if (next === quote) i++;
    else return Number.isNaN(next) || endsQuoted.has(next) ? i : text.length;
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

/** The number that a cell holds; NaN if it holds none. */
export function toNumber(cell: string, decimal: "." | ","): number {
  if (!number[decimal].test(cell)) return NaN;
  return Number(decimal === "," ? cell.replace(",", ".") : cell);
}

const iso = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:[.,]\d+)?))?)?\s*(Z|[+-]\d\d:?\d\d)?$/;
const dotted = /^(\d\d?)\.(\d\d?)\.(\d{4})(?:,? (\d\d?):(\d\d)(?::(\d\d(?:[.,]\d+)?))?)?$/;

/** Seconds since 1970 of a time that a cell holds; NaN if it holds none. Without a zone it is taken for UTC. */
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

/** How much of the file is looked at to find out how it is written. */
const sample = 200;

/** How a table is written, by its first rows. What is given is not guessed. */
export function detect(rows: Rows, given: { separator?: Separator | undefined; header?: boolean | undefined } = {}): Dialect {
  const lines = Array.from({ length: Math.min(sample, rows.count) }, (_, i) => rows.line(i));
  let comments = 0;
  while (comments < lines.length && lines[comments]!.startsWith("#")) comments++;
  const body = lines.slice(comments);
  const separator = given.separator ?? guessSeparator(body);
  const table = body.map((line) => split(line, separator));
  const width = usual(table.map((r) => r.length));
  const start = Math.max(0, table.findIndex((r) => r.length === width));
  const first = table[start] ?? [];
  const decimal = guessDecimal(table.slice(start + 1));
  const isValue = (cell: string) => !Number.isNaN(toNumber(cell, decimal)) || !Number.isNaN(toTime(cell));
  const header = given.header ?? (!first.some(isValue) && first.some((cell) => cell !== ""));
  let names: string[] = header ? first : [];
  if (!header && comments) {
    // As numpy.savetxt writes it: the names are the last comment.
    const said = split(lines[comments - 1]!.replace(/^#+/, ""), separator);
    if (said.length === width) names = said;
  }
  const columns = Math.max(width, names.length);
  return { separator, notes: comments + start, header, decimal, names: Array.from({ length: columns }, (_, i) => names[i] || `column ${i + 1}`) };
}

/** The separator that divides most lines alike; a comma only if no other does, since it may be a decimal one. */
function guessSeparator(lines: string[]): Separator {
  let best: { separator: Separator; alike: number } = { separator: ",", alike: 0 };
  for (const separator of separators) {
    const widths = lines.map((line) => split(line, separator).length);
    const width = usual(widths);
    const alike = width > 1 ? widths.filter((w) => w === width).length / widths.length : 0;
    if (alike >= 0.9) return separator;
    if (alike > best.alike) best = { separator, alike };
  }
  return best.separator;
}

/** The number that occurs most often; of several the greatest. */
function usual(numbers: number[]): number {
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

export type Meaning = "number" | "time" | "text";

/** What each column holds, by the first rows of the table. */
export function meanings(rows: Rows, dialect: Dialect): Meaning[] {
  const from = dialect.notes + (dialect.header ? 1 : 0);
  const table = Array.from({ length: Math.max(0, Math.min(sample, rows.count - from)) }, (_, i) => rows.cells(from + i, dialect.separator));
  return dialect.names.map((_, column) => {
    const cells = table.map((r) => r[column] ?? "").filter((cell) => cell !== "" && !/^(nan|na|null|n\/a|-)$/i.test(cell));
    const mostly = (is: (cell: string) => number) => cells.length > 0 && cells.filter((c) => !Number.isNaN(is(c))).length >= 0.8 * cells.length;
    if (mostly((c) => toNumber(c, dialect.decimal))) return "number";
    return mostly(toTime) ? "time" : "text";
  });
}

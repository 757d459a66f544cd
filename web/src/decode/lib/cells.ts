// Table cells as text: exact and bounded.
import type { Part, Selection } from "../../sight/messages";
import { Refused } from "./serve";

/** A value as a cell shows it: nested numbers have no quotes. */
export type Plain = null | boolean | number | bigint | string | Plain[] | { [key: string]: Plain };

/** Limits: displayed characters of a cell, and nesting. */
export const longestCell = 2000;
const deepest = 64;

/** The shortest decimal for a single-precision number. */
export function single(value: number): number {
  for (let digits = 6; digits < 10; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

const day = 86_400;

/** The date of a number of days since 1970. */
export function dateText(days: number): string {
  const date = new Date(days * day * 1000);
  return Number.isNaN(date.getTime()) ? `${days} days after 1970-01-01` : date.toISOString().slice(0, -14);
}

function fraction(rest: bigint, perSecond: bigint): string {
  const digits = String(perSecond).length - 1;
  const text = String(rest).padStart(digits, "0").replace(/0+$/, "");
  return rest ? `.${text}` : "";
}

/** The time of a number of parts of a second since 1970. */
export function timestampText(value: bigint, perSecond: bigint, utc: boolean): string {
  const rest = ((value % perSecond) + perSecond) % perSecond;
  const date = new Date(Number((value - rest) / perSecond) * 1000);
  if (Number.isNaN(date.getTime())) return `${value}/${perSecond} s after 1970`;
  return `${date.toISOString().slice(0, -5)}${fraction(rest, perSecond)}${utc ? "Z" : ""}`;
}

/** A time of the day, in parts of a second. */
export function timeText(value: bigint, perSecond: bigint): string {
  const seconds = Number(value / perSecond);
  if (!(value >= 0n && seconds < day)) return `${value}/${perSecond} s`;
  return new Date(seconds * 1000).toISOString().slice(11, 19) + fraction(value % perSecond, perSecond);
}

/** A number with this many decimal places. */
export function decimalText(unscaled: bigint, scale: number): string {
  if (scale <= 0 || scale > 1000) return scale < 0 ? `${unscaled}E${-scale}` : scale ? `${unscaled}E-${scale}` : String(unscaled);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  return `${unscaled < 0n ? "-" : ""}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** A signed number whose highest byte is the first one. */
export function bigEndian(bytes: Uint8Array): bigint {
  let hex = "";
  for (const byte of bytes) hex += byte.toString(16).padStart(2, "0");
  return bytes.length ? BigInt.asIntN(bytes.length * 8, BigInt(`0x${hex}`)) : 0n;
}

/** Bytes in hexadecimal digits. */
export function hexText(bytes: Uint8Array): string {
  const shown = Array.from(bytes.subarray(0, 64), (b) => b.toString(16).padStart(2, "0")).join("");
  return bytes.length > 64 ? `0x${shown}… (${bytes.length} bytes)` : `0x${shown}`;
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

export const utf8Text = (bytes: Uint8Array) => utf8.decode(bytes.subarray(0, 4 * longestCell));

/** A nested value, in JSON where JSON can express it. */
function nested(value: Plain | undefined, depth: number, left: { characters: number }): string {
  if (left.characters <= 0 || depth > deepest) return "…";
  if (value === null || value === undefined || typeof value !== "object") {
    const text = value === undefined ? "null" : typeof value === "string" ? JSON.stringify(value.slice(0, left.characters)) : String(value);
    left.characters -= text.length;
    return text;
  }
  const parts: string[] = [];
  const entries: [string, Plain][] | Plain[] = Array.isArray(value) ? value : Object.entries(value);
  for (const entry of entries) {
    if (left.characters <= 0) {
      parts.push("…");
      break;
    }
    if (Array.isArray(value)) parts.push(nested(entry as Plain, depth + 1, left));
    else parts.push(`${nested((entry as [string, Plain])[0], depth + 1, left)}: ${nested((entry as [string, Plain])[1], depth + 1, left)}`);
  }
  return Array.isArray(value) ? `[${parts.join(", ")}]` : `{${parts.join(", ")}}`;
}

export function cellText(value: Plain): string {
  if (typeof value === "string") return value.length > longestCell ? `${value.slice(0, longestCell)}…` : value;
  return value !== null && typeof value === "object" ? nested(value, 0, { characters: longestCell }) : String(value);
}

export const grouped = (n: number) => n.toLocaleString("en");
export const counted = (n: number, noun: string) => (n === 1 ? `one ${noun}` : `${grouped(n)} ${noun}s`);

/** The maximum number of rows of a line; they are read one after another. */
const lineRows = 200_000;

/** The rows and columns of a table in a selection. */
export function rowsAndColumns(s: Selection, rows: number, columns: number): { from: number; to: number; columns: number[]; line: boolean } {
  const line = s.rows < 0;
  const at = line ? s.from[1] : s.from[0];
  const count = Math.min(line ? s.count[1] : s.count[0], line ? s.most[1] : s.most[0], lineRows);
  const from = Math.max(0, Math.min(at, rows));
  const shown = line ? [s.fixed[1]!] : Array.from({ length: Math.min(s.count[1], s.most[1]) }, (_, i) => s.from[1] + i);
  return { from, to: Math.min(rows, from + count), columns: shown.filter((c) => c >= 0 && c < columns), line };
}

/** Columns of cells. An unreadable column shows its error in each cell, unless all columns are
    unreadable. */
export async function readAll(columns: Promise<string[]>[], rows: number): Promise<string[][]> {
  const all = await Promise.allSettled(columns);
  if (all.length && all.every((c) => c.status === "rejected")) throw (all[0] as PromiseRejectedResult).reason;
  const why = (thrown: unknown) => `not read: ${thrown instanceof Refused ? thrown.message : "it seems to be broken."}`;
  return all.map((c) => (c.status === "fulfilled" ? c.value : new Array<string>(rows).fill(why(c.reason))));
}

/** Columns of cells as a part of a table. */
export function partOfColumns(columns: string[][], line: boolean): Part {
  const [width, height] = [columns.length, columns[0]?.length ?? 0];
  if (line) return { values: columns[0] ?? [], height: 1, width: height, step: [1, 1] };
  const values = Array.from({ length: width * height }, (_, i) => columns[i % width]![Math.floor(i / width)]!);
  return { values, height, width, step: [1, 1] };
}

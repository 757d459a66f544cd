// The input of form fields, and the values that it stands for.
import type { FieldKind, FormField } from "../api";
import { plural } from "../format";
import { readNumber } from "../numbers";
import type { Group, Numeric, Value } from "./metadata";
import { floatOf, isGroup, isNumber, isQuantity, numberOf, numberText, parse } from "./metadata";

/** The input of a field. A value does not change, whatever its kind, until its cell is edited. */
export interface Cell {
  key: number;
  was?: Value | undefined;
  changed: boolean;
  /** For a choice, its number; for yes or no, "true" or "false". */
  text: string;
  unit: string;
  /** For a list. */
  items: Cell[];
  /** For a group, in the order of its fields. */
  parts: Cell[];
}

let keys = 0;

/** A date with time as the browser control has it: in the reader's time zone. */
function localTime(text: string): string {
  const at = new Date(text);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) || Number.isNaN(at.getTime())) return text;
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString();
  return local.slice(0, at.getSeconds() ? 19 : 16);
}

/** The reader's time zone at a time, such as +02:00. */
function zoneAt(local: string): string {
  const minutes = -new Date(local).getTimezoneOffset();
  const two = (n: number) => String(Math.floor(Math.abs(n))).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** A value as the user would type it. */
function plain(v: Value | undefined): string {
  if (v === undefined || typeof v === "string") return v ?? "";
  return isNumber(v) ? numberText(v) : JSON.stringify(v);
}

const sameJSON = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Each reads a value of its kind; values of other kinds are shown as written. */
const readers: Partial<Record<FieldKind, (field: FormField, v: Value) => Partial<Cell>>> = {
  dateTime: (_, v) => ({ text: typeof v === "string" ? localTime(v) : plain(v) }),
  choice: ({ choices = [] }, v) => {
    const at = choices.findIndex((c) => sameJSON(c.value, v));
    return { text: at < 0 ? plain(v) : String(at) };
  },
  quantity: (_, v) => (isQuantity(v) ? { text: numberText(v.value), unit: v.unit } : { text: plain(v), unit: "" }),
  list: ({ item }, v) => ({ items: (Array.isArray(v) ? v : [v]).map((one) => cellOf(item!, one)) }),
  group: ({ fields = [] }, v) => ({ parts: fields.map((f) => cellOf(f, isGroup(v) ? (v as Group)[f.name!] : undefined)) }),
  json: (_, v) => ({ text: JSON.stringify(v) }),
};

export function cellOf(field: FormField, was?: Value): Cell {
  const cell: Cell = { key: ++keys, was, changed: false, text: "", unit: field.units?.length ? field.units[0]! : "", items: [], parts: [] };
  if (field.kind === "group" && was === undefined) cell.parts = (field.fields ?? []).map((f) => cellOf(f));
  if (was === undefined) return cell;
  return { ...cell, ...(readers[field.kind] ?? ((_, v) => ({ text: plain(v) })))(field, was) };
}

/** A cell with another value, as if the user had typed it. */
export const typedCell = (field: FormField, value: Value): Cell => touched(cellOf(field, value));

const touched = (cell: Cell): Cell => ({ ...cell, was: undefined, changed: true, items: cell.items.map(touched), parts: cell.parts.map(touched) });

export type Read = { value?: Value | undefined; error?: string };

function number(text: string): Read {
  const { number, error } = readNumber(text);
  return error === undefined ? { value: numberOf(number) } : { error };
}

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text);

/** Each parses a non-empty text. */
const writers: Record<Exclude<FieldKind, "list" | "group">, (field: FormField, text: string, cell: Cell) => Read> = {
  text: (_, text) => ({ value: text }),
  longText: (_, text) => ({ value: text }),
  number: (_, text) => number(text),
  integer: (_, text) => (/^-?\d+$/.test(text) ? number(text.replace(/^(-?)0+(?=\d)/, "$1")) : { error: "This is not a whole number." }),
  truth: (_, text) => ({ value: text === "true" }),
  date: (_, text) => (isDay(text) ? { value: text } : { error: "Write the date as 2026-01-31." }),
  dateTime: (_, text) => {
    if (/(Z|[+-]\d\d:\d\d)$/.test(text)) return { value: text };
    return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) ? { value: `${text.length === 16 ? `${text}:00` : text}${zoneAt(text)}` } : { error: "Write the time as 2026-01-31T10:20." };
  },
  choice: ({ choices = [] }, text) => ({ value: choices[Number(text)]?.value }),
  quantity: (_, text, { unit }) => {
    const { value, error } = number(text);
    if (error) return { error };
    return { value: unit.trim() ? { value: value as Numeric, unit: unit.trim() } : (value as Numeric) };
  },
  json: (_, text) => {
    try {
      return { value: parse(text) as Value };
    } catch {
      return { error: 'This is not JSON. Write a list as ["a", 1], a group as {"id": "S1"}.' };
    }
  },
};

const isChanged = (cell: Cell): boolean => cell.changed || cell.items.some(isChanged) || cell.parts.some(isChanged);

/** The value of a cell; undefined if it is empty. */
export function read(field: FormField, cell: Cell): Read {
  if (!isChanged(cell)) return { value: cell.was };
  if (field.kind === "list") {
    const items = cell.items.map((one) => read(field.item!, one)).filter((r) => r.error || r.value !== undefined);
    const error = items.find((r) => r.error)?.error;
    return error ? { error } : items.length ? { value: items.map((r) => r.value!) } : {};
  }
  if (field.kind === "group") {
    const { group, error } = readAll(field.fields ?? [], cell.parts, cell.was !== undefined && isGroup(cell.was) ? (cell.was as Group) : {});
    return error ? { error } : Object.keys(group).length ? { value: group } : {};
  }
  const text = field.kind === "text" || field.kind === "longText" ? cell.text : cell.text.trim();
  return text ? writers[field.kind](field, text, cell) : {};
}

/** The values of fields, merged with other properties; `error` is the first error. */
export function readAll(fields: FormField[], cells: Cell[], before: Group = {}): { group: Group; error?: string } {
  const names = new Set(fields.map((f) => f.name!));
  const all = fields.map((f, i) => [f.name!, read(f, cells[i]!)] as const);
  const error = all.find(([, r]) => r.error)?.[1].error;
  const others = Object.entries(before).filter(([name]) => !names.has(name));
  const group = Object.fromEntries([...others, ...all.flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value] as const]))]);
  return error ? { group, error } : { group };
}

const rangeText = (min: Numeric | undefined, max: Numeric | undefined, of = ""): string => {
  const [from, to] = [min, max].map((n) => (n === undefined ? undefined : numberText(n)));
  if (from !== undefined && to !== undefined) return `${from} to ${to}${of}`;
  return from !== undefined ? `${from}${of} or more` : to !== undefined ? `${to}${of} or less` : "";
};

/** The constraints of a field, in addition to its help text. */
export function bounds({ kind, min, max, units = [] }: FormField): string {
  if (kind === "number" || kind === "integer") return rangeText(min, max);
  if (kind === "quantity") return rangeText(min, max, units.length === 1 ? ` ${units[0]}` : "");
  if (kind === "list" && (min !== undefined || max !== undefined)) return `${rangeText(min, max)} of them`;
  return "";
}

/** The problem of an entered value; "" if it is valid, or if only the service can check it. */
export function objection(field: FormField, value: Value | undefined): string {
  const { kind, min, max, pattern, required } = field;
  if (value === undefined) return required ? "This is missing." : "";
  const amount = isQuantity(value) ? floatOf(value.value) : isNumber(value) ? floatOf(value) : undefined;
  if (amount !== undefined && ((min !== undefined && amount < floatOf(min)) || (max !== undefined && amount > floatOf(max)))) return `This should be ${bounds(field)}.`;
  if (kind === "quantity" && amount !== undefined && !isQuantity(value)) return "This needs a unit.";
  if (typeof value !== "string" || kind === "choice") return "";
  const length = [...value].length;
  if (min !== undefined && length < floatOf(min)) return `This should have at least ${plural(floatOf(min), "character")}.`;
  if (max !== undefined && length > floatOf(max)) return `This should have at most ${plural(floatOf(max), "character")}; it has ${length}.`;
  return pattern && !matches(pattern, value) ? `This does not have the form ${pattern}.` : "";
}

/** Whether a text matches a regular expression of the service; true if browsers do not support the
    expression. */
function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

// Values of arrays as text and as numbers.
import type { Item, Part, Values } from "./messages";

/** The shortest decimal for a single-precision number. */
function shortest(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}

/** One value for display: exact, without more digits than its type has. */
export function textOf(values: Values, at: number): string {
  const value = values[at];
  if (value === undefined) return "";
  return values instanceof Float32Array ? shortest(value as number) : String(value);
}

export const isText = (values: Values): values is string[] => Array.isArray(values);

export type Numbers = Exclude<Values, string[] | BigInt64Array | BigUint64Array>;

/** Values as numbers; other texts become NaN. */
export function numbersOf({ values }: Part): Numbers {
  if (isText(values)) return Float64Array.from(values, (v) => (v.trim() === "" ? NaN : Number(v)));
  return values instanceof BigInt64Array || values instanceof BigUint64Array ? Float64Array.from(values, Number) : values;
}

/** A time as text: its day, and the time of day if it is not zero. */
export function timeText({ from, step }: NonNullable<Item["time"]>, value: number): string {
  const date = new Date(Math.round((from + value * step) * 1000));
  if (Number.isNaN(date.getTime())) return String(value);
  const text = date.toISOString();
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, -14) : text.replace("T", " ").replace(/\.000Z$/, "").replace("Z", "");
}

/** A value of an array for display: times as dates, missing values marked; `stored` as in the
    file. */
export function shownText(item: Item, part: Part, at: number, stored: boolean): string {
  const { values, masked } = part;
  const value = values[at];
  if (masked && (value === "" || Number.isNaN(value))) return "missing";
  return item.time && !stored && value !== undefined && Number.isFinite(Number(value)) ? timeText(item.time, Number(value)) : textOf(values, at);
}

/** The name of an array with its unit. */
export const named = (name: string, { unit, time }: Item) => (unit && !time ? `${name} (${unit})` : name);

/** The text of a value with the unit of its array. */
export const withUnit = (text: string, { unit, time }: Item) => (unit && !time ? `${text} ${unit}` : text);

/** The title of a saved file for an array that is called `file: array`. */
export const savedTitle = (name: string) => name.replace(/(\.\w+)?: /, "-");

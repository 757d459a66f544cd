// Values of arrays as text and as numbers.
import type { Part, Values } from "./messages";

/** The shortest text that stands for a number of single precision. */
function shortest(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}

/** One value as it is shown: exact, and with no more digits than its type has. */
export function textOf(values: Values, at: number): string {
  const value = values[at];
  if (value === undefined) return "";
  return values instanceof Float32Array ? shortest(value as number) : String(value);
}

export const isText = (values: Values): values is string[] => Array.isArray(values);

export type Numbers = Exclude<Values, string[] | BigInt64Array | BigUint64Array>;

/** Values as numbers; texts that are none are not. */
export function numbersOf({ values }: Part): Numbers {
  if (isText(values)) return Float64Array.from(values, (v) => (v.trim() === "" ? NaN : Number(v)));
  return values instanceof BigInt64Array || values instanceof BigUint64Array ? Float64Array.from(values, Number) : values;
}

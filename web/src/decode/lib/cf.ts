// The CF conventions: the meaning of the numbers of a variable according to its attributes.
import type { Attribute, Item, Part, Values } from "../../sight/messages";
import { type Type, types } from "./arrays";

/** The rule that converts stored values to physical values. */
export interface Packing {
  /** The type of the values before scaling: integers can be unsigned. */
  type: Type;
  scale: number;
  offset: number;
  /** Whether a stored value means missing. */
  isMissing?: (value: number | bigint) => boolean;
  /** The rule in words. */
  about: string;
}

const unsigned: Record<string, Type> = { int8: types.uint8, int16: types.uint16, int32: types.uint32, int64: types.uint64 };
const signed: Record<string, Type> = { uint8: types.int8, uint16: types.int16, uint32: types.int32, uint64: types.int64 };

/** The numbers of an attribute, exact; empty for text. */
const numbersOf = ([, text, type]: Attribute): string[] => {
  const all = text.split(", ");
  if (!all.every((n) => n.trim() !== "" && (!Number.isNaN(Number(n)) || n === "NaN"))) return [];
  return type === "float32" ? all.map((n) => String(Math.fround(Number(n)))) : all;
};

/** A number of an attribute in the type of the variable; undefined if the type cannot hold it. */
function valueIn(type: Type, text: string): number | bigint | undefined {
  const bits = type.size * 8;
  if (/^u?int64$/.test(type.name)) {
    if (!/^-?\d+$/.test(text)) return Number.isInteger(Number(text)) && Math.abs(Number(text)) < 2 ** 53 ? BigInt(Number(text)) : undefined;
    return type === types.uint64 ? BigInt.asUintN(64, BigInt(text)) : BigInt.asIntN(64, BigInt(text));
  }
  const value = Number(text);
  if (type.name === "float32") return Math.fround(value);
  if (!/^u?int/.test(type.name)) return value;
  if (!Number.isInteger(value)) return undefined;
  // attributes have the signed type of the variable
  if (/^u/.test(type.name) && value < 0 && value >= -(2 ** (bits - 1))) return value + 2 ** bits;
  return value;
}

/** A number without the digits that single precision adds. */
const brief = (v: number | bigint | string) => String(typeof v === "number" ? Number(v.toPrecision(7)) : v);

/** A scale and an offset in words. */
export const scaling = (scale: number, offset: number) =>
  `stored value × ${brief(scale)}${offset > 0 ? ` + ${brief(offset)}` : offset < 0 ? ` − ${brief(-offset)}` : ""}`;

/** The default fill values of NetCDF, by type. */
const defaults: Record<string, string> = {
  int16: "-32767", int32: "-2147483647", uint16: "65535", uint32: "4294967295", int64: "-9223372036854775806", uint64: "18446744073709551614",
  float32: "9.969209968386869e36", float64: "9.969209968386869e36",
};

/**
 * Returns the packing of a variable; undefined if its values are stored as they are.
 * @param isNetCDF values that were never written have the default of their type
 */
export function packingOf(stored: Type, attributes: Attribute[], isNetCDF = false): Packing | undefined {
  const all = new Map(attributes.map((a) => [a[0], a] as const));
  const of = (name: string) => numbersOf(all.get(name) ?? [name, ""]);
  const sign = all.get("_Unsigned")?.[1].trim().toLowerCase();
  const type = (sign === "true" ? unsigned[stored.name] : sign === "false" ? signed[stored.name] : undefined) ?? stored;
  if (!/^u?int|^float/.test(type.name)) return undefined;
  const [scale, offset] = [Number(of("scale_factor")[0] ?? 1), Number(of("add_offset")[0] ?? 0)];
  const isScaled = scale !== 1 || offset !== 0;
  const known = (texts: string[]) => texts.map((text) => valueIn(type, text)).filter((v) => v !== undefined) as (number | bigint)[];
  const given = [...of("_FillValue"), ...of("missing_value")];
  const fills = known(given);
  // in stored values
  const [low = of("valid_min")[0], high = of("valid_max")[0]] = of("valid_range");
  const [least, greatest] = [low, high].map((text) => (text === undefined ? undefined : known([text])[0]));
  const isLimited = least !== undefined || greatest !== undefined;
  const unwritten = isNetCDF && !all.has("_FillValue") ? defaults[type.name] : undefined;
  // a Set also finds NaN
  const missing = new Set([...fills, ...known(unwritten ? [unwritten] : [])]);
  if (type === stored && !isScaled && !missing.size && !isLimited) return undefined;
  const said = [
    type !== stored && `${type.name} instead of ${stored.name}`,
    isScaled && scaling(scale, offset),
    fills.length && `${fills.map(brief).join(", ")} is missing`,
    isLimited && `valid from ${brief(least ?? "-∞")} to ${brief(greatest ?? "∞")}`,
  ];
  const isMissing = (v: number | bigint) => missing.has(v) || (least !== undefined && v < least) || (greatest !== undefined && v > greatest);
  const masks = missing.size > 0 || isLimited;
  return { type, scale, offset, ...(masks && { isMissing }), about: said.filter(Boolean).join("; ") };
}

/** Converts stored values to physical values; NaN stands for a missing value. */
export function unpacked(part: Part, { scale, offset, isMissing }: Packing): Part {
  const { values } = part;
  if (Array.isArray(values)) return part;
  const isScaled = scale !== 1 || offset !== 0;
  if (!isScaled && !(isMissing && values.some((v: number | bigint) => isMissing(v)))) return part;
  const isBig = values instanceof BigInt64Array || values instanceof BigUint64Array;
  const exact = isBig && !isScaled; // numbers would round these
  if (exact) return { ...part, values: Array.from(values, (v) => (isMissing!(v) ? "" : String(v))), masked: true };
  const out: Values = values instanceof Float32Array && !isScaled ? new Float32Array(values.length) : new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) out[i] = isMissing?.(values[i]!) ? NaN : Number(values[i]) * scale + offset;
  return { ...part, values: out, masked: isMissing !== undefined };
}

/** The seconds of time units. */
const seconds: [RegExp, number][] = [
  [/^(d|days?)$/, 86_400], [/^(h|hrs?|hours?)$/, 3600], [/^(min|mins|minutes?)$/, 60], [/^(s|secs?|seconds?)$/, 1],
  [/^(ms|msecs?|millis|milliseconds?)$/, 1e-3], [/^(us|microsecs?|microseconds?)$/, 1e-6], [/^(ns|nanosecs?|nanoseconds?)$/, 1e-9], [/^weeks?$/, 604_800],
];

/** Parses a unit such as `days since 1970-01-01`; undefined for other units, and for
    non-standard calendars. */
export function timeOf(attributes: Attribute[]): Item["time"] {
  const all = new Map(attributes.map(([name, value]) => [name, value] as const));
  const [, unit = "", year, month, day, hour = "0", minute = "0", second = "0", sign, zoneHours, zoneMinutes] =
    /^\s*(\w+)\s+since\s+(\d{1,4})-(\d{1,2})-(\d{1,2})(?:[T\s]+(\d{1,2})(?::(\d{1,2}))?(?::(\d{1,2}(?:\.\d*)?))?)?\s*(?:Z|UTC|GMT|([+-])(\d{1,2}):?(\d{2})?)?\s*$/i.exec(all.get("units") ?? "") ?? [];
  const step = seconds.find(([pattern]) => pattern.test(unit.toLowerCase()))?.[1];
  const calendar = (all.get("calendar") || "standard").toLowerCase();
  if (!step || !year || !/^(standard|gregorian|proleptic_gregorian)$/.test(calendar)) return undefined;
  // dates in the Julian calendar
  if (Number(year) < 1583 && calendar !== "proleptic_gregorian") return undefined;
  const start = new Date(0);
  start.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const zone = (sign === "-" ? -1 : 1) * (Number(zoneHours ?? 0) * 3600 + Number(zoneMinutes ?? 0) * 60);
  return { from: start.getTime() / 1000 + Number(hour) * 3600 + Number(minute) * 60 + Number(second) - zone, step };
}

/** The title, unit and packing of a variable, as the page shows them. */
export function meaningOf(attributes: Attribute[], packing: Packing | undefined): Pick<Item, "unit" | "title" | "packed" | "time"> {
  const named = (...names: string[]) => names.map((name) => attributes.find(([n]) => n === name)?.[1].trim()).find(Boolean);
  const [unit, title] = [named("units"), named("long_name", "standard_name")];
  const time = timeOf(attributes);
  return { ...(unit && unit !== "1" && { unit }), ...(title && { title }), ...(packing?.about && { packed: packing.about }), ...(time && { time }) };
}

/** Attributes that refer to other variables, such as coordinates or uncertainties. */
const auxiliary = ["coordinates", "bounds", "climatology", "grid_mapping", "ancillary_variables", "cell_measures"];

/** The main variable of a file: the variable with the most dimensions that no other variable
    refers to; the first of several. */
export function firstVariable(items: Item[]): number | undefined {
  const shown = items.filter((i) => i.id !== undefined && !i.why && i.shape && i.shape.every((n) => n > 0));
  const named = new Set(items.flatMap((i) => (i.attributes ?? []).filter(([name]) => auxiliary.includes(name)).flatMap(([, value]) => value.split(/[\s:]+/))));
  const axes = new Set(items.flatMap((i) => i.axes ?? []));
  const rank = (i: Item) => Math.min(2, i.shape!.filter((n) => n > 1).length);
  const data = shown.filter((i) => !axes.has(i.id) && !named.has(i.name) && !/^text/.test(i.about));
  const most = Math.max(0, ...data.map(rank));
  return (data.find((i) => rank(i) === most) ?? shown[0])?.id;
}

// Arrays with equidistant values in a file. Slices are read by ranges.
import type { Part, Selection, Values } from "../../sight/messages";
import { type Input, maxBytes, MiB, Refused } from "./serve";

/** A number type: the size of a value, its reader, and the typed array that holds such values. */
export interface Type {
  name: string;
  size: number;
  read: (view: DataView, at: number, little: boolean) => number | bigint | string;
  holder: (length: number) => Values;
}

function half(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const size = exponent === 0 ? fraction * 2 ** -24 : exponent === 31 ? (fraction ? NaN : Infinity) : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -size : size;
}

const type = (name: string, size: number, read: Type["read"], holder: Type["holder"]): Type => ({ name, size, read, holder });

export const types = {
  int8: type("int8", 1, (v, at) => v.getInt8(at), (n) => new Int8Array(n)),
  uint8: type("uint8", 1, (v, at) => v.getUint8(at), (n) => new Uint8Array(n)),
  int16: type("int16", 2, (v, at, le) => v.getInt16(at, le), (n) => new Int16Array(n)),
  uint16: type("uint16", 2, (v, at, le) => v.getUint16(at, le), (n) => new Uint16Array(n)),
  int32: type("int32", 4, (v, at, le) => v.getInt32(at, le), (n) => new Int32Array(n)),
  uint32: type("uint32", 4, (v, at, le) => v.getUint32(at, le), (n) => new Uint32Array(n)),
  int64: type("int64", 8, (v, at, le) => v.getBigInt64(at, le), (n) => new BigInt64Array(n)),
  uint64: type("uint64", 8, (v, at, le) => v.getBigUint64(at, le), (n) => new BigUint64Array(n)),
  float16: type("float16", 2, (v, at, le) => half(v.getUint16(at, le)), (n) => new Float32Array(n)),
  float32: type("float32", 4, (v, at, le) => v.getFloat32(at, le), (n) => new Float32Array(n)),
  float64: type("float64", 8, (v, at, le) => v.getFloat64(at, le), (n) => new Float64Array(n)),
  bool: type("bool", 1, (v, at) => v.getUint8(at), (n) => new Uint8Array(n)),
};

const trimmed = (text: string) => text.replace(/[\0 ]+$/, "");

/** Text of a fixed number of bytes. */
export const textType = (size: number, encoding = "utf-8"): Type => {
  const decoder = new TextDecoder(encoding);
  return type("text", size, (v, at) => trimmed(decoder.decode(new Uint8Array(v.buffer, v.byteOffset + at, size))), () => []);
};

/** Text of a fixed number of four-byte characters, as NumPy stores it. */
export const wideType = (characters: number): Type =>
  type("text", characters * 4, (v, at, le) => {
    let text = "";
    for (let i = 0; i < characters; i++) text += String.fromCodePoint(Math.min(v.getUint32(at + 4 * i, le), 0x10ffff));
    return trimmed(text);
  }, () => []);

export interface Stored {
  offset: number;
  shape: number[];
  /** The distance between values in bytes, for each dimension. */
  strides: number[];
  type: Type;
  little: boolean;
}

/** The strides of contiguous values, the last index fastest; with `firstFastest` the first index.
 */
export function stridesOf(shape: number[], size: number, firstFastest = false): number[] {
  const strides = shape.map(() => size);
  const order = shape.map((_, i) => (firstFastest ? i : shape.length - 1 - i));
  order.forEach((dimension, i) => {
    if (i) strides[dimension] = strides[order[i - 1]!]! * shape[order[i - 1]!]!;
  });
  return strides;
}

/** Limits of a slice: bytes, and number of reads. */
const maxSpan = maxBytes;
const groupSpan = 8 * MiB;
const maxReads = 256;

interface Axis {
  from: number;
  /** The number of selected values, and the step between them. */
  taken: number;
  step: number;
  stride: number;
}

function axisOf(stored: Stored, dimension: number, from: number, count: number, most: number): Axis {
  const length = dimension < 0 ? 1 : stored.shape[dimension]!;
  const start = Math.min(Math.max(0, from), length - 1);
  const available = Math.min(count, length - start);
  const step = Math.max(1, Math.ceil(available / most));
  return { from: start, taken: Math.ceil(available / step), step, stride: dimension < 0 ? 0 : stored.strides[dimension]! };
}

/** Checks the indices of a selection, which come from an address. */
export function checkSelection(shape: number[], s: Selection) {
  const isDimension = (n: number) => Number.isInteger(n) && n >= -1 && n < shape.length;
  const fits = s.fixed.every((n, i) => Number.isInteger(n) && n >= 0 && n < Math.max(1, shape[i]!)) && s.fixed.length === shape.length;
  if (!fits || !isDimension(s.rows) || !isDimension(s.columns) || (s.rows >= 0 && s.rows === s.columns)) throw new Refused("This slice does not exist.");
}

/** Reads a slice. The axis with the larger stride is the outer axis; close values of it are read
    together. */
export async function readPart(input: Input, stored: Stored, s: Selection): Promise<Part> {
  checkSelection(stored.shape, s);
  const rows = axisOf(stored, s.rows, s.from[0], s.count[0], s.most[0]);
  const columns = axisOf(stored, s.columns, s.from[1], s.count[1], s.most[1]);
  let base = stored.offset;
  stored.strides.forEach((stride, i) => (base += stride * (i === s.rows ? rows.from : i === s.columns ? columns.from : s.fixed[i]!)));
  const outerIsRows = rows.stride >= columns.stride;
  const [outer, inner] = outerIsRows ? [rows, columns] : [columns, rows];
  const { size, read, holder } = stored.type;
  const span = (axis: Axis, taken: number) => (taken - 1) * axis.step * axis.stride;
  if (size > maxSpan) throw new Refused("A value of this array is too large to be shown.");
  while (span(inner, inner.taken) + size > maxSpan) inner.taken = Math.max(1, Math.floor(inner.taken / 2));
  const innerSpan = span(inner, inner.taken) + size;
  thin(outer, innerSpan);
  const values = holder(rows.taken * columns.taken);
  const perGroup = Math.max(1, Math.floor((groupSpan - innerSpan) / Math.max(1, outer.step * outer.stride)) + 1);
  for (let o = 0; o < outer.taken; o += perGroup) {
    const taken = Math.min(perGroup, outer.taken - o);
    const bytes = await input.read(base + o * outer.step * outer.stride, span(outer, taken) + innerSpan);
    if (bytes.length < span(outer, taken) + innerSpan) throw new Refused("The file ends before this array does.");
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let a = 0; a < taken; a++) {
      for (let b = 0; b < inner.taken; b++) {
        const at = outerIsRows ? (o + a) * columns.taken + b : b * columns.taken + o + a;
        values[at] = read(view, a * outer.step * outer.stride + b * inner.step * inner.stride, stored.little) as never;
      }
    }
  }
  return { values, height: rows.taken, width: columns.taken, step: [rows.step, columns.step] };
}

/** Reduces the values of the outer axis to limit bytes and reads. */
function thin(outer: Axis, innerSpan: number) {
  const jump = outer.step * outer.stride;
  const reads = jump + innerSpan > groupSpan ? outer.taken : Math.ceil((outer.taken * jump) / groupSpan);
  const bytes = jump + innerSpan > groupSpan ? outer.taken * innerSpan : outer.taken * Math.max(jump, innerSpan);
  const factor = Math.ceil(Math.max(reads / maxReads, bytes / maxSpan));
  if (factor <= 1) return;
  outer.step *= factor;
  outer.taken = Math.ceil(outer.taken / factor);
}

/** A slice of values in memory; by default the last index varies fastest. */
export function partOf(values: Values, shape: number[], s: Selection, strides = stridesOf(shape, 1)): Part {
  checkSelection(shape, s);
  const stored = { offset: 0, shape, strides, type: types.int8, little: true };
  const rows = axisOf(stored, s.rows, s.from[0], s.count[0], s.most[0]);
  const columns = axisOf(stored, s.columns, s.from[1], s.count[1], s.most[1]);
  let base = 0;
  strides.forEach((stride, i) => (base += stride * (i === s.rows ? rows.from : i === s.columns ? columns.from : s.fixed[i]!)));
  const length = rows.taken * columns.taken;
  const out = Array.isArray(values) ? new Array<string>(length) : new (values.constructor as new (n: number) => Exclude<Values, string[]>)(length);
  for (let r = 0; r < rows.taken; r++) {
    for (let c = 0; c < columns.taken; c++) out[r * columns.taken + c] = (values[base + r * rows.step * rows.stride + c * columns.step * columns.stride] ?? "") as never;
  }
  return { values: out, height: rows.taken, width: columns.taken, step: [rows.step, columns.step] };
}

export const product = (shape: number[]) => shape.reduce((n, m) => n * m, 1);
export const shapeText = (shape: number[]) => (shape.length ? shape.join(" × ") : "one value");

// MATLAB 5 files: variables, cells, structures and sparse arrays. Version 7.3 is HDF5.
import type { Item, Part, Selection, Values } from "../sight/messages";
import { partOf, product, shapeText, stridesOf, type Type, types } from "./lib/arrays";
import { inflate } from "./lib/inflate";
import { MiB, Refused, serve, whole } from "./lib/serve";

/** The maximum size of an unpacked variable in bytes. */
const maxVariable = 128 * MiB;

/** The limit of all values in memory, in bytes. */
const maxHeld = 512 * MiB;

/** Limits: nesting of arrays, and number of arrays. */
const maxDepth = 32;
const maxArrays = 20_000;

const storage: Record<number, Type> = {
  1: types.int8, 2: types.uint8, 3: types.int16, 4: types.uint16, 5: types.int32, 6: types.uint32, 7: types.float32, 9: types.float64, 12: types.int64,
  13: types.uint64, 16: types.uint8, 17: types.uint16, 18: types.uint32,
};

const classes: Record<number, Type> = {
  6: types.float64, 7: types.float32, 8: types.int8, 9: types.uint8, 10: types.int16, 11: types.uint16, 12: types.int32, 13: types.uint32, 14: types.int64, 15: types.uint64,
};
const otherClasses: Record<number, string> = { 1: "cell", 2: "struct", 3: "object", 4: "text", 5: "sparse", 16: "function", 17: "opaque" };

interface Element {
  type: number;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Reads elements in order. */
class Elements {
  at = 0;
  private readonly view: DataView;

  constructor(
    private readonly bytes: Uint8Array<ArrayBuffer>,
    readonly little: boolean,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get ended() {
    return this.at + 8 > this.bytes.length;
  }

  next(): Element {
    const first = this.view.getUint32(this.at, this.little);
    const isSmall = first >>> 16 > 0;
    const type = isSmall ? first & 0xffff : first;
    const length = isSmall ? first >>> 16 : this.view.getUint32(this.at + 4, this.little);
    const start = this.at + (isSmall ? 4 : 8);
    if (start + length > this.bytes.length || (isSmall && length > 4)) throw new RangeError("an element ends outside of its container");
    this.at = isSmall ? this.at + 8 : type === 15 ? start + length : start + Math.ceil(length / 8) * 8;
    return { type, bytes: this.bytes.subarray(start, start + length) };
  }

  /** The numbers of the next element. */
  numbers(holder?: (n: number) => Values): Values {
    const { type, bytes } = this.next();
    const of = storage[type];
    if (!of) throw new RangeError(`there is no type ${type} of numbers`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const values = (holder ?? of.holder)(Math.floor(bytes.length / of.size));
    const isBig = values instanceof BigInt64Array || values instanceof BigUint64Array;
    for (let i = 0; i < values.length; i++) {
      const value = of.read(view, i * of.size, this.little);
      values[i] = (isBig ? BigInt(value) : Number(value)) as never;
    }
    return values;
  }

  text(): string {
    const { type, bytes } = this.next();
    if (type === 4 || type === 17) return new TextDecoder(this.little ? "utf-16le" : "utf-16be").decode(bytes);
    return new TextDecoder(type === 16 ? "utf-8" : "latin1").decode(bytes);
  }
}

interface Held {
  values: Values;
  shape: number[];
  strides: number[];
}

class Variables {
  readonly held: Held[] = [];
  private arrays = 0;
  private bytes = 0;

  private hold(values: Values, shape: number[], strides = stridesOf(shape, 1, true)): number {
    this.bytes += Array.isArray(values) ? values.reduce((n, line) => n + 2 * line.length, 0) : values.byteLength;
    if (this.bytes > maxHeld) throw new Refused(`Its values need more than ${maxHeld / MiB} MiB.`);
    return this.held.push({ values, shape, strides }) - 1;
  }

  /** The item of an array whose elements follow. */
  item(e: Elements, given: string, depth: number): Item {
    if (depth > maxDepth || ++this.arrays > maxArrays) throw new Refused(`It has more than ${maxArrays} arrays, or nests them too deeply.`);
    if (e.ended) return { name: given, about: "empty" };
    const flags = Number(e.numbers()[0]);
    const kind = flags & 255;
    if (kind === 17) return { name: given, about: "opaque", why: "Only MATLAB knows the values of such objects." };
    const shape = Array.from(e.numbers() as Int32Array, Number);
    const name = given || e.text() || "?";
    if (given) e.next();
    const what = flags & 0x200 ? "logical" : classes[kind]?.name ?? otherClasses[kind] ?? `class ${kind}`;
    const about = `${what}, ${shapeText(shape)}`;
    if (kind === 1) return { name, about, items: this.children(e, product(shape), (i) => `{${this.indexOf(i, shape)}}`, depth) };
    if (kind === 2 || kind === 3) return { name, about, items: this.fields(e, kind === 3, shape, depth) };
    if (kind === 4) return this.textItem(name, e.ended ? "" : e.text(), shape);
    if (kind === 5) return this.sparse(e, name, about, (flags & 0x800) !== 0);
    const type = classes[kind];
    if (!type) return { name, about, why: "Values of this class are not shown." };
    const real = e.numbers(type.holder);
    if (real.length < product(shape)) throw new RangeError("an array has fewer values than its shape says");
    if (!(flags & 0x800)) return { name, about, shape, id: this.hold(real, shape) };
    const all = Float64Array.from([...Array.from(real as Float64Array), ...Array.from(e.numbers(type.holder) as Float64Array)]);
    const id = this.hold(all, [...shape, 2], [...stridesOf(shape, 1, true), product(shape)]);
    return { name, about: `${about}, complex`, shape: [...shape, 2], id, dimensions: [...shape.map((_, i) => `dimension ${i + 1}`), "real, imaginary"] };
  }

  private indexOf(i: number, shape: number[]): string {
    return shape.map((n) => ((i % n) + 1) + ((i = Math.floor(i / n)), 0)).join(", ");
  }

  private children(e: Elements, count: number, name: (i: number) => string, depth: number): Item[] {
    const items: Item[] = [];
    for (let i = 0; i < count && !e.ended; i++) items.push(this.item(new Elements(e.next().bytes, e.little), name(i), depth + 1));
    return items;
  }

  private fields(e: Elements, isObject: boolean, shape: number[], depth: number): Item[] {
    if (isObject) e.next(); // the name of the class
    const length = Number(e.numbers()[0]);
    const { bytes } = e.next();
    if (!(length > 0)) return [];
    if (bytes.length / length > maxArrays) throw new Refused(`One of its structures has more than ${maxArrays} fields.`);
    const names = Array.from({ length: Math.floor(bytes.length / length) }, (_, i) => new TextDecoder().decode(bytes.subarray(i * length, (i + 1) * length)).replace(/\0[^]*$/, ""));
    const count = product(shape);
    if (count === 1) return this.children(e, names.length, (i) => names[i]!, depth);
    return this.children(e, count * names.length, (i) => `(${this.indexOf(Math.floor(i / names.length), shape)}).${names[i % names.length]}`, depth);
  }

  private textItem(name: string, text: string, shape: number[]): Item {
    const letters = Array.from(text);
    const rows = shape[0] ?? 0;
    const columns = Math.min(product(shape.slice(1)), Math.ceil(letters.length / Math.max(1, rows)));
    const lines = Array.from({ length: Math.min(rows, text.length) }, (_, r) => Array.from({ length: columns }, (_, c) => letters[c * rows + r] ?? "").join("").trimEnd());
    return { name, about: `text, ${shapeText(shape)}`, shape: [lines.length], id: this.hold(lines, [lines.length]) };
  }

  private sparse(e: Elements, name: string, about: string, complex: boolean): Item {
    const [rows, starts] = [e.numbers(), e.numbers()];
    const parts = complex ? [e.numbers(), e.numbers()] : [e.numbers()];
    const columns = ["row", "column", "value", ...(complex ? ["imaginary"] : [])];
    const most = Math.min(rows.length, parts[0]!.length);
    if (most * columns.length * 8 > maxVariable) return { name, about, why: `Its values would need more than ${maxVariable / MiB} MiB.` };
    const cells = new Float64Array(most * columns.length);
    let at = 0; // the column of each value
    for (let column = 0; column + 1 < starts.length; column++) {
      for (const end = Math.min(Number(starts[column + 1]), most); at < end; at++) cells.set([Number(rows[at]) + 1, column + 1, ...parts.map((p) => Number(p[at]))], at * columns.length);
    }
    const shape = [at, columns.length];
    return { name, about, shape, columns, id: this.hold(cells, shape, stridesOf(shape, 1)) };
  }

  slice(s: Selection): Part {
    const { values, shape, strides } = this.held[s.id]!;
    return partOf(values, shape, s, strides);
  }
}

serve(async (input) => {
  const bytes = await whole(input);
  if (bytes.length < 136) throw new Refused("Its header is not complete.");
  const little = bytes[126] === 0x49; // "IM"
  const variables = new Variables();
  const items: Item[] = [];
  const top = new Elements(bytes.subarray(128), little);
  while (!top.ended) {
    let element = top.next();
    if (element.type === 15) element = new Elements(await inflate(element.bytes, "deflate", maxVariable), little).next();
    if (element.type === 14) items.push(variables.item(new Elements(element.bytes, little), "", 0));
  }
  // skips unnamed variables, which MATLAB uses for its objects
  const named = items.filter((i) => i.name !== "?");
  const about = new TextDecoder("latin1").decode(bytes.subarray(0, 116)).replace(/\0[^]*$/, "").trim();
  return { content: { view: "tree", about, attributes: [], items: named }, slice: async (s) => variables.slice(s) };
});

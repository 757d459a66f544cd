// Compressed FITS images: each tile is a row of a table.
import type { Part, Selection } from "../../sight/messages";
import { checkSelection, product, stridesOf, type Type, types } from "../lib/arrays";
import { inflate } from "../lib/inflate";
import { type Input, maxBytes, MiB, Refused } from "../lib/serve";
import { unHCompress } from "./hcompress";
import { unPLIO, unRice } from "./integers";

/** The header of a compressed image. */
export interface Cards {
  number(key: string, otherwise?: number): number;
  text(key: string): string;
}

/** Limits: bytes that one slice unpacks, and cached tiles. */
const maxUnpacked = 256 * MiB;
const maxKept = 64 * MiB;

const known = ["RICE_1", "RICE_ONE", "GZIP_1", "GZIP_2", "PLIO_1", "HCOMPRESS_1", "NOCOMPRESS"];

const typeOf: Record<number, Type> = { 8: types.uint8, 16: types.int16, 32: types.int32, 64: types.int64, [-32]: types.float32, [-64]: types.float64 };

/** Bytes of a value of a column. */
const sizes: Record<string, number> = { L: 1, B: 1, I: 2, J: 4, K: 8, A: 1, E: 4, D: 8, C: 8, M: 16, P: 8, Q: 16 };

interface Column {
  at: number;
  code: string;
}

/** The first axis varies slowest, as elsewhere in this package. */
export class Tiles {
  readonly shape: number[];
  readonly type: Type;
  readonly algorithm: string;
  /** The reason why it cannot be read; "" if it can. */
  readonly why: string = "";
  private readonly tile: number[];
  private readonly columns = new Map<string, Column>();
  private readonly rowBytes: number;
  private readonly heap: number;
  private readonly kept = new Map<number, Promise<Uint8Array>>();
  private random: Float32Array | undefined;

  constructor(
    private readonly input: Input,
    private readonly cards: Cards,
    private readonly offset: number,
  ) {
    const axes = Array.from({ length: Math.min(999, cards.number("ZNAXIS")) }, (_, i) => cards.number(`ZNAXIS${i + 1}`));
    this.shape = [...axes].reverse();
    this.tile = axes.map((n, i) => Math.min(n, cards.number(`ZTILE${i + 1}`, i ? 1 : n))).reverse();
    this.type = typeOf[cards.number("ZBITPIX")] ?? types.uint8;
    this.algorithm = cards.text("ZCMPTYPE");
    this.rowBytes = cards.number("NAXIS1");
    this.heap = offset + cards.number("THEAP", this.rowBytes * cards.number("NAXIS2"));
    let at = 0;
    for (let n = 1; n <= Math.min(99, cards.number("TFIELDS")); n++) {
      const [, repeat = "", code = ""] = /^ *(\d*)([A-Z])/.exec(cards.text(`TFORM${n}`)) ?? [];
      this.columns.set(cards.text(`TTYPE${n}`).toUpperCase(), { at, code });
      at += (repeat === "" ? 1 : Number(repeat)) * (sizes[code] ?? 0);
    }
    const smooth = this.parameter("SMOOTH", 0);
    if (!axes.length || this.tile.some((n) => !(n > 0))) this.why = "The sizes of its tiles are not valid.";
    else if (!known.includes(this.algorithm)) this.why = `It is compressed by ${this.algorithm || "an unknown algorithm"}, which is not supported.`;
    else if (smooth && this.algorithm === "HCOMPRESS_1") this.why = "It requires smoothing during decompression, which is not supported.";
    else if (cards.text("ZMASKCMP")) this.why = "It has a mask of missing values, which is not supported.";
    else if (product(this.tile) * this.type.size > maxBytes) this.why = `A tile of it has more than ${maxBytes / MiB} MiB.`;
  }

  private parameter(name: string, otherwise: number): number {
    for (let n = 1; n < 20; n++) if (this.cards.text(`ZNAME${n}`) === name) return this.cards.number(`ZVAL${n}`, otherwise);
    return otherwise;
  }

  /** The bytes of a variable-length column in a row; empty without such a column. */
  private async bytes(row: DataView, name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const column = this.columns.get(name);
    if (!column) return undefined;
    const isLong = column.code === "Q";
    const [count, from] = isLong ? [Number(row.getBigUint64(column.at)), Number(row.getBigUint64(column.at + 8))] : [row.getUint32(column.at), row.getUint32(column.at + 4)];
    const form = this.cards.text(`TFORM${[...this.columns.keys()].indexOf(name) + 1}`);
    const size = sizes[/[PQ]([A-Z])/.exec(form)?.[1] ?? "B"] ?? 1;
    if (!count) return undefined;
    const found = await this.input.read(this.heap + from, count * size);
    if (found.length < count * size) throw new Refused("The file ends before this image does.");
    return found;
  }

  private double(row: DataView, name: string, otherwise: number): number {
    const column = this.columns.get(name);
    if (!column) return this.cards.number(name, otherwise);
    return column.code === "E" ? row.getFloat32(column.at) : column.code === "J" ? row.getInt32(column.at) : row.getFloat64(column.at);
  }

  /** The values of a tile in the byte order of this machine. */
  private async unpack(index: number, count: number): Promise<Uint8Array> {
    const bytes = await this.input.read(this.offset + index * this.rowBytes, this.rowBytes);
    if (bytes.length < this.rowBytes) throw new Refused("The file ends before this image does.");
    const row = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const values = this.type.holder(count) as Float64Array;
    const done = () => new Uint8Array(values.buffer);
    const plain = (from: Uint8Array, type: Type) => {
      if (from.length < count * type.size) throw new Refused("A compressed part of the file is damaged.");
      const view = new DataView(from.buffer, from.byteOffset, from.byteLength);
      return (i: number) => type.read(view, i * type.size, false) as number;
    };
    const packed = await this.bytes(row, "COMPRESSED_DATA");
    if (!packed) {
      const zipped = await this.bytes(row, "GZIP_COMPRESSED_DATA");
      const raw = zipped ? await inflate(zipped, "gzip", count * this.type.size) : await this.bytes(row, "UNCOMPRESSED_DATA");
      const read = plain(raw ?? new Uint8Array(0), this.type);
      for (let i = 0; i < count; i++) values[i] = read(i);
      return done();
    }
    const isFloat = this.type === types.float32 || this.type === types.float64;
    const isQuantised = isFloat && (this.columns.has("ZSCALE") || this.cards.text("ZSCALE") !== "") && this.cards.text("ZQUANTIZ") !== "NONE";
    const read = await this.integers(packed, count, isQuantised ? types.int32 : this.type, plain);
    if (isQuantised) this.restore(read, values, row, index);
    else for (let i = 0; i < count; i++) values[i] = read(i);
    return done();
  }

  /** The values of a tile before scaling. */
  private async integers(packed: Uint8Array<ArrayBuffer>, count: number, type: Type, plain: (from: Uint8Array, type: Type) => (i: number) => number) {
    const of = (all: Int32Array) => (i: number) => all[i]!;
    if (this.algorithm === "NOCOMPRESS") return plain(packed, type);
    if (this.algorithm.startsWith("RICE")) return of(unRice(packed, count, this.parameter("BYTEPIX", 4), this.parameter("BLOCKSIZE", 32)));
    if (this.algorithm === "PLIO_1") return of(unPLIO(packed, count));
    if (this.algorithm === "HCOMPRESS_1") return of(unHCompress(packed, count));
    const bytes = await inflate(packed, "gzip", count * Math.max(4, type.size));
    // some programs widen them for this
    if (this.algorithm === "GZIP_1") return plain(bytes, type.size < 4 && bytes.length === 4 * count ? types.int32 : type);
    // the first bytes of all values come first, then the second bytes
    const joined = new Uint8Array(bytes.length);
    for (let i = 0; i < count; i++) for (let b = 0; b < type.size; b++) joined[i * type.size + b] = bytes[b * count + i]!;
    return plain(joined, type);
  }

  /** Scales integers that stand for floats with known dither noise. */
  private restore(read: (i: number) => number, values: Float64Array, row: DataView, index: number) {
    const [scale, zero] = [this.double(row, "ZSCALE", 1), this.double(row, "ZZERO", 0)];
    const blank = this.double(row, "ZBLANK", -2147483647);
    const method = /SUBTRACTIVE_DITHER_([12])/.exec(this.cards.text("ZQUANTIZ"))?.[1];
    const noise = method ? new Noise((this.random ??= randomTable()), index + this.cards.number("ZDITHER0", 1) - 1) : undefined;
    for (let i = 0; i < values.length; i++) {
      const value = read(i);
      const shift = noise ? 0.5 - noise.next() : 0;
      values[i] = value === blank ? NaN : method === "2" && value === -2147483646 ? 0 : (value + shift) * scale + zero;
    }
  }

  private load(index: number, count: number): Promise<Uint8Array> {
    let found = this.kept.get(index);
    if (!found) {
      found = this.unpack(index, count);
      this.kept.set(index, found);
      while (this.kept.size > Math.max(1, maxKept / (product(this.tile) * this.type.size + 512))) this.kept.delete(this.kept.keys().next().value!);
    }
    return found;
  }

  async read(s: Selection, as: Type): Promise<Part> {
    const { shape, tile } = this;
    checkSelection(shape, s);
    const axis = (dimension: number, at: 0 | 1) => {
      if (dimension < 0) return { from: 0, step: 1, taken: 1 };
      const from = Math.min(Math.max(0, s.from[at]), shape[dimension]! - 1);
      const count = Math.min(s.count[at], shape[dimension]! - from);
      const step = Math.max(1, Math.ceil(count / s.most[at]));
      return { from, step, taken: Math.ceil(count / step) };
    };
    const [rows, columns] = [axis(s.rows, 0), axis(s.columns, 1)];
    const across = shape.map((n, i) => Math.ceil(n / tile[i]!));
    const order = stridesOf(across, 1);
    const values = as.holder(rows.taken * columns.taken);
    /** The selected indices of an axis, grouped by tile. */
    const groups = (a: typeof rows, dimension: number) => {
      const all = new Map<number, number[]>();
      for (let i = 0; i < a.taken; i++) {
        const at = dimension < 0 ? 0 : Math.floor((a.from + i * a.step) / tile[dimension]!);
        const found = all.get(at);
        if (found) found.push(i);
        else all.set(at, [i]);
      }
      return all;
    };
    const [down, right] = [groups(rows, s.rows), groups(columns, s.columns)];
    if (down.size * right.size * product(tile) * this.type.size > maxUnpacked) throw new Refused(`This slice has more than ${maxUnpacked / MiB} MiB. Look at a smaller one, such as a line or the table.`);
    for (const [r, ofRows] of down) {
      for (const [c, ofColumns] of right) {
        const at = shape.map((_, i) => (i === s.rows ? r : i === s.columns ? c : Math.floor(s.fixed[i]! / tile[i]!)));
        const size = tile.map((n, i) => Math.min(n, shape[i]! - at[i]! * n));
        const bytes = await this.load(at.reduce((n, i, d) => n + i * order[d]!, 0), product(size));
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        const strides = stridesOf(size, this.type.size);
        const base = strides.reduce((n, stride, d) => n + (d === s.rows || d === s.columns ? 0 : stride * (s.fixed[d]! - at[d]! * tile[d]!)), 0);
        for (const i of ofRows) {
          const row = s.rows < 0 ? 0 : (rows.from + i * rows.step - r * tile[s.rows]!) * strides[s.rows]!;
          for (const j of ofColumns) {
            const column = s.columns < 0 ? 0 : (columns.from + j * columns.step - c * tile[s.columns]!) * strides[s.columns]!;
            values[i * columns.taken + j] = as.read(view, base + row + column, true) as never;
          }
        }
      }
    }
    return { values, height: rows.taken, width: columns.taken, step: [rows.step, columns.step] };
  }
}

/** The random numbers that the convention prescribes (Park and Miller). */
const numbers = 10_000;

function randomTable(): Float32Array {
  const table = new Float32Array(numbers);
  let seed = 1;
  for (let i = 0; i < numbers; i++) {
    seed = (16807 * seed) % 2147483647;
    table[i] = seed / 2147483647;
  }
  return table;
}

class Noise {
  private start: number;
  private at: number;

  constructor(
    private readonly table: Float32Array,
    seed: number,
  ) {
    this.start = ((seed % numbers) + numbers) % numbers;
    this.at = Math.floor(this.table[this.start]! * 500);
  }

  next(): number {
    const value = this.table[this.at++]!;
    if (this.at === numbers) {
      this.start = (this.start + 1) % numbers;
      this.at = Math.floor(this.table[this.start]! * 500);
    }
    return value;
  }
}

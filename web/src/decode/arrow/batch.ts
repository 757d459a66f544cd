// A batch of Arrow: values of a column by ranges of its buffers.
import { decompress as unzstd } from "fzstd";
import { bigEndian, dateText, decimalText, hexText, longestCell, type Plain, single, timestampText, timeText, utf8Text } from "../lib/cells";
import * as lz4 from "../lib/lz4";
import { type Input, maxBytes, MiB, Refused } from "../lib/serve";
import type { Table } from "./flatbuffer";
import { type Column, type Field, unitName } from "./schema";

/** The maximum size of the cache of unpacked buffers, in bytes. */
const kept = new Map<number, Promise<Uint8Array>>();
let keptBytes = 0;

const unpackers = [lz4.frame, (packed: Uint8Array, length: number) => unzstd(packed, new Uint8Array(length))];

async function unpacked(input: Input, at: number, bytes: number, codec: number): Promise<Uint8Array> {
  if (bytes > maxBytes) throw new Refused(`A compressed part of the file has more than ${maxBytes / MiB} MiB.`);
  const all = await input.read(at, bytes);
  const length = Number(new DataView(all.buffer, all.byteOffset, all.byteLength).getBigInt64(0, true));
  if (length === -1) return all.subarray(8);
  if (!(length >= 0 && length <= maxBytes)) throw new Refused(`A part of it unpacks to more than ${maxBytes / MiB} MiB.`);
  const unpacker = unpackers[codec];
  if (!unpacker) throw new Refused("Its compression method is not known.");
  const made = unpacker(all.subarray(8), length);
  if (made.length !== length) throw new Refused("A compressed part of the file is damaged.");
  return made;
}

/** The maximum number of values of one level per read. */
const maxValues = 4 << 20;

export class Batch {
  readonly length: number;
  private readonly nodes: number[];
  private readonly buffers: number[];
  private readonly codec: number;
  private readonly end: number;
  readonly variadic: number[];

  constructor(
    private readonly input: Input,
    header: Table,
    private readonly body: { at: number; bytes: number; codec: string },
    private readonly dictionary: (field: Field) => Promise<Plain[]>,
  ) {
    this.length = Number(header.long(0));
    this.nodes = header.longs(1, 2);
    this.buffers = header.longs(2, 2);
    this.codec = header.table(3)?.byte(0) ?? ["lz4", "zstd"].indexOf(body.codec.toLowerCase());
    this.variadic = header.longs(4);
    this.end = body.at + body.bytes;
    if (!(this.length >= 0 && Number.isSafeInteger(this.length))) throw new Refused("A batch has a number of rows that is not valid.");
  }

  /** Bytes of a buffer. */
  private async bytes(index: number, start: number, length: number): Promise<Uint8Array> {
    const [offset, size] = [this.buffers[2 * index], this.buffers[2 * index + 1]];
    if (offset === undefined || size === undefined) throw new Refused("A batch has fewer buffers than its schema requires.");
    const at = this.body.at + offset;
    if (!(offset >= 0 && size >= 0 && at + size <= this.end)) throw new Refused("A batch refers to bytes outside of it.");
    if (length > maxBytes) throw new Refused(`These values have more than ${maxBytes / MiB} MiB.`);
    if (this.codec < 0 || size === 0) {
      if (start + length > size) throw new Refused("A column ends before its batch does.");
      return this.input.read(at + start, length);
    }
    let whole = kept.get(at);
    if (!whole) {
      whole = unpacked(this.input, at, size, this.codec);
      keep(at, whole);
    }
    const found = (await whole).subarray(start, start + length);
    if (found.length < length) throw new Refused("A column ends before its batch does.");
    return found;
  }

  private async view(index: number, start: number, length: number): Promise<DataView> {
    const bytes = await this.bytes(index, start, length);
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  private async bits(index: number, from: number, to: number): Promise<boolean[]> {
    const bytes = await this.bytes(index, from >> 3, ((to + 7) >> 3) - (from >> 3));
    return Array.from({ length: to - from }, (_, i) => ((bytes[((from + i) >> 3) - (from >> 3)]! >> ((from + i) & 7)) & 1) === 1);
  }

  /** Values of a column. */
  async values(column: Column, from: number, to: number): Promise<Plain[]> {
    if (!(from >= 0 && to >= from && to <= this.nodes[2 * column.node]!)) throw new Refused("A column has fewer values than its batch.");
    if (to - from > maxValues) throw new Refused(`These rows have more than ${maxValues} nested values.`);
    const { field } = column;
    if (from === to) return [];
    if (field.kind === "union") return this.union(column, from, to);
    if (field.kind === "null") return new Array<Plain>(to - from).fill(null);
    if (field.kind === "runs" && !field.index) return this.runs(column, from, to);
    const nulls = this.nodes[2 * column.node + 1] !== 0 && this.buffers[2 * column.buffer + 1] !== 0;
    const present = nulls ? await this.bits(column.buffer, from, to) : undefined;
    const values = field.index ? await this.indexed(column, from, to) : await this.stored(column, from, to);
    return present ? values.map((value, i) => (present[i] ? value : null)) : values;
  }

  private stored(column: Column, from: number, to: number): Promise<Plain[]> {
    const { kind } = column.field;
    if (kind === "utf8" || kind === "binary") return this.texts(column, from, to);
    if (kind === "view") return this.views(column, from, to);
    if (kind === "bool") return this.bits(column.buffer + 1, from, to);
    if (kind === "struct") return this.structs(column, from, to);
    if (kind === "list" || kind === "map" || kind === "listview" || kind === "fixedlist") return this.lists(column, from, to);
    return this.fixed(column, from, to);
  }

  private async fixed({ field, buffer }: Column, from: number, to: number): Promise<Plain[]> {
    const view = await this.view(buffer + 1, from * field.size, (to - from) * field.size);
    return Array.from({ length: to - from }, (_, i) => fixedValue(field, view, i * field.size));
  }

  private async indexed(column: Column, from: number, to: number): Promise<Plain[]> {
    const { size, signed } = column.field.index!;
    const view = await this.view(column.buffer + 1, from * size, (to - from) * size);
    const values = await this.dictionary(column.field);
    return Array.from({ length: to - from }, (_, i) => values[Number(integer(view, i * size, size, signed))] ?? null);
  }

  /** The ranges of values, from the buffer of offsets. */
  private async offsets({ field, buffer }: Column, from: number, to: number): Promise<number[]> {
    const view = await this.view(buffer + 1, from * field.size, (to - from + 1) * field.size);
    const all = Array.from({ length: to - from + 1 }, (_, i) => Number(integer(view, i * field.size, field.size, true)));
    if (all.some((n, i) => !(n >= (all[i - 1] ?? 0)))) throw new Refused("A column has offsets that are not valid.");
    return all;
  }

  private async texts(column: Column, from: number, to: number): Promise<Plain[]> {
    const offsets = await this.offsets(column, from, to);
    const bytes = await this.bytes(column.buffer + 2, offsets[0]!, offsets.at(-1)! - offsets[0]!);
    return Array.from({ length: to - from }, (_, i) => bytesValue(column.field, bytes.subarray(offsets[i]! - offsets[0]!, offsets[i + 1]! - offsets[0]!)));
  }

  private async views(column: Column, from: number, to: number): Promise<Plain[]> {
    const view = await this.view(column.buffer + 1, from * 16, (to - from) * 16);
    const values: Plain[] = [];
    for (let i = 0; i < to - from; i++) {
      const length = view.getInt32(16 * i, true);
      const inline = new Uint8Array(view.buffer, view.byteOffset + 16 * i + 4, 12);
      const other = view.getInt32(16 * i + 8, true);
      if (length > 12 && !(other >= 0 && other < column.buffers - 2)) throw new Refused("A column has views that are not valid.");
      const bytes = length > 12 ? await this.bytes(column.buffer + 2 + other, view.getInt32(16 * i + 12, true), Math.min(length, 4 * longestCell)) : inline.subarray(0, length);
      values.push(bytesValue(column.field, bytes));
    }
    return values;
  }

  private async structs(column: Column, from: number, to: number): Promise<Plain[]> {
    const children: Plain[][] = [];
    for (const child of column.children) children.push(await this.values(child, from, to));
    return Array.from({ length: to - from }, (_, i) => Object.fromEntries(column.children.map((child, c) => [child.field.name, children[c]![i]!])));
  }

  /** The range of each list among the values of the child. */
  private async spans(column: Column, from: number, to: number): Promise<[number, number][]> {
    const { field, buffer } = column;
    if (field.kind === "fixedlist") return Array.from({ length: to - from }, (_, i) => [(from + i) * field.length, (from + i + 1) * field.length]);
    if (field.kind !== "listview") {
      const offsets = await this.offsets(column, from, to);
      return Array.from({ length: to - from }, (_, i) => [offsets[i]!, offsets[i + 1]!]);
    }
    const [starts, sizes] = [await this.view(buffer + 1, from * field.size, (to - from) * field.size), await this.view(buffer + 2, from * field.size, (to - from) * field.size)];
    return Array.from({ length: to - from }, (_, i) => {
      const start = Number(integer(starts, i * field.size, field.size, true));
      return [start, start + Number(integer(sizes, i * field.size, field.size, true))];
    });
  }

  private async lists(column: Column, from: number, to: number): Promise<Plain[]> {
    const spans = await this.spans(column, from, to);
    const total = spans.reduce((n, [a, b]) => n + Math.max(0, b - a), 0);
    if (!(total <= maxValues)) throw new Refused(`These rows have more than ${maxValues} nested values.`);
    const child = column.children[0];
    if (!child) throw new Refused("A list has no values.");
    const filled = spans.filter(([a, b]) => b > a);
    const first = filled.reduce((n, [a]) => Math.min(n, a), filled[0]?.[0] ?? 0);
    const values = await this.values(child, first, filled.reduce((n, [, b]) => Math.max(n, b), first));
    const lists = spans.map(([a, b]) => values.slice(a - first, b - first));
    if (column.field.kind !== "map") return lists;
    const keys = child.children.map((c) => c.field.name);
    return lists.map((list) => Object.fromEntries(list.map((pair) => [String((pair as Record<string, Plain>)[keys[0]!]), (pair as Record<string, Plain>)[keys[1]!] ?? null])));
  }

  private async union(column: Column, from: number, to: number): Promise<Plain[]> {
    const { field } = column;
    const first = column.buffer + column.buffers - (field.dense ? 2 : 1);
    const types = await this.view(first, from, to - from);
    const offsets = field.dense ? await this.view(first + 1, 4 * from, 4 * (to - from)) : undefined;
    const values: Plain[] = [];
    for (let i = 0; i < to - from; i++) {
      const type = types.getInt8(i);
      const child = column.children[field.ids.length ? field.ids.indexOf(type) : type];
      if (!child) throw new Refused("A union has a value of an undeclared type.");
      const at = offsets ? offsets.getInt32(4 * i, true) : from + i;
      values.push(...(await this.values(child, at, at + 1)));
    }
    return values;
  }

  private async runs(column: Column, from: number, to: number): Promise<Plain[]> {
    const [ends, values] = column.children;
    if (!ends || !values) throw new Refused("A column of runs is not complete.");
    const runs = this.nodes[2 * ends.node]!;
    const found: Plain[] = [];
    let low = 0;
    for (let high = runs; low < high; ) {
      const middle = (low + high) >> 1;
      if (Number((await this.values(ends, middle, middle + 1))[0]) > from) high = middle;
      else low = middle + 1;
    }
    for (let run = low; run < runs && found.length < to - from; run++) {
      const end = Number((await this.values(ends, run, run + 1))[0]);
      const [value] = await this.values(values, run, run + 1);
      while (found.length < Math.min(to, end) - from) found.push(value!);
    }
    if (found.length < to - from) throw new Refused("A column ends before its batch does.");
    return found;
  }
}

function keep(at: number, whole: Promise<Uint8Array>) {
  kept.set(at, whole);
  void whole.then((bytes) => {
    keptBytes += bytes.length;
    for (const [key, old] of kept) {
      if (keptBytes <= maxBytes || key === at) break;
      kept.delete(key);
      void old.then((gone) => void (keptBytes -= gone.length));
    }
  }, () => kept.delete(at));
}

function integer(view: DataView, at: number, size: number, signed: boolean): number | bigint {
  if (size === 1) return signed ? view.getInt8(at) : view.getUint8(at);
  if (size === 2) return signed ? view.getInt16(at, true) : view.getUint16(at, true);
  if (size === 4) return signed ? view.getInt32(at, true) : view.getUint32(at, true);
  if (size === 8) return signed ? view.getBigInt64(at, true) : view.getBigUint64(at, true);
  throw new Refused(`Its integers have ${8 * size} bits, which Arrow does not define.`);
}

function floating(view: DataView, at: number, size: number): number {
  if (size === 8) return view.getFloat64(at, true);
  if (size === 4) return single(view.getFloat32(at, true));
  const bits = view.getUint16(at, true);
  const [exponent, part] = [(bits >> 10) & 31, bits & 1023];
  const value = exponent === 31 ? (part ? NaN : Infinity) : exponent ? (1 + part / 1024) * 2 ** (exponent - 15) : part * 2 ** -24;
  return bits & 0x8000 ? -value : value;
}

function fixedValue(field: Field, view: DataView, at: number): Plain {
  const whole = () => BigInt(integer(view, at, field.size, true));
  if (field.kind === "int") return integer(view, at, field.size, field.signed);
  if (field.kind === "float") return floating(view, at, field.size);
  if (field.kind === "date") return dateText(Math.floor(Number(whole()) / Number(field.per)));
  if (field.kind === "time") return timeText(whole(), field.per);
  if (field.kind === "timestamp") return timestampText(whole(), field.per, field.utc);
  if (field.kind === "duration") return `${whole()} ${unitName(field)}`;
  const bytes = new Uint8Array(view.buffer, view.byteOffset + at, field.size);
  if (field.kind === "decimal") return decimalText(bigEndian(bytes.slice().reverse()), field.scale);
  if (field.kind === "fixed") return hexText(bytes);
  if (field.size === 4) return `${view.getInt32(at, true)} months`;
  if (field.size === 8) return `${view.getInt32(at, true)} days ${view.getInt32(at + 4, true)} ms`;
  return `${view.getInt32(at, true)} months ${view.getInt32(at + 4, true)} days ${view.getBigInt64(at + 8, true)} ns`;
}

function bytesValue(field: Field, bytes: Uint8Array): Plain {
  if (field.text) return utf8Text(bytes);
  const text = utf8Text(bytes);
  return /[\0-\x08\x0e-\x1f\x7f\ufffd]/.test(text) ? hexText(bytes) : text;
}

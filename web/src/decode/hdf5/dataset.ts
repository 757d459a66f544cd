// HDF5 datasets: slices of their values, read from contiguous storage or from chunks.
import type { Part, Selection, Values } from "../../sight/messages";
import { checkSelection, readPart, stridesOf, type Type } from "../lib/arrays";
import { type Packing, unpacked } from "../lib/cf";
import { type Input, maxBytes, MiB, Refused } from "../lib/serve";
import { filterName, type Filter, filtersOf, indexedLayout, known, type Layout, treeLayout, unpack } from "./chunks";
import { type File, nowhere } from "./file";
import type { Message, Space } from "./objects";
import type { DataType } from "./types";

/** Values as stored in the file. */
type Cells = Uint8Array<ArrayBuffer>[];

/** A type that keeps the bytes of a value. */
const rawType = (size: number): Type => ({
  name: "bytes",
  size,
  read: (v, at) => new Uint8Array(v.buffer as ArrayBuffer, v.byteOffset + at, size) as never,
  holder: () => [],
});

export interface Dataset {
  shape: number[];
  type: DataType;
  /** The reason why its values cannot be read. */
  why?: string;
  packing?: Packing | undefined;
  read: (s: Selection, type: Type) => Promise<Part>;
}

/** Limits: bytes that one slice unpacks, and cached chunks. */
const maxUnpacked = 256 * MiB;
const maxKept = 64 * MiB;

/** The approximate overhead of a cached chunk in bytes. */
const overhead = 512;

const fillOf = (messages: Message[], size: number): Uint8Array<ArrayBuffer> => {
  const found = messages.find((m) => m.kind === 5)?.body;
  if (!found) return new Uint8Array(size);
  const version = found.uint(1);
  if (version === 3) {
    const flags = found.uint(1);
    return flags & 0x20 && found.uint(4) === size ? found.take(size) : new Uint8Array(size);
  }
  found.skip(2);
  const defined = found.uint(1);
  return (version === 1 || defined) && found.uint(4) === size ? found.take(size) : new Uint8Array(size);
};

export function datasetOf(file: File, input: Input, messages: Message[], space: Space, type: DataType): Dataset {
  const { shape } = space;
  const c = messages.find((m) => m.kind === 8)?.body;
  if (!c) throw new Refused("It has no layout.");
  const filters = filtersOf(messages.find((m) => m.kind === 11)?.body);
  const unknown = filters.find((f) => !known(f));
  if (unknown) return { shape, type, why: `Its values are compressed by ${filterName(unknown)}, which is not supported.`, read: refuse };
  const fill = fillOf(messages, type.size);
  const version = c.uint(1);
  let dimensions = 0;
  if (version < 3) dimensions = c.uint(1);
  const kind = c.uint(1);
  if (version < 3) c.skip(5);
  const contiguous = (from: Input, address: number): Dataset => ({
    shape, type,
    read: (s, as) => readPart(from, { offset: address, shape, strides: stridesOf(shape, type.size), type: as, little: type.little }, s),
  });
  if (kind === 0) {
    if (version < 3) c.skip(4 * dimensions);
    const bytes = c.take(c.uint(version < 3 ? 4 : 2));
    return contiguous({ name: "", bytes: bytes.length, read: async (start, length) => bytes.slice(start, start + length) }, 0);
  }
  if (kind === 1) {
    const address = c.address();
    return address === nowhere ? contiguous(filled(fill), 0) : contiguous(input, file.base + address);
  }
  if (kind !== 2) return { shape, type, why: "Its values are in other datasets (a virtual dataset), which is not supported.", read: refuse };
  if (version >= 4) return chunked(file, indexedLayout(file, c, space, filters.length > 0), filters, fill, type);
  if (version === 3) dimensions = c.uint(1);
  const tree = c.address();
  const lengths = Array.from({ length: dimensions }, () => c.uint(4));
  return chunked(file, treeLayout(file, tree, lengths, shape, filters.length > 0), filters, fill, type);
}

const refuse = async () => {
  throw new Refused("Its values are not read here.");
};

/** A file that contains only fill values. */
const filled = (fill: Uint8Array): Input => ({
  name: "",
  bytes: Infinity,
  read: async (start, length) => Uint8Array.from({ length }, (_, i) => fill[(start + i) % fill.length]!),
});

function chunked(file: File, layout: Layout, filters: Filter[], fill: Uint8Array<ArrayBuffer>, type: DataType): Dataset {
  const { shape, dimensions } = layout;
  if (dimensions.length !== shape.length + 1 || dimensions.some((n) => !(n > 0))) throw new Refused("The layout of its chunks is broken.");
  const whole = dimensions.slice(0, -1).reduce((n, m) => n * m, type.size);
  const kept = new Map<number, Promise<Uint8Array<ArrayBuffer>>>();
  const load = (address: number, bytes: number, mask: number) => {
    let found = kept.get(address);
    if (!found) {
      if (!filters.length) bytes = Math.min(bytes, whole);
      if (bytes > maxBytes || whole > maxBytes) throw new Refused(`One of its chunks has more than ${maxBytes / MiB} MiB.`);
      found = file.read(address, bytes).then((packed) => unpack(packed, filters, mask, whole)).then((all) => (all.length > whole ? all.slice(0, whole) : all));
      kept.set(address, found);
      while (kept.size > Math.max(1, maxKept / (whole + overhead))) kept.delete(kept.keys().next().value!);
    }
    return found;
  };
  const read = async (s: Selection, as: Type): Promise<Part> => {
    checkSelection(shape, s);
    const axis = (dimension: number, at: 0 | 1) => {
      if (dimension < 0) return { from: 0, step: 1, taken: 1 };
      const from = Math.min(s.from[at], shape[dimension]! - 1);
      const count = Math.min(s.count[at], shape[dimension]! - from);
      const step = Math.max(1, Math.ceil(count / s.most[at]));
      return { from, step, taken: Math.ceil(count / step) };
    };
    const [rows, columns] = [axis(s.rows, 0), axis(s.columns, 1)];
    const from = shape.map((_, i) => (i === s.rows ? rows.from : i === s.columns ? columns.from : s.fixed[i]!));
    const last = (a: typeof rows) => a.from + (a.taken - 1) * a.step;
    const to = shape.map((_, i) => (i === s.rows ? last(rows) : i === s.columns ? last(columns) : s.fixed[i]!));
    const values = as.holder(rows.taken * columns.taken);
    const fillValue = as.read(new DataView(fill.buffer), 0, type.little);
    for (let i = 0; i < rows.taken * columns.taken; i++) values[i] = fillValue as never;
    const chunks = (await layout.list(from, to)).filter((chunk) => chunk.at.every((n, i) => n <= to[i]! && n + dimensions[i]! > from[i]!));
    if (chunks.length * whole > maxUnpacked) throw new Refused(`This slice has more than ${maxUnpacked / MiB} MiB. Look at a smaller one, such as a line or the table.`);
    const strides = stridesOf(dimensions.slice(0, -1), type.size);
    /** The selected indices of an axis that are in a chunk. */
    const within = (a: typeof rows, dimension: number, at: number[]) => {
      if (dimension < 0) return [0, 0] as const;
      const low = Math.max(0, Math.ceil((at[dimension]! - a.from) / a.step));
      return [low, Math.min(a.taken - 1, Math.floor((at[dimension]! + dimensions[dimension]! - 1 - a.from) / a.step))] as const;
    };
    for (const chunk of chunks) {
      const [r0, r1] = within(rows, s.rows, chunk.at);
      const [c0, c1] = within(columns, s.columns, chunk.at);
      if (r0 > r1 || c0 > c1) continue;
      const bytes = await load(chunk.address, chunk.bytes, chunk.mask);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const base = strides.reduce((n, stride, i) => n + stride * (i === s.rows || i === s.columns ? 0 : s.fixed[i]! - chunk.at[i]!), 0);
      for (let r = r0; r <= r1; r++) {
        const row = s.rows < 0 ? 0 : (rows.from + r * rows.step - chunk.at[s.rows]!) * strides[s.rows]!;
        for (let k = c0; k <= c1; k++) {
          const column = s.columns < 0 ? 0 : (columns.from + k * columns.step - chunk.at[s.columns]!) * strides[s.columns]!;
          values[r * columns.taken + k] = as.read(view, base + row + column, type.little) as never;
        }
      }
    }
    return { values, height: rows.taken, width: columns.taken, step: [rows.step, columns.step] };
  };
  return { shape, type, read };
}

/** A slice whose values are numbers, or texts. */
export async function sliceOf(file: File, set: Dataset, s: Selection): Promise<Part> {
  const { type, members } = set.type;
  if (type) return set.packing && !s.stored ? unpacked(await set.read(s, set.packing.type), set.packing) : set.read(s, type);
  if (!members || set.shape.length !== 1) {
    const part = await set.read(s, rawType(set.type.size));
    return { ...part, values: await texts(part.values as unknown as Cells, (bytes) => set.type.text(file, bytes)) };
  }
  // The members of a compound are columns.
  const line = s.rows < 0;
  const inner: Selection = line
    ? { ...s, fixed: [0], rows: -1, columns: 0 }
    : { ...s, fixed: [0], rows: 0, columns: -1, from: [s.from[0], 0], count: [s.count[0], 1], most: [s.most[0], 1] };
  const part = await set.read(inner, rawType(set.type.size));
  const shown = line ? [members[s.fixed[1]!]!] : members.slice(s.from[1], s.from[1] + Math.min(s.count[1], s.most[1]));
  const values: string[] = [];
  for (const cell of part.values as unknown as Cells) {
    for (const m of shown) values.push(await m.of.text(file, cell.slice(m.offset, m.offset + m.of.size)));
  }
  return line ? { ...part, values } : { values, height: part.height, width: shown.length, step: [part.step[0], 1] };
}

async function texts(cells: Cells, text: (bytes: Uint8Array<ArrayBuffer>) => Promise<string>): Promise<Values> {
  const values: string[] = [];
  for (const cell of cells) values.push(await text(cell.slice()));
  return values;
}

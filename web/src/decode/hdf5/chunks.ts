// Locates the values of a dataset: chunks with their indices, and the filters that unpack them.
import { inflate } from "../lib/inflate";
import { Refused } from "../lib/serve";
import { Cursor, type File, nowhere } from "./file";
import { recordsOf } from "./heaps";
import type { Space } from "./objects";

export interface Chunk {
  address: number;
  bytes: number;
  /** A bit mask of the filters that were skipped. */
  mask: number;
  /** The index of its first value. */
  at: number[];
}

export interface Filter {
  id: number;
  name: string;
  values: number[];
}

export function filtersOf(c: Cursor | undefined): Filter[] {
  if (!c) return [];
  const version = c.uint(1);
  const count = c.uint(1);
  if (version === 1) c.skip(6);
  return Array.from({ length: count }, () => {
    const id = c.uint(2);
    const nameLength = version === 1 || id >= 256 ? c.uint(2) : 0;
    c.skip(2);
    const values = c.uint(2);
    const name = c.text(version === 1 ? Math.ceil(nameLength / 8) * 8 : nameLength);
    const filter = { id, name, values: Array.from({ length: values }, () => c.uint(4)) };
    if (version === 1 && values % 2) c.skip(4);
    return filter;
  });
}

const names: Record<number, string> = { 4: "szip", 5: "n-bit", 6: "scale-offset", 32001: "Blosc", 32004: "LZ4", 32008: "bitshuffle", 32013: "ZFP", 32015: "Zstandard", 32026: "Blosc 2" };

export const known = ({ id }: Filter) => [1, 2, 3, 32000].includes(id);
export const filterName = ({ id, name }: Filter) => names[id] ?? (name || String(id));

/** Undoes the filters of a chunk, last filter first. */
export async function unpack(bytes: Uint8Array<ArrayBuffer>, filters: Filter[], mask: number, size: number): Promise<Uint8Array<ArrayBuffer>> {
  for (let i = filters.length - 1; i >= 0; i--) {
    if (mask & (1 << i)) continue;
    const { id, values } = filters[i]!;
    if (id === 1) bytes = await inflate(bytes, "deflate", size + 64);
    else if (id === 2) bytes = unshuffle(bytes, values[0] ?? 1);
    else if (id === 3) bytes = bytes.slice(0, -4);
    else bytes = unLZF(bytes, size);
  }
  return bytes;
}

function unshuffle(bytes: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> {
  const count = Math.floor(bytes.length / size);
  const out = bytes.slice();
  for (let b = 0; b < size; b++) for (let i = 0; i < count; i++) out[i * size + b] = bytes[b * count + i]!;
  return out;
}

function unLZF(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(size);
  let to = 0;
  for (let at = 0; at < bytes.length; ) {
    const control = bytes[at++]!;
    if (control < 32) {
      out.set(bytes.subarray(at, at + control + 1), to);
      at += control + 1;
      to += control + 1;
      continue;
    }
    let length = control >> 5;
    if (length === 7) length += bytes[at++]!;
    const from = to - ((control & 31) << 8) - bytes[at++]! - 1;
    if (from < 0 || to + length + 2 > size) throw new Refused("A compressed part of the file is damaged.");
    for (let i = 0; i < length + 2; i++) out[to + i] = out[from + i]!;
    to += length + 2;
  }
  return out;
}

/** The maximum number of chunks of an index. */
const maxChunks = 200_000;

export interface Layout {
  /** The dimensions of a chunk; the last one is the size of a value. */
  dimensions: number[];
  shape: number[];
  filtered: boolean;
  /** Lists the chunks that can have values between two indices. */
  list: (from: number[], to: number[]) => Promise<Chunk[]>;
}

/** The layout of chunks in a message of version 1 to 3. */
export function treeLayout(file: File, address: number, dimensions: number[], shape: number[], filtered: boolean): Layout {
  const keyBytes = 8 + 8 * dimensions.length;
  const before = (a: number[], b: number[]) => {
    for (let i = 0; i < shape.length; i++) if (a[i] !== b[i]) return a[i]! < b[i]!;
    return false;
  };
  const list: Layout["list"] = async (from, to) => {
    const chunks: Chunk[] = [];
    const first = from.map((n, i) => n - (n % dimensions[i]!));
    const walk = async (at: number, depth: number) => {
      if (depth > 32) throw new Refused("The index of its chunks is broken.");
      const head = (await file.cursor(at, 24)).expect("TREE").skip(1);
      const level = head.uint(1);
      const count = head.uint(2);
      const c = (await file.cursor(at, 8 + 2 * file.offsetSize + count * (keyBytes + file.offsetSize) + keyBytes)).skip(8 + 2 * file.offsetSize);
      const keys: Chunk[] = [];
      for (let i = 0; i <= count; i++) {
        const [bytes, mask] = [c.uint(4), c.uint(4)];
        const index = dimensions.map(() => c.uint(8)).slice(0, -1);
        keys.push({ bytes, mask, at: index, address: i < count ? c.address() : nowhere });
      }
      for (let i = 0; i < count; i++) {
        if (before(to, keys[i]!.at) || (level && before(keys[i + 1]!.at, first))) continue;
        if (level) await walk(keys[i]!.address, depth + 1);
        else chunks.push(keys[i]!);
        if (chunks.length > maxChunks) throw new Refused(`It has more than ${maxChunks} chunks.`);
      }
    };
    if (address !== nowhere) await walk(address, 0);
    return chunks;
  };
  return { dimensions, shape, filtered, list };
}

/** The layout of chunks in a message of version 4, at its flags. */
export function indexedLayout(file: File, c: Cursor, { shape, limits }: Space, filtered: boolean): Layout {
  const flags = c.uint(1);
  const count = c.uint(1);
  const encoded = c.uint(1);
  const dimensions = Array.from({ length: count }, () => c.uint(encoded));
  const whole = dimensions.reduce((n, m) => n * m, 1);
  const kind = c.uint(1);
  const base = { dimensions, shape, filtered };
  if (kind === 1) {
    const bytes = flags & 2 ? c.length() : whole;
    const mask = flags & 2 ? c.uint(4) : 0;
    const address = c.address();
    return { ...base, list: async () => (address === nowhere ? [] : [{ address, bytes, mask, at: shape.map(() => 0) }]) };
  }
  // Chunks are numbered in the grid of the maximum extent; an unlimited dimension varies slowest.
  const grid = limits.map((n, i) => Math.ceil(n / dimensions[i]!));
  const order = [...grid.keys()].sort((a, b) => Number(grid[b] === Infinity) - Number(grid[a] === Infinity) || a - b);
  const place = (n: number) => {
    const at = grid.map(() => 0);
    for (const i of order.toReversed()) {
      at[i] = (grid[i] === Infinity ? n : n % grid[i]!) * dimensions[i]!;
      n = Math.floor(n / grid[i]!);
    }
    return at;
  };
  const total = grid.reduce((n, m) => n * m, 1);
  if (!(kind >= 2 && kind <= 5)) throw new Refused(`The index of its chunks is of kind ${kind}, which is not known.`);
  if (kind < 4 && total > maxChunks) throw new Refused(`It has more than ${maxChunks} chunks.`);
  c.skip({ 3: 1, 4: 5, 5: 6 }[kind] ?? 0);
  const address = c.address();
  const list = async (): Promise<Chunk[]> => {
    if (address === nowhere) return [];
    if (kind === 2) return Array.from({ length: total }, (_, n) => ({ address: address + n * whole, bytes: whole, mask: 0, at: place(n) }));
    if (kind === 5) return treeChunks(file, address, whole, base);
    return (kind === 3 ? fixedArray : extensibleArray)(file, address, whole, place);
  };
  let listed: Promise<Chunk[]> | undefined;
  return { ...base, list: () => (listed ??= list()) };
}

async function treeChunks(file: File, address: number, whole: number, { dimensions, filtered, shape }: Omit<Layout, "list">): Promise<Chunk[]> {
  const records = await recordsOf(file, address);
  return records.map((r) => {
    const at = r.address();
    const sizeBytes = r.bytes.length - file.offsetSize - 4 - 8 * shape.length;
    const bytes = filtered ? r.uint(sizeBytes) : whole;
    const mask = filtered ? r.uint(4) : 0;
    return { address: at, bytes, mask, at: shape.map((_, i) => r.uint(8) * dimensions[i]!) };
  });
}

async function fixedArray(file: File, address: number, whole: number, place: (n: number) => number[]): Promise<Chunk[]> {
  const head = (await file.cursor(address, 64)).expect("FAHD").skip(1);
  const filtered = head.uint(1) === 1;
  const entryBytes = head.uint(1);
  const perPage = 2 ** head.uint(1);
  const count = head.length();
  const data = head.address();
  if (count > maxChunks) throw new Refused(`It has more than ${maxChunks} chunks.`);
  if (data === nowhere) return [];
  const start = 6 + file.offsetSize + (count > perPage ? Math.ceil(Math.ceil(count / perPage) / 8) : 0);
  const entries = await arrayBlock(file, data, "FADB", { start, count, perPage, entryBytes });
  return entries.flatMap((c, n) => entryOf(file, c, { filtered, entryBytes, whole, at: place(n) }));
}

interface Block {
  /** The start of the entries, or of the checksum before their pages. */
  start: number;
  count: number;
  perPage: number;
  entryBytes: number;
}

/** The entries of a block, which can be split into pages that each end with a checksum. */
async function arrayBlock(file: File, address: number, signature: string, { start, count, perPage, entryBytes }: Block): Promise<Cursor[]> {
  const paged = count > perPage;
  const c = (await file.cursor(address, start + count * entryBytes + (paged ? 4 + Math.ceil(count / perPage) * 4 : 0))).expect(signature);
  return Array.from({ length: count }, (_, n) => {
    c.at = start + n * entryBytes + (paged ? 4 + Math.floor(n / perPage) * 4 : 0);
    return new Cursor(c.take(entryBytes), file);
  });
}

/** The chunk of an entry; undefined if nothing was written. */
function entryOf(file: File, c: Cursor, { filtered, entryBytes, whole, at }: { filtered: boolean; entryBytes: number; whole: number; at: number[] }): Chunk[] {
  const address = c.address();
  const bytes = filtered ? c.uint(entryBytes - file.offsetSize - 4) : whole;
  const mask = filtered ? c.uint(4) : 0;
  return address === nowhere || address === 0 ? [] : [{ address, bytes, mask, at }];
}

/** An extensible array: entries in its index block, then in data blocks of doubling size, whose
    later addresses are in super blocks. */
async function extensibleArray(file: File, address: number, whole: number, place: (n: number) => number[]): Promise<Chunk[]> {
  const head = (await file.cursor(address, 128)).expect("EAHD").skip(1);
  const filtered = head.uint(1) === 1;
  const [entryBytes, maxBits, inIndex, smallest, pointers, pageBits] = [head.uint(1), head.uint(1), head.uint(1), head.uint(1), head.uint(1), head.uint(1)];
  head.skip(4 * file.lengthSize);
  const count = head.length();
  const index = head.skip(file.lengthSize).address();
  if (count > maxChunks) throw new Refused(`It has more than ${maxChunks} chunks.`);
  if (index === nowhere) return [];
  const offsetBytes = Math.ceil(maxBits / 8);
  const inIndexBlocks = 2 * Math.log2(pointers);
  const direct = 2 * (pointers - 1);
  const groups = 1 + maxBits - Math.log2(smallest);
  const c = (await file.cursor(index, 6 + file.offsetSize + inIndex * entryBytes + (direct + groups - inIndexBlocks) * file.offsetSize)).expect("EAIB").skip(2 + file.offsetSize);
  const entries: (Cursor | undefined)[] = Array.from({ length: inIndex }, () => new Cursor(c.take(entryBytes), file));
  const perPage = 2 ** pageBits;
  for (let group = 0; group < groups && entries.length < count; group++) {
    const blocks = 2 ** Math.floor(group / 2);
    const size = 2 ** Math.ceil(group / 2) * smallest;
    let from: Cursor | undefined = c;
    if (group >= inIndexBlocks) {
      const at = c.address();
      const bitmap = size > perPage ? blocks * Math.ceil(size / perPage / 8) : 0;
      from = at === nowhere ? undefined : (await file.cursor(at, 6 + file.offsetSize + offsetBytes + bitmap + blocks * file.offsetSize)).expect("EASB").skip(2 + file.offsetSize + offsetBytes + bitmap);
    }
    for (let block = 0; block < blocks; block++) {
      const at = from ? from.address() : nowhere;
      if (entries.length >= count) continue;
      if (at === nowhere) entries.push(...new Array<undefined>(size));
      else entries.push(...(await arrayBlock(file, at, "EADB", { start: 6 + file.offsetSize + offsetBytes, count: size, perPage, entryBytes })));
    }
  }
  return entries.slice(0, count).flatMap((entry, n) => (entry ? entryOf(file, entry, { filtered, entryBytes, whole, at: place(n) }) : []));
}

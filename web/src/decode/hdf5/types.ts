// HDF5 data types, and the conversion of their values to numbers or text.
import { type Type, types } from "../lib/arrays";
import { Refused } from "../lib/serve";
import { Cursor, type File } from "./file";

export interface DataType {
  name: string;
  size: number;
  little: boolean;
  /** For plain numbers. */
  type?: Type;
  /** For a compound. */
  members?: { name: string; offset: number; of: DataType }[];
  /** The text of one value. */
  text: (file: File, bytes: Uint8Array<ArrayBuffer>) => Promise<string>;
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The maximum number of displayed parts of a value. */
const most = 32;

function shortest(value: number): string {
  for (let digits = 6; digits < 9; digits++) if (Math.fround(Number(value.toPrecision(digits))) === value) return String(Number(value.toPrecision(digits)));
  return String(value);
}

function numeric(type: Type | undefined, size: number, little: boolean, what: string): DataType {
  if (!type) return { name: `${what} of ${size} bytes`, size, little, text: async (_, bytes) => hex(bytes) };
  const text = (value: unknown) => (type === types.float32 ? shortest(value as number) : String(value));
  return { name: type.name, size, little, type, text: async (_, bytes) => text(type.read(viewOf(bytes), 0, little)) };
}

const hex = (bytes: Uint8Array) => Array.from(bytes.subarray(0, most), (b) => b.toString(16).padStart(2, "0")).join("");

const integers: Record<string, Type> = {
  s1: types.int8, s2: types.int16, s4: types.int32, s8: types.int64, u1: types.uint8, u2: types.uint16, u4: types.uint32, u8: types.uint64,
};
const floats: Record<number, Type> = { 2: types.float16, 4: types.float32, 8: types.float64 };

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes).replace(/\0[^]*$/, "");

/** Reads the type at a cursor, and moves the cursor past it. */
export function readType(c: Cursor, depth = 0): DataType {
  if (depth > 16) throw new Refused("Its types are nested too deeply.");
  const head = c.uint(1);
  const bits = c.uint(3);
  const size = c.uint(4);
  const version = head >> 4;
  const little = (bits & 1) === 0;
  const read = readers[head & 15];
  if (!read) throw new Refused(`It has a type of class ${head & 15}, which is not known.`);
  return read({ c, bits, size, version, little, depth });
}

interface Head {
  c: Cursor;
  bits: number;
  size: number;
  version: number;
  little: boolean;
  depth: number;
}

const readers: Record<number, (h: Head) => DataType> = {
  0: ({ c, bits, size, little }) => (c.skip(4), numeric(integers[`${bits & 8 ? "s" : "u"}${size}`], size, little, "integer")),
  1: ({ c, size, little }) => (c.skip(12), numeric(floats[size], size, little, "float")),
  2: ({ c, size, little }) => (c.skip(2), numeric(undefined, size, little, "time")),
  3: ({ size, little, bits }) => ({
    name: `text of ${size} bytes`, size, little,
    text: async (_, bytes) => ((bits & 15) === 2 ? decode(bytes).trimEnd() : decode(bytes)),
  }),
  4: ({ c, size, little }) => (c.skip(4), numeric(integers[`u${size}`], size, little, "bits")),
  5: ({ c, bits, size, little }) => (c.skip(bits & 255), { name: `${size} bytes`, size, little, text: async (_, bytes) => hex(bytes) }),
  6: compound,
  7: ({ size, little }) => ({ name: "reference", size, little, text: async (_, bytes) => `→ ${size < 8 ? viewOf(bytes).getUint32(0, true) : viewOf(bytes).getBigUint64(0, true)}` }),
  8: enumeration,
  9: variable,
  10: ({ c, size, version, little, depth }) => {
    const dimensions = c.uint(1);
    if (version < 3) c.skip(3);
    const shape = Array.from({ length: dimensions }, () => c.uint(4));
    if (version < 3) c.skip(4 * dimensions);
    const of = readType(c, depth + 1);
    return { name: `${of.name} [${shape.join(" × ")}]`, size, little, text: (file, bytes) => listed(file, of, bytes) };
  },
};

/** Several consecutive values. */
async function listed(file: File, of: DataType, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const count = Math.floor(bytes.length / of.size);
  const texts: string[] = [];
  for (let i = 0; i < Math.min(count, most); i++) texts.push(await of.text(file, bytes.slice(i * of.size, (i + 1) * of.size)));
  return `[${texts.join(", ")}${count > most ? ", …" : ""}]`;
}

function compound({ c, bits, size, version, little, depth }: Head): DataType {
  const offsetSize = Math.ceil(Math.max(1, Math.log2(size + 1)) / 8);
  const members = Array.from({ length: bits & 0xffff }, () => {
    const name = c.ended(version < 3 ? 8 : 1);
    const offset = c.uint(version < 3 ? 4 : offsetSize);
    let shape: number[] = [];
    if (version === 1) {
      const dimensions = c.uint(1);
      c.skip(11);
      shape = Array.from({ length: 4 }, () => c.uint(4)).slice(0, dimensions);
    }
    const of = readType(c, depth + 1);
    const count = shape.reduce((n, m) => n * m, 1);
    const repeated: DataType = { ...of, name: `${of.name} [${shape.join(" × ")}]`, size: of.size * count, text: (file, bytes) => listed(file, of, bytes) };
    if (shape.length) delete repeated.type;
    return { name, offset, of: shape.length ? repeated : of };
  });
  const text: DataType["text"] = async (file, bytes) => {
    const texts = await Promise.all(members.map(async (m) => `${m.name}: ${await m.of.text(file, bytes.slice(m.offset, m.offset + m.of.size))}`));
    return `{${texts.join(", ")}}`;
  };
  return { name: `compound of ${members.map((m) => m.name).slice(0, 8).join(", ")}`, size, little, members, text };
}

function enumeration({ c, bits, size, version, depth }: Head): DataType {
  const base = readType(c, depth + 1);
  const count = bits & 0xffff;
  const names = Array.from({ length: count }, () => c.ended(version < 3 ? 8 : 1));
  const values = new Map(names.map((name) => [hex(c.take(base.size)), name]));
  return { name: `enumeration of ${names.slice(0, 8).join(", ")}`, size, little: base.little, text: async (file, bytes) => values.get(hex(bytes)) ?? base.text(file, bytes) };
}

function variable({ c, bits, size, little, depth }: Head): DataType {
  const isText = (bits & 15) === 1;
  const base = readType(c, depth + 1);
  const text: DataType["text"] = async (file, bytes) => {
    const at = new Cursor(bytes, file);
    const length = at.uint(4);
    const address = at.address();
    if (!length || address <= 0) return isText ? "" : "[]";
    const content = await heapObject(file, address, at.uint(4));
    return isText ? decode(content.subarray(0, length)) : listed(file, base, content.slice(0, length * base.size));
  };
  return { name: isText ? "text" : `list of ${base.name}`, size, little, text };
}

/** The maximum size of a heap collection in bytes. */
const maxCollection = 32 << 20;

/** A value of variable length, stored in a heap of the file. */
async function heapObject(file: File, address: number, index: number): Promise<Uint8Array<ArrayBuffer>> {
  const head = await file.cursor(address, 8 + file.lengthSize);
  const size = head.expect("GCOL").skip(4).length();
  if (size > maxCollection) throw new Refused("A heap of it is too large.");
  const c = await file.cursor(address, size);
  for (c.at = 8 + file.lengthSize; c.at + 8 + file.lengthSize <= c.bytes.length; ) {
    const found = c.uint(2);
    const length = c.skip(6).length();
    if (found === index) return c.take(length);
    if (found === 0) break;
    c.skip(Math.ceil(length / 8) * 8);
  }
  throw new Refused("A variable-length value is missing.");
}

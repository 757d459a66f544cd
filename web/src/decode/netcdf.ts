// NetCDF 3 in its classic, 64-bit offset and 64-bit data formats, read by ranges.
import type { Attribute, Item, Selection } from "../sight/messages";
import { readPart, shapeText, type Stored, stridesOf, textType, type Type, types } from "./lib/arrays";
import { single } from "./lib/cells";
import { firstVariable, meaningOf, packingOf, unpacked } from "./lib/cf";
import { type Input, MiB, Refused, serve } from "./lib/serve";

const byCode: Record<number, Type> = {
  1: types.int8, 2: textType(1, "latin1"), 3: types.int16, 4: types.int32, 5: types.float32, 6: types.float64, 7: types.uint8, 8: types.uint16, 9: types.uint32,
  10: types.int64, 11: types.uint64,
};

/** The maximum size of a header in bytes. */
const maxHeader = 16 * MiB;

/** Reads the header from its start. */
class Header {
  private at = 4;
  private readonly view: DataView;
  readonly version: number;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.version = bytes[3]!;
  }

  private take(length: number): number {
    if (!(length >= 0) || this.at + length > this.bytes.length) throw new RangeError("the header ends early");
    return (this.at += length) - length;
  }
  word = () => this.view.getUint32(this.take(4));
  /** A count or a size. */
  long = () => Number(this.view.getBigUint64(this.take(8)));
  count = () => (this.version === 5 ? this.long() : this.word());
  offset = () => (this.version === 1 ? this.word() : this.long());

  name(): string {
    const length = this.count();
    const at = this.take(Math.ceil(length / 4) * 4);
    return new TextDecoder().decode(this.bytes.subarray(at, at + length));
  }

  list<T>(read: () => T): T[] {
    this.word();
    const length = this.count();
    if (length > this.bytes.length) throw new RangeError("a list is longer than the header");
    return Array.from({ length }, read);
  }

  attribute = (): Attribute => {
    const name = this.name();
    const code = this.word();
    const type = byCode[code];
    const length = this.count();
    if (!type) throw new RangeError(`there is no type ${code}`);
    const at = this.take(Math.ceil((length * type.size) / 4) * 4);
    if (code === 2) return [name, new TextDecoder().decode(this.bytes.subarray(at, at + length)).replace(/\0+$/, "")];
    return [name, Array.from({ length }, (_, i) => numberText(type, type.read(this.view, at + i * type.size, false))).join(", "), type.name];
  };
}

const numberText = (type: Type, value: number | bigint | string) => String(type === types.float32 ? single(value as number) : value);

interface Variable {
  name: string;
  dimensions: number[];
  attributes: Attribute[];
  code: number;
  begin: number;
}

interface Dataset {
  records: number;
  dimensions: { name: string; length: number }[];
  attributes: Attribute[];
  variables: Variable[];
}

function parse(bytes: Uint8Array): Dataset {
  const header = new Header(bytes);
  const records = header.count();
  const dimensions = header.list(() => ({ name: header.name(), length: header.count() }));
  const attributes = header.list(header.attribute);
  const variables = header.list(() => {
    const name = header.name();
    const of = Array.from({ length: Math.min(1024, header.count()) }, () => header.count());
    const own = header.list(header.attribute);
    const code = header.word();
    header.count();
    return { name, dimensions: of, attributes: own, code, begin: header.offset() };
  });
  return { records, dimensions, attributes, variables };
}

/** Reads more of the file until the header is complete. */
async function read(input: Input): Promise<Dataset> {
  for (let length = MiB / 4; ; length *= 4) {
    try {
      return parse(await input.read(0, Math.min(length, input.bytes)));
    } catch (thrown) {
      if (length >= maxHeader || length >= input.bytes) throw thrown;
    }
  }
}

serve(async (input) => {
  const { dimensions, attributes, variables, ...set } = await read(input);
  const unlimited = dimensions.findIndex((d) => d.length === 0);
  const lengthIn = (v: Variable) => v.dimensions.map((d) => dimensions[d]?.length ?? 0);
  const isRecord = (v: Variable) => v.dimensions.length > 0 && v.dimensions[0] === unlimited;
  const bytesOf = (v: Variable) => lengthIn(v).slice(isRecord(v) ? 1 : 0).reduce((n, m) => n * m, byCode[v.code]?.size ?? 1);
  const padded = (n: number) => Math.ceil(n / 4) * 4;
  const recordVariables = variables.filter(isRecord);
  const recordBytes = recordVariables.length === 1 ? bytesOf(recordVariables[0]!) : recordVariables.reduce((n, v) => n + padded(bytesOf(v)), 0);
  const streaming = set.records === 0xffffffff || set.records > 2 ** 52;
  const first = Math.min(...recordVariables.map((v) => v.begin));
  const records = streaming ? Math.max(0, Math.floor((input.bytes - first) / recordBytes)) : set.records;
  const stored = variables.map<Stored>((v) => {
    const type = byCode[v.code];
    if (!type) throw new Refused(`The variable ${v.name} has a type that is not known.`);
    const shape = lengthIn(v);
    const strides = stridesOf(shape, type.size);
    if (isRecord(v)) [shape[0], strides[0]] = [records, recordBytes];
    return { offset: v.begin, shape, strides, type, little: false };
  });
  const packings = variables.map((v, i) => packingOf(stored[i]!.type, v.attributes, true));
  const nameOf = (d: number) => dimensions[d]?.name ?? "";
  /** The coordinates of a dimension: the variable with its name. */
  const axisOf = (d: number) => {
    const at = variables.findIndex((v) => v.name === nameOf(d) && v.dimensions.length === 1 && v.dimensions[0] === d);
    return at < 0 ? undefined : at;
  };
  const items = variables.map<Item>((v, id) => ({
    name: v.name,
    id,
    shape: stored[id]!.shape,
    about: `${stored[id]!.type.name}, ${v.dimensions.map((d, i) => `${dimensions[d]?.name} ${stored[id]!.shape[i]}`).join(" × ") || shapeText([])}`,
    dimensions: v.dimensions.map(nameOf),
    axes: v.dimensions.map(axisOf),
    attributes: v.attributes,
    ...meaningOf(v.attributes, packings[id]),
  }));
  const shown = firstVariable(items);
  const slice = async (s: Selection) => {
    const [of, packing] = [stored[s.id]!, packings[s.id]];
    return packing && !s.stored ? unpacked(await readPart(input, { ...of, type: packing.type }, s), packing) : readPart(input, of, s);
  };
  return {
    content: { view: "tree", about: `NetCDF 3, ${variables.length} variables`, attributes, items, ...(shown !== undefined && { first: shown }) },
    slice,
  };
});

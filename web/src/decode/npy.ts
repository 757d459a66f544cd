// NumPy arrays (.npy), read by ranges. Arrays of an .npz are files of a ZIP archive.
import type { Item } from "../sight/messages";
import { product, readPart, shapeText, type Stored, stridesOf, textType, type Type, types, wideType } from "./lib/arrays";
import { Refused, serve } from "./lib/serve";

const byCode: Record<string, Type> = {
  b1: types.bool, i1: types.int8, u1: types.uint8, i2: types.int16, u2: types.uint16, i4: types.int32, u4: types.uint32, i8: types.int64,
  u8: types.uint64, f2: types.float16, f4: types.float32, f8: types.float64, m8: types.int64, M8: types.int64,
};

interface Field {
  name: string;
  type: Type;
  little: boolean;
  offset: number;
  shape: number[];
}

interface Described {
  /** One unnamed field if the type has no fields. */
  fields: Field[];
  size: number;
  structured: boolean;
}

/** Parses a Python literal with numbers, strings, tuples, lists, dicts, True, False and None. */
function literal(source: string): unknown {
  const text = source
    .replace(/'((?:[^'\\]|\\.)*)'/g, (_, inner: string) => JSON.stringify(inner.replace(/\\'/g, "'").replace(/\\\\/g, "\\")))
    .replace(/\bTrue\b/g, "true").replace(/\bFalse\b/g, "false").replace(/\bNone\b/g, "null")
    .replace(/\(/g, "[").replace(/\)/g, "]").replace(/,(\s*[\]}])/g, "$1").replace(/(\d)L\b/g, "$1");
  return JSON.parse(text);
}

/** The type of values by its code, such as <f8. */
function typeOf(code: string): { type: Type; little: boolean; complex: boolean } {
  const [, order, kind, digits] = /^([<>|=]?)([a-zA-Z])(\d*)(?:\[.*\])?$/.exec(code) ?? [];
  const size = Number(digits);
  const little = order !== ">";
  if (kind === "O") throw new Refused("It contains Python objects, which only Python can read: reading them would run code from the file.");
  if (kind === "S" || kind === "a" || kind === "V") return { type: textType(size, "latin1"), little, complex: false };
  if (kind === "U") return { type: wideType(size), little, complex: false };
  if (kind === "c") return { type: size === 8 ? types.float32 : types.float64, little, complex: true };
  const type = byCode[`${kind}${size}`];
  if (!type) throw new Refused(`Its type ${code} is not known.`);
  return { type, little, complex: false };
}

function described(descr: unknown): Described {
  if (typeof descr === "string") {
    const { type, little, complex } = typeOf(descr);
    const shape = complex ? [2] : [];
    return { fields: [{ name: "", type, little, offset: 0, shape }], size: type.size * product(shape), structured: false };
  }
  if (!Array.isArray(descr)) throw new Refused("Its type is not known.");
  let size = 0;
  const fields = descr.flatMap(([name, inner, repeated]: [string | string[], unknown, number | number[] | undefined]) => {
    const of = described(inner);
    const shape = repeated === undefined ? [] : [repeated].flat();
    const at = size;
    size += of.size * product(shape);
    const label = Array.isArray(name) ? name[1]! : name;
    return of.fields.map((f) => ({ ...f, name: f.name ? `${label}.${f.name}` : label, offset: at + f.offset, shape: [...shape, ...f.shape] }));
  });
  return { fields: fields.filter((f) => f.name), size, structured: true };
}

serve(async (input) => {
  const head = await input.read(0, 12);
  const version = head[6]!;
  const view = new DataView(head.buffer);
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  const start = version === 1 ? 10 : 12;
  if (length > 1 << 20) throw new Refused("Its header is too long.");
  const { descr, fortran_order: fortran, shape } = literal(new TextDecoder(version < 3 ? "latin1" : "utf-8").decode(await input.read(start, length))) as
    { descr: unknown; fortran_order: boolean; shape: number[] };
  if (!Array.isArray(shape) || !shape.every((n) => Number.isSafeInteger(n) && n >= 0)) throw new Refused("Its shape is not valid.");
  const { fields, size, structured } = described(descr);
  const outer = stridesOf(shape, size, fortran);
  const stored = fields.map<Stored>((f) => ({
    offset: start + length + f.offset, shape: [...shape, ...f.shape], strides: [...outer, ...stridesOf(f.shape, f.type.size)], type: f.type, little: f.little,
  }));
  const items = fields.map<Item>((f, id) => {
    const complex = !structured && f.shape.length;
    const dimensions = complex ? [...shape.map((_, i) => `dimension ${i + 1}`), "real, imaginary"] : undefined;
    return { name: f.name || "array", id, shape: stored[id]!.shape, about: `${f.type.name}${complex ? " (complex)" : ""}, ${shapeText(shape)}`, ...(dimensions && { dimensions }) };
  });
  const order = fortran ? "; the first index is the fastest" : "";
  return {
    content: { view: "tree", about: `NumPy array, ${shapeText(shape)}${order}`, attributes: [], items },
    slice: (s) => readPart(input, stored[s.id]!, s),
  };
});

// FITS: headers, images and tables, read by ranges.
import type { Attribute, Item, Part, Selection } from "../sight/messages";
import { checkSelection, product, readPart, shapeText, type Stored, stridesOf, textType, type Type, types } from "./lib/arrays";
import { scaling } from "./lib/cf";
import { Tiles } from "./fits/tiles";
import { type Input, Refused, serve } from "./lib/serve";

const block = 2880;

/** Limits: extensions, and blocks of one header. */
const maxUnits = 500;
const maxHeader = 400;

type Card = string | number | boolean;

class Cards {
  readonly all: Attribute[] = [];
  private readonly values = new Map<string, Card>();

  add(card: string) {
    const key = card.slice(0, 8).trim();
    if (card.slice(8, 10) !== "= ") {
      const continued = key === "CONTINUE" && /^ *'((?:[^']|'')*)'/.exec(card.slice(8));
      if (continued && this.all.length) this.all.at(-1)![1] = this.all.at(-1)![1].replace(/&$/, "") + continued[1]!.replaceAll("''", "'").trimEnd();
      else if (key || card.trim()) this.all.push([key, card.slice(8).trimEnd()]);
      return;
    }
    const [, text, other] = /^ *(?:'((?:[^']|'')*)'|([^/]*))/.exec(card.slice(10)) ?? [];
    const comment = / \/ ?(.*)$/.exec(card.slice(10 + (text?.length ?? 0)))?.[1]?.trim();
    const value = text !== undefined ? text.replaceAll("''", "'").trimEnd() : cardOf((other ?? "").trim());
    this.values.set(key, value);
    const shown = text !== undefined ? String(value) : (other ?? "").trim();
    this.all.push([key, comment ? `${shown} / ${comment}` : shown]);
  }

  number(key: string, otherwise = 0): number {
    const value = this.values.get(key);
    return typeof value === "number" ? value : otherwise;
  }
  text = (key: string) => String(this.values.get(key) ?? "");
}

const cardOf = (text: string): Card => (text === "T" ? true : text === "F" ? false : Number.isNaN(Number(text.replace(/d/i, "e"))) ? text : Number(text.replace(/d/i, "e")));

/** Reads a header; undefined if none begins at this position. */
async function header(input: Input, at: number): Promise<{ cards: Cards; end: number } | undefined> {
  const cards = new Cards();
  for (let n = 0; n < maxHeader; n++) {
    const text = new TextDecoder("latin1").decode(await input.read(at + n * block, block));
    if (text.length < block || (n === 0 && !/^(SIMPLE  |XTENSION)=/.test(text))) return undefined;
    for (let i = 0; i < block; i += 80) {
      const card = text.slice(i, i + 80);
      if (card.trimEnd() === "END") return { cards, end: at + (n + 1) * block };
      cards.add(card);
    }
  }
  throw new Refused("A header has no end.");
}

const imageTypes: Record<number, Type> = { 8: types.uint8, 16: types.int16, 32: types.int32, 64: types.int64, [-32]: types.float32, [-64]: types.float64 };

/** A type whose values are scaled and shifted according to the header. */
function scaled(type: Type, scale: number, zero: number, blank?: number): Type {
  if (scale === 1 && zero === 0 && blank === undefined) return type;
  const unsigned = { int16: types.uint16, int32: types.uint32 }[type.name];
  const shift = { int16: 2 ** 15, int32: 2 ** 31, int64: 2 ** 63 }[type.name];
  if (blank === undefined && type === types.int64 && scale === 1 && zero === shift) {
    // BigInt is exact where a number would be rounded
    return { ...types.uint64, read: (v, at, le) => BigInt.asUintN(64, v.getBigInt64(at, le) + 2n ** 63n) };
  }
  const read: Type["read"] = (v, at, le) => {
    const value = Number(type.read(v, at, le));
    return value === blank ? NaN : value * scale + zero;
  };
  if (blank === undefined && unsigned && scale === 1 && zero === shift) return { ...unsigned, read };
  return { name: `${type.name}, scaled`, size: type.size, read, holder: (n) => new Float64Array(n) };
}

interface Column {
  name: string;
  unit: string;
  at: number;
  /** Converts a cell to text. */
  cell: (view: DataView, at: number) => string;
}

interface Table {
  offset: number;
  rowBytes: number;
  rows: number;
  columns: Column[];
}

const binary: Record<string, Type> = { L: textType(1), B: types.uint8, I: types.int16, J: types.int32, K: types.int64, E: types.float32, D: types.float64 };

function shortest(type: Type, value: number | bigint | string): string {
  if (type !== types.float32 || typeof value !== "number") return String(value);
  for (let digits = 6; digits < 9; digits++) if (Math.fround(Number(value.toPrecision(digits))) === value) return String(Number(value.toPrecision(digits)));
  return String(value);
}

/** A missing value becomes NaN. */
const cellOf = (text: string, none: number | undefined) => (none !== undefined && text === "NaN" ? "missing" : text);

/** The maximum number of displayed values of a cell. */
const maxInCell = 64;

function binaryColumn(cards: Cards, n: number): { bytes: number; cell: Column["cell"] } {
  const [, repeated = "", code = ""] = /^ *(\d*)([A-Z])/.exec(cards.text(`TFORM${n}`)) ?? [];
  const repeat = repeated === "" ? 1 : Number(repeated);
  if (code === "A") {
    const type = textType(repeat, "latin1");
    return { bytes: repeat, cell: (v, at) => (repeat ? String(type.read(v, at, false)) : "") };
  }
  if (code === "X") return { bytes: Math.ceil(repeat / 8), cell: (v, at) => Array.from({ length: Math.min(repeat, maxInCell) }, (_, i) => (v.getUint8(at + (i >> 3)) >> (7 - (i & 7))) & 1).join("") };
  if (code === "P" || code === "Q") return { bytes: repeat * (code === "P" ? 8 : 16), cell: (v, at) => `${code === "P" ? v.getUint32(at) : v.getBigUint64(at)} values` };
  const complex = { C: types.float32, M: types.float64 }[code];
  const stored = complex ?? binary[code];
  if (!stored) throw new Refused(`A column has the type ${cards.text(`TFORM${n}`)}, which is not known.`);
  const none = /^[BIJK]$/.test(code) && /^-?\d/.test(cards.text(`TNULL${n}`)) ? cards.number(`TNULL${n}`) : undefined;
  const type = code === "L" ? stored : scaled(stored, cards.number(`TSCAL${n}`, 1), cards.number(`TZERO${n}`), none);
  const values = repeat * (complex ? 2 : 1);
  const text = (v: DataView, at: number) => Array.from({ length: Math.min(values, maxInCell) }, (_, i) => cellOf(shortest(type, type.read(v, at + i * type.size, false)), none));
  return { bytes: values * type.size, cell: (v, at) => text(v, at).join(" ") + (values > maxInCell ? " …" : "") };
}

function tableOf(cards: Cards, offset: number): Table {
  const isText = cards.text("XTENSION") === "TABLE";
  const columns: Column[] = [];
  let at = 0;
  for (let n = 1; n <= Math.min(999, cards.number("TFIELDS")); n++) {
    const name = cards.text(`TTYPE${n}`) || `column ${n}`;
    const unit = cards.text(`TUNIT${n}`).trim();
    if (isText) {
      const width = Number(/\d+/.exec(cards.text(`TFORM${n}`))?.[0] ?? 0);
      const type = textType(width, "latin1");
      columns.push({ name, unit, at: cards.number(`TBCOL${n}`, 1) - 1, cell: (v, from) => String(type.read(v, from, false)).trim() });
    } else {
      const { bytes, cell } = binaryColumn(cards, n);
      columns.push({ name, unit, at, cell });
      at += bytes;
    }
  }
  return { offset, rowBytes: cards.number("NAXIS1"), rows: cards.number("NAXIS2"), columns };
}

/** The rows of a table. The page limits their number. */
async function rowsOf(input: Input, table: Table, s: Selection): Promise<Part> {
  checkSelection([table.rows, table.columns.length], s);
  const line = s.rows < 0;
  const [from, wanted, most] = line ? [s.from[1], s.count[1], s.most[1]] : [s.from[0], s.count[0], s.most[0]];
  const step = Math.max(1, Math.ceil(Math.min(wanted, table.rows - from) / most));
  const taken = Math.max(0, Math.ceil(Math.min(wanted, table.rows - from) / step));
  const columns = line ? [table.columns[s.fixed[1]!]!] : table.columns.slice(s.from[1], s.from[1] + Math.min(s.count[1], s.most[1]));
  const values: string[] = [];
  const perRead = Math.max(1, Math.floor((8 << 20) / Math.max(1, table.rowBytes * step)));
  for (let r = 0; r < taken; r += perRead) {
    const count = Math.min(perRead, taken - r);
    const bytes = await input.read(table.offset + (from + r * step) * table.rowBytes, ((count - 1) * step + 1) * table.rowBytes);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let i = 0; i < count; i++) for (const c of columns) values.push(c.cell(view, i * step * table.rowBytes + c.at));
  }
  return line ? { values, height: 1, width: taken, step: [1, step] } : { values, height: taken, width: columns.length, step: [step, 1] };
}

type Read = (s: Selection) => Promise<Part>;

/** The values of an image, and the rule that derives them from the stored values. */
function imageOf(cards: Cards, type: Type, shape: number[]): { type: Type; item: Partial<Item> } {
  const key = cards.text("ZIMAGE") === "true" && !/^-?\d/.test(cards.text("BLANK")) ? "ZBLANK" : "BLANK";
  const blank = /int/.test(type.name) && /^-?\d/.test(cards.text(key)) ? cards.number(key) : undefined;
  const [scale, zero] = [cards.number("BSCALE", 1), cards.number("BZERO")];
  const as = scaled(type, scale, zero, blank);
  // FITS stores unsigned integers this way
  const isPlain = as === type || (/^uint/.test(as.name) && blank === undefined);
  const unit = cards.text("BUNIT").trim();
  const said = [(scale !== 1 || zero !== 0) && scaling(scale, zero), blank !== undefined && `${blank} is missing`];
  const packed = isPlain ? "" : said.filter(Boolean).join("; ");
  return { type: as, item: { shape, upwards: true, about: `image, ${as.name}, ${shapeText(shape)}`, ...(unit && { unit }), ...(packed && { packed }) } };
}

/** The displayed part of an image; a missing value is NaN. */
const masked = (part: Part, stored: boolean | undefined, item: Partial<Item>): Part => ({ ...part, masked: !stored && (item.packed ?? "").includes("is missing") });

function compressedOf(input: Input, cards: Cards, offset: number, id: number, item: Item): { item: Item; read?: Read } {
  const tiles = new Tiles(input, cards, offset);
  const image = imageOf(cards, tiles.type, tiles.shape);
  Object.assign(item, { ...image.item, about: `${image.item.about}, compressed by ${tiles.algorithm}` });
  if (tiles.why) return { item: { ...item, why: tiles.why } };
  Object.assign(item, { id });
  return { item, read: async (s) => masked(await tiles.read(s, s.stored ? tiles.type : image.type), s.stored, item) };
}

/** The content of a unit of a file, and the reader of its values. */
function unitOf(input: Input, cards: Cards, offset: number, id: number): { item: Item; read?: Read; bytes: number } {
  const axes = Array.from({ length: Math.min(999, cards.number("NAXIS")) }, (_, i) => cards.number(`NAXIS${i + 1}`));
  const bits = cards.number("BITPIX");
  const groups = axes[0] === 0 && cards.number("GCOUNT", 1) > 0 && axes.length > 1;
  const bytes = axes.length ? (Math.abs(bits) / 8) * cards.number("GCOUNT", 1) * (cards.number("PCOUNT") + product(groups ? axes.slice(1) : axes)) : 0;
  if (!(bytes >= 0) || axes.some((n) => !(n >= 0))) throw new Refused("A header has sizes that are not valid.");
  const kind = cards.text("XTENSION");
  const name = cards.text("EXTNAME") || (id ? `extension ${id}` : "primary");
  const item: Item = { name, about: "header only", attributes: cards.all };
  if (kind === "BINTABLE" || kind === "TABLE" || kind === "A3DTABLE") {
    const table = tableOf(cards, offset);
    item.about = `table, ${table.rows} rows, ${table.columns.length} columns`;
    if (cards.text("ZIMAGE") === "true") return { ...compressedOf(input, cards, offset, id, item), bytes };
    Object.assign(item, { id, shape: [table.rows, table.columns.length], columns: table.columns.map((c) => (c.unit ? `${c.name} (${c.unit})` : c.name)) });
    return { item, read: (s) => rowsOf(input, table, s), bytes };
  }
  if (groups) return { item: { ...item, about: "random groups", why: "Random groups are not shown." }, bytes };
  if (!axes.length || bytes === 0) return { item, bytes };
  const type = imageTypes[bits];
  if (!type) throw new Refused(`An image has ${bits} bits a pixel, which FITS does not define.`);
  const shape = axes.reverse(); // the first axis of FITS varies fastest
  const image = imageOf(cards, type, shape);
  const stored: Stored = { offset, shape, strides: stridesOf(shape, type.size), type, little: false };
  Object.assign(item, { id, ...image.item });
  return { item, read: async (s) => masked(await readPart(input, s.stored ? stored : { ...stored, type: image.type }, s), s.stored, item), bytes };
}

serve(async (input) => {
  const items: Item[] = [];
  const reads = new Map<number, Read>();
  for (let at = 0; at < input.bytes && items.length < maxUnits; ) {
    const found = await header(input, at);
    if (!found) break; // special records, or bytes that are not FITS
    const { item, read, bytes } = unitOf(input, found.cards, found.end, items.length);
    if (read) reads.set(items.length, read);
    items.push(item);
    at = found.end + Math.ceil(bytes / block) * block;
  }
  if (!items.length) throw new Refused("Its first header is not complete.");
  return {
    content: { view: "tree", about: `FITS, ${items.length === 1 ? "one unit" : `${items.length} units`}`, attributes: [], items },
    slice: (s) => reads.get(s.id)!(s),
  };
});

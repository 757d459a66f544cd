// Objects of HDF5: their headers, the links of groups, and attributes.
import type { Attribute } from "../../sight/messages";
import { Refused } from "../lib/serve";
import { Cursor, type File, nowhere } from "./file";
import { FractalHeap, recordsOf } from "./heaps";
import { type DataType, readType } from "./types";

export interface Message {
  kind: number;
  shared: boolean;
  body: Cursor;
}

export interface Link {
  name: string;
  /** The address of the object; undefined if the link refers to another path. */
  address?: number;
  to?: string;
  /** The creation order, if the group tracks it. */
  order?: number;
}

/** Limits of a header: blocks, and bytes of one block. */
const maxBlocks = 200;
const maxBlock = 4 << 20;

/** The messages of an object. */
export async function messagesOf(file: File, address: number): Promise<Message[]> {
  const head = await file.cursor(address, 64);
  const messages: Message[] = [];
  const isNew = head.bytes[0] === 0x4f; // OHDR
  const blocks: [at: number, length: number][] = [];
  let ordered = false;
  if (isNew) {
    head.skip(5);
    const flags = head.uint(1);
    ordered = (flags & 4) !== 0;
    head.skip((flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0));
    const length = head.uint(1 << (flags & 3));
    blocks.push([address + head.at, length]);
  } else {
    if (head.uint(1) !== 1) throw new Refused("It seems to be broken: an object has no header.");
    blocks.push([address + 16, head.skip(7).uint(4)]);
  }
  for (let n = 0; n < blocks.length; n++) {
    const [at, length] = blocks[n]!;
    if (n > maxBlocks || length > maxBlock) throw new Refused("The header of an object is too large.");
    const c = await file.cursor(at, length);
    const end = c.bytes.length;
    while (c.at + (isNew ? (ordered ? 6 : 4) : 8) <= end) {
      const kind = c.uint(isNew ? 1 : 2);
      const size = c.uint(2);
      const flags = c.uint(1);
      c.skip(isNew ? (ordered ? 2 : 0) : 3);
      const body = new Cursor(c.take(size), file);
      if (kind === 0x10) {
        const [from, more] = [body.address(), body.length()];
        blocks.push(isNew ? [from + 4, more - 8] : [from, more]);
      } else if (kind) messages.push({ kind, shared: (flags & 2) !== 0, body });
    }
  }
  return messages;
}

/** The body of a message that several objects share. */
async function shared(file: File, { kind, body }: Message): Promise<Cursor> {
  const version = body.uint(1);
  const type = body.uint(1);
  if (version === 3 && type === 1) throw new Refused("It shares parts of headers in a table, which is not supported.");
  if (version === 1) body.skip(6);
  const found = (await messagesOf(file, body.address())).find((m) => m.kind === kind);
  if (!found || found.shared) throw new Refused("It seems to be broken: a shared part of a header is missing.");
  return found.body;
}

export async function typeOf(file: File, message: Message): Promise<DataType> {
  return readType(message.shared ? await shared(file, message) : message.body);
}

export interface Space {
  /** The dimensions, and their maximum. */
  shape: number[];
  limits: number[];
}

/** Undefined means no values. */
export function spaceOf(c: Cursor): Space | undefined {
  const version = c.uint(1);
  const dimensions = c.uint(1);
  const flags = c.uint(1);
  const kind = c.uint(1);
  if (version === 1) c.skip(4);
  else if (kind === 2) return undefined;
  const shape = Array.from({ length: dimensions }, () => c.length());
  const limits = flags & 1 ? shape.map(() => c.length()).map((n) => (n > 2 ** 63 ? Infinity : n)) : shape;
  return { shape, limits };
}

function link(c: Cursor): Link {
  c.skip(1);
  const flags = c.uint(1);
  const kind = flags & 8 ? c.uint(1) : 0;
  const order = flags & 4 ? { order: c.uint(8) } : {};
  c.skip(flags & 16 ? 1 : 0);
  const name = c.text(c.uint(1 << (flags & 3)));
  if (kind === 0) return { name, address: c.address(), ...order };
  const target = c.take(c.uint(2));
  const text = new TextDecoder().decode(target.subarray(kind === 64 ? 1 : 0)).replace(/\0/g, " ").trim();
  return { name, to: kind === 1 ? text : `another file: ${text}`, ...order };
}

/** The maximum number of links of a group. */
const maxLinks = 20_000;

/** The links of a group; undefined if the object is not a group. */
export async function linksOf(file: File, messages: Message[]): Promise<Link[] | undefined> {
  const links = messages.filter((m) => m.kind === 6).map((m) => link(m.body));
  const table = messages.find((m) => m.kind === 0x11);
  if (table) return tableLinks(file, table.body.address(), table.body.address());
  const info = messages.find((m) => m.kind === 2)?.body;
  if (!info) return links.length ? links : undefined;
  const flags = info.skip(1).uint(1);
  info.skip(flags & 1 ? 8 : 0);
  const [heapAt, index] = [info.address(), info.address()];
  if (heapAt === nowhere || index === nowhere) return links;
  const heap = await FractalHeap.open(file, heapAt);
  for (const record of await recordsOf(file, index, maxLinks)) links.push(link(new Cursor(await heap.object(record.skip(4)), file)));
  if (links.every((l) => l.order !== undefined)) return links.sort((a, b) => a.order! - b.order!);
  // the file stores them in hash order
  return links.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** The links of an old-style group: a B-tree of symbol tables, with names in a heap. */
async function tableLinks(file: File, tree: number, heapAt: number): Promise<Link[]> {
  const head = (await file.cursor(heapAt, 64)).expect("HEAP").skip(4);
  const size = head.length();
  head.length();
  if (size > maxBlock * 8) throw new Refused("The names of a group are too long.");
  const heap = await file.read(head.address(), size);
  const name = (at: number) => new TextDecoder().decode(heap.subarray(at, Math.max(at, heap.indexOf(0, at))));
  const links: Link[] = [];
  const seen = new Set<number>();
  const walk = async (at: number) => {
    if (seen.has(at) || links.length > maxLinks) return;
    seen.add(at);
    const node = await file.cursor(at, 8);
    if (node.text(4) === "SNOD") {
      const count = node.skip(2).uint(2);
      const entries = (await file.cursor(at, 8 + count * (2 * file.offsetSize + 24))).skip(8);
      for (let i = 0; i < count; i++) {
        const [nameAt, address, kind] = [entries.address(), entries.address(), entries.uint(4)];
        const target = entries.skip(4).uint(4);
        entries.skip(12);
        links.push(kind === 2 ? { name: name(nameAt), to: name(target) } : { name: name(nameAt), address });
      }
      return;
    }
    const count = node.skip(2).uint(2);
    const children = (await file.cursor(at, 8 + 2 * file.offsetSize + (count + 1) * (file.lengthSize + file.offsetSize))).skip(8 + 2 * file.offsetSize);
    for (let i = 0; i < count; i++) {
      children.length();
      await walk(children.address());
    }
  };
  await walk(tree);
  return links;
}

/** Limits: attributes of an object, values of an attribute, characters of an attribute, and
    characters of all attributes of a file. */
const maxAttributes = 2_000;
const maxValues = 64;
const maxText = 10_000;
const maxTexts = 8_000_000;

async function attribute(file: File, c: Cursor): Promise<Attribute> {
  const version = c.uint(1);
  const flags = c.uint(1);
  const [nameSize, typeSize, spaceSize] = [c.uint(2), c.uint(2), c.uint(2)];
  if (version === 3) c.skip(1);
  const padded = (n: number) => (version === 1 ? Math.ceil(n / 8) * 8 : n);
  const name = new Cursor(c.take(padded(nameSize)), file).text(nameSize);
  const typeBody = new Cursor(c.take(padded(typeSize)), file);
  const space = new Cursor(c.take(padded(spaceSize)), file);
  const type = await typeOf(file, { kind: 3, shared: version > 1 && (flags & 1) !== 0, body: typeBody });
  const found = spaceOf(space);
  if (!found) return [name, ""];
  const count = found.shape.reduce((n, m) => n * m, 1);
  const texts: string[] = [];
  for (let i = 0; i < Math.min(count, maxValues); i++) texts.push((await type.text(file, c.take(type.size))).slice(0, maxText + 1));
  const text = texts.join(", ");
  const said = text.length > maxText ? `${text.slice(0, maxText)}…` : text + (count > maxValues ? ", …" : "");
  return type.type ? [name, said, type.type.name] : [name, said];
}

export async function attributesOf(file: File, messages: Message[]): Promise<Attribute[]> {
  const attributes: Attribute[] = [];
  const add = async (body: () => Cursor | Promise<Cursor>) => {
    if (file.attributeText > maxTexts) return;
    const read = async () => attribute(file, await body());
    attributes.push(await read().catch((thrown) => ["?", `not readable: ${thrown instanceof Error ? thrown.message : String(thrown)}`] as Attribute));
    file.attributeText += attributes.at(-1)!.join("").length;
    if (file.attributeText > maxTexts) attributes.push(["…", "The attributes of this file that follow are not shown."]);
  };
  for (const m of messages.filter((m) => m.kind === 12 && !m.shared).slice(0, maxAttributes)) await add(() => m.body);
  const info = messages.find((m) => m.kind === 0x15)?.body;
  if (info) {
    const flags = info.skip(1).uint(1);
    info.skip(flags & 1 ? 2 : 0);
    const [heapAt, index] = [info.address(), info.address()];
    if (heapAt !== nowhere && index !== nowhere) {
      const heap = await FractalHeap.open(file, heapAt);
      const records = await recordsOf(file, index, maxAttributes - attributes.length);
      // one at a time, to hold only their texts in memory
      for (const record of records) await add(async () => new Cursor(await heap.object(record), file));
    }
  }
  return attributes;
}

// Arrow: files and streams of its IPC format (also Feather 2), read by ranges.
import type { Attribute, Item, Part, Selection } from "../sight/messages";
import { Batch } from "./arrow/batch";
import { Table } from "./arrow/flatbuffer";
import { type Column, type Field, fieldsOf, layout, pairs } from "./arrow/schema";
import { cellText, counted, partOfColumns, type Plain, readAll, rowsAndColumns } from "./lib/cells";
import { type Input, MiB, Refused, serve } from "./lib/serve";

/** Limits: bytes of the metadata of a file or a batch, and number of batches. */
const maxMetadata = 16 * MiB;
const maxBatches = 256;

/** The maximum number of values of a dictionary. */
const maxDictionary = 1 << 20;

interface Message {
  kind: number;
  header: Table;
  old: boolean;
  /** The compression method as Arrow 0.17 wrote it, or "". */
  codec: string;
  /** The range of its body. */
  body: number;
  end: number;
}

const kinds = { schema: 1, dictionary: 2, batch: 3 };

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The message at an offset; undefined at the end of a stream. */
async function messageAt(input: Input, at: number): Promise<Message | undefined> {
  const head = await input.read(at, 8);
  if (head.length < 4) return undefined;
  const view = viewOf(head);
  const prefix = view.getInt32(0, true) === -1 ? 8 : 4; // older files have no marker before the length
  const length = prefix === 8 ? (head.length === 8 ? view.getInt32(4, true) : 0) : view.getInt32(0, true);
  if (length === 0) return undefined;
  if (!(length > 0 && length <= maxMetadata)) throw new Refused("The length of a message is not valid.");
  const bytes = await input.read(at + prefix, length);
  if (bytes.length < length) throw new Refused("The file ends within a message.");
  const message = Table.root(bytes);
  const [body, bodyBytes] = [at + prefix + length, Number(message.long(3))];
  const header = message.table(2);
  if (!header || !(bodyBytes >= 0)) throw new Refused("A message is not valid.");
  const codec = pairs(message, 4).find(([key]) => key === "ARROW:experimental_compression")?.[1] ?? "";
  return { kind: message.byte(1), header, old: message.short(0) < 4, codec, body, end: body + bodyBytes };
}

interface Found {
  schema: Table;
  dictionaries: Message[];
  batches: Message[];
  about: string;
  complete: boolean;
}

/** The messages of a file, located by its footer. */
async function ofFile(input: Input): Promise<Found> {
  const tail = await input.read(input.bytes - 10, 10);
  if (String.fromCharCode(...tail.subarray(4)) !== "ARROW1") throw new Refused("It does not end like an Arrow file: it was cut off.");
  const length = viewOf(tail).getInt32(0, true);
  if (!(length > 0 && length <= Math.min(maxMetadata, input.bytes - 18))) throw new Refused("The length of its footer is not valid.");
  const footer = Table.root(await input.read(input.bytes - 10 - length, length));
  const schema = footer.table(1);
  if (!schema) throw new Refused("It has no schema.");
  const messages = async (field: number) => {
    const { length: all } = footer.vector(field, 24);
    const blocks = footer.longs(field, 3);
    const found = await Promise.all(Array.from({ length: Math.min(all, maxBatches) }, (_, i) => messageAt(input, blocks[3 * i]!)));
    return { found: found.filter((m) => m !== undefined), all };
  };
  const [dictionaries, batches] = [await messages(2), await messages(3)];
  if (dictionaries.all > maxBatches) throw new Refused(`It has more than ${maxBatches} dictionaries.`);
  const complete = batches.all <= maxBatches;
  return { schema, dictionaries: dictionaries.found, batches: batches.found, about: complete ? "" : `the first ${maxBatches} of ${batches.all} batches`, complete };
}

/** The messages of a stream, in order. */
async function ofStream(input: Input): Promise<Found> {
  const first = await messageAt(input, 0);
  if (first?.kind !== kinds.schema) throw new Refused("It does not begin with a schema.");
  const found: Found = { schema: first.header, dictionaries: [], batches: [], about: "", complete: true };
  for (let at = first.end; at < input.bytes; ) {
    const message = await messageAt(input, at);
    if (!message) break;
    if (message.end > input.bytes) {
      if (!found.batches.length) throw new Refused("The file ends within a message.");
      return { ...found, about: "the file was cut off; this is what it contains" };
    }
    if (found.batches.length + found.dictionaries.length >= maxBatches) return { ...found, about: `the first ${found.batches.length} batches`, complete: false };
    if (message.kind === kinds.dictionary) found.dictionaries.push(message);
    if (message.kind === kinds.batch) found.batches.push(message);
    at = message.end;
  }
  return found;
}

/** Values of dictionaries. A dictionary is read as a whole when a column needs it. */
class Dictionaries {
  private readonly values = new Map<bigint, Promise<Plain[]>>();
  private readonly reading = new Set<bigint>();

  constructor(
    private readonly input: Input,
    private readonly messages: Message[],
  ) {}

  of = (field: Field): Promise<Plain[]> => {
    const { id } = field.index!;
    let found = this.values.get(id);
    if (!found) {
      if (this.reading.has(id)) throw new Refused("A dictionary refers to itself.");
      this.reading.add(id);
      found = this.read(field, id).finally(() => this.reading.delete(id));
      this.values.set(id, found);
    } else if (this.reading.has(id) && this.reading.size > 1) throw new Refused("A dictionary refers to itself.");
    return found;
  };

  private async read({ index: _, ...field }: Field, id: bigint): Promise<Plain[]> {
    let all: Plain[] = [];
    for (const { header, body, end, old, codec } of this.messages) {
      const data = header.table(1);
      if (header.long(0) !== id || !data) continue;
      const batch = new Batch(this.input, data, { at: body, bytes: end - body, codec }, this.of);
      if (all.length + batch.length > maxDictionary) throw new Refused(`A dictionary has more than ${maxDictionary} values.`);
      const values = await batch.values(layout([field], batch.variadic, old)[0]!, 0, batch.length);
      all = header.byte(2) ? all.concat(values) : values;
    }
    return all;
  }
}

/** A batch with the positions of its columns. */
class Rows {
  readonly batch: Batch;
  readonly columns: Column[];

  constructor(input: Input, { header, body, end, old, codec }: Message, fields: Field[], dictionaries: Dictionaries) {
    if (end > input.bytes) throw new Refused("The file ends before a batch does.");
    this.batch = new Batch(input, header, { at: body, bytes: end - body, codec }, dictionaries.of);
    this.columns = layout(fields, this.batch.variadic, old);
  }
}

function itemOf(field: Field): Item {
  const about = `${field.type}${field.nullable ? "" : ", not null"}`;
  return { name: field.name, about, ...(field.metadata.length && { attributes: field.metadata }), ...(field.children.length && { items: field.children.map(itemOf) }) };
}

type Read = (s: Selection) => Promise<Part>;

function rowReader(batches: Rows[], rows: number, columns: number): Read {
  const read = async (column: number, from: number, to: number) => {
    const cells: string[] = [];
    let start = 0;
    for (const { batch, columns: found } of batches) {
      const [first, last] = [Math.max(from, start), Math.min(to, start + batch.length)];
      const values = first < last ? await batch.values(found[column]!, first - start, last - start) : [];
      for (const value of values) cells.push(cellText(value));
      start += batch.length;
    }
    return cells;
  };
  return async (s) => {
    const { from, to, columns: shown, line } = rowsAndColumns(s, rows, columns);
    return partOfColumns(await readAll(shown.map((c) => read(c, from, to)), to - from), line);
  };
}

serve(async (input) => {
  const head = String.fromCharCode(...(await input.read(0, 6)));
  if (head.startsWith("FEA1")) throw new Refused("It is Feather version 1, which is not supported. Convert it to version 2 with pyarrow.");
  const found = head === "ARROW1" ? await ofFile(input) : await ofStream(input);
  if (found.schema.short(0) === 1) throw new Refused("Its numbers are big-endian, which is not supported.");
  const fields = fieldsOf(found.schema.tables(1));
  const dictionaries = new Dictionaries(input, found.dictionaries);
  const batches = found.batches.filter((m) => m.kind === kinds.batch).map((m) => new Rows(input, m, fields, dictionaries));
  const rows = batches.reduce((n, { batch }) => n + batch.length, 0);
  const names = fields.map((f) => f.name);
  const items: Item[] = [
    { name: "rows", about: `${found.complete ? "" : "at least "}${counted(rows, "row")}, ${counted(names.length, "column")}`, id: 0, shape: [rows, names.length], columns: names },
    { name: "schema", about: counted(names.length, "column"), folded: true, items: fields.map(itemOf) },
    { name: "batches", about: `${batches.length}`, id: 1, shape: [batches.length, 2], columns: ["rows", "bytes"] },
  ];
  const sizes: Read = async (s) => {
    const { from, to, columns, line } = rowsAndColumns(s, batches.length, 2);
    const cells = [batches.map((b) => b.batch.length), found.batches.map((m) => m.end - m.body)];
    return partOfColumns(columns.map((c) => cells[c]!.slice(from, to).map(String)), line);
  };
  const reads = [rowReader(batches, rows, names.length), sizes];
  const attributes: Attribute[] = pairs(found.schema, 2);
  const about = ["Arrow", `${found.complete ? "" : "at least "}${counted(rows, "row")}`, found.about].filter(Boolean).join(", ");
  return { content: { view: "tree", about, attributes, items }, slice: (s) => reads[s.id]!(s) };
});

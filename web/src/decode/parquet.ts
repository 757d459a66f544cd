// Parquet: schema and footer together, rows by the pages that contain them.
import { parquetMetadata } from "hyparquet/src/metadata.js";
import { getSchemaPath } from "hyparquet/src/schema.js";
import type { FileMetaData, SchemaTree } from "hyparquet/src/types";
import type { Attribute, Item, Part, Selection } from "../sight/messages";
import { cellText, counted, partOfColumns, type Plain, readAll, rowsAndColumns } from "./lib/cells";
import { type Input, MiB, Refused, serve } from "./lib/serve";
import { Columns, type Leaf } from "./parquet/columns";
import { typeName } from "./parquet/types";

/** Limits: bytes of a footer, and elements and levels of a schema. */
const maxFooter = 16 * MiB;
const maxElements = 100_000;
const maxDepth = 100;

async function metadataOf(input: Input): Promise<FileMetaData> {
  const tail = await input.read(Math.max(0, input.bytes - 8), 8);
  const magic = String.fromCharCode(...tail.subarray(4));
  if (magic === "PARE") throw new Refused("It is encrypted.");
  if (magic !== "PAR1") throw new Refused("It does not end like a Parquet file: it was cut off, or has another format.");
  const length = new DataView(tail.buffer, tail.byteOffset).getUint32(0, true);
  if (length > input.bytes - 12) throw new Refused("Its footer would be longer than the file.");
  if (length > maxFooter) throw new Refused(`Its footer has more than ${maxFooter / MiB} MiB.`);
  const plain = (value: unknown) => value;
  const parsers = { // statistics of columns are not shown
    stringFromBytes: plain, timestampFromMilliseconds: plain, timestampFromMicroseconds: plain, timestampFromNanoseconds: plain, dateFromDays: plain, uuidFromBytes: plain,
  };
  return parquetMetadata(await input.read(input.bytes - 8 - length, length + 8), { geoparquet: false, parsers });
}

/** The schema as a tree. Its size is checked first, because it is built by recursion. */
function treeOf({ schema }: FileMetaData): SchemaTree {
  if (schema.length > maxElements) throw new Refused(`Its schema has more than ${maxElements} elements.`);
  const open: number[] = [];
  for (const { num_children: children = 0 } of schema) {
    while (open.length && open.at(-1) === 0) open.pop();
    if (open.length) open[open.length - 1]!--;
    if (children > 0) open.push(children);
    if (open.length > maxDepth) throw new Refused(`Its schema has more than ${maxDepth} levels.`);
  }
  if (open.some((n) => n > 0)) throw new Refused("Its schema is not complete.");
  return getSchemaPath(schema, [])[0]!;
}

/** The leaf columns below an element, in file order. */
function leavesOf(tree: SchemaTree): Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (node: SchemaTree, path: SchemaTree[]) => {
    if (node.children.length) for (const child of node.children) visit(child, [...path, child]);
    else leaves.push({ path, index: leaves.length });
  };
  visit(tree, [tree]);
  return leaves;
}

const sum = (numbers: (bigint | undefined)[]) => numbers.reduce<bigint>((n, m) => n + (m ?? 0n), 0n);
const unique = (texts: string[]) => [...new Set(texts)].join(", ");

function attributesOf(metadata: FileMetaData, index: number): Attribute[] {
  const chunks = metadata.row_groups.map((g) => g.columns[index]);
  const described = chunks.flatMap((c) => c?.meta_data ?? []);
  const nulls = described.map((m) => m.statistics?.null_count);
  return [
    ["compression", unique(described.map((m) => (m.codec ?? "unknown").toLowerCase()))],
    ["encodings", unique(described.flatMap((m) => m.encodings ?? []).map((e) => (e ?? "unknown").toLowerCase()))],
    ["bytes", `${sum(described.map((m) => m.total_compressed_size))}, unpacked ${sum(described.map((m) => m.total_uncompressed_size))}`],
    ...(nulls.length && nulls.every((n) => n !== undefined) ? [["nulls", String(sum(nulls))] as Attribute] : []),
    ...(chunks.some((c) => c?.crypto_metadata) ? [["encrypted", "yes"] as Attribute] : []),
  ];
}

/** An element of the schema, with the metadata of its column in the row groups. */
function elementItem(metadata: FileMetaData, node: SchemaTree, next: { leaf: number }): Item {
  const about = `${typeName(node.element)}, ${(node.element.repetition_type ?? "required").toLowerCase()}`;
  if (node.children.length) return { name: node.element.name, about, items: node.children.map((child) => elementItem(metadata, child, next)) };
  return { name: node.element.name, about, attributes: attributesOf(metadata, next.leaf++) };
}

type Read = (s: Selection) => Promise<Part>;

/** Reads rows of the table, across row groups. */
function rowReader(input: Input, metadata: FileMetaData, tree: SchemaTree, rows: number): Read {
  const columns = new Columns(input);
  const leaves = leavesOf(tree);
  const below = tree.children.map((child) => leaves.filter((l) => l.path[1] === child));
  const read = async (column: number, from: number, to: number) => {
    const cells: string[] = [];
    let start = 0;
    for (const group of metadata.row_groups) {
      const end = start + Number(group.num_rows);
      const [first, last] = [Math.max(from, start), Math.min(to, end)];
      const values: Plain[] = first < last ? await columns.rows(group, tree.children[column]!, below[column]!, first - start, last - start) : [];
      for (const value of values) cells.push(cellText(value ?? null));
      start = end;
    }
    return cells;
  };
  return async (s) => {
    const { from, to, columns: shown, line } = rowsAndColumns(s, rows, tree.children.length);
    return partOfColumns(await readAll(shown.map((c) => read(c, from, to)), to - from), line);
  };
}

function groupReader(metadata: FileMetaData): Read {
  return async (s) => {
    const { from, to, columns, line } = rowsAndColumns(s, metadata.row_groups.length, 3);
    const groups = metadata.row_groups.slice(from, to);
    const cells = [groups.map((g) => g.num_rows), groups.map((g) => sum(g.columns.map((c) => c.meta_data?.total_compressed_size))), groups.map((g) => g.total_byte_size)];
    return partOfColumns(columns.map((c) => cells[c]!.map(String)), line);
  };
}

serve(async (input) => {
  const metadata = await metadataOf(input);
  const tree = treeOf(metadata);
  if (metadata.row_groups.some((g) => g.num_rows < 0n)) throw new Refused("A row group has a negative number of rows.");
  const rows = Number(sum(metadata.row_groups.map((g) => g.num_rows)));
  const names = tree.children.map((c) => c.element.name);
  const groups = metadata.row_groups.length;
  const next = { leaf: 0 };
  const items: Item[] = [
    { name: "rows", about: `${counted(rows, "row")}, ${counted(names.length, "column")}`, id: 0, shape: [rows, names.length], columns: names },
    { name: "schema", about: counted(names.length, "column"), folded: true, items: tree.children.map((child) => elementItem(metadata, child, next)) },
    { name: "row groups", about: `${groups}`, id: 1, shape: [groups, 3], columns: ["rows", "bytes", "unpacked"] },
  ];
  const attributes: Attribute[] = [
    ...(metadata.created_by ? [["created by", metadata.created_by] as Attribute] : []),
    ["version", String(metadata.version)],
    ...(metadata.key_value_metadata ?? []).map(({ key, value }): Attribute => [key, value ?? ""]),
  ];
  const reads = [rowReader(input, metadata, tree, rows), groupReader(metadata)];
  return { content: { view: "tree", about: `Parquet, ${counted(rows, "row")}`, attributes, items }, slice: (s) => reads[s.id]!(s) };
});

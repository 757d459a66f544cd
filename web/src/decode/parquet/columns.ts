// Rows of a Parquet column: only the pages that contain them are read.
import { assembleNested } from "hyparquet/src/assemble.js";
import { deserializeTCompactProtocol } from "hyparquet/src/thrift.js";
import type { ColumnChunk, RowGroup, SchemaTree } from "hyparquet/src/types";
import type { Plain } from "../lib/cells";
import { type Input, maxBytes, MiB, Refused } from "../lib/serve";
import { type Page, pageAt, valuesOf } from "./pages";
import { valueOf } from "./types";

/** A leaf column: its path in the schema, and its number. */
export interface Leaf {
  path: SchemaTree[];
  index: number;
}

/** The size of the page cache in unpacked bytes. */
const maxKept = maxBytes;

/** The maximum size of a page index in bytes. */
const maxIndex = 16 * MiB;

interface Location {
  offset: number;
  row: number;
}

/** Whether a column is flat, so that a page has as many rows as values. */
const isFlat = ({ path }: Leaf) => path.length === 2 && path[1]!.element.repetition_type !== "REPEATED";

export class Columns {
  private readonly kept = new Map<number, { bytes: number; values: Promise<ArrayLike<unknown>> }>();
  private readonly indexes = new Map<number, Promise<Location[]>>();
  private bytes = 0;

  constructor(private readonly input: Input) {}

  /** Rows of a column of the table, which can be nested. */
  async rows(group: RowGroup, column: SchemaTree, leaves: Leaf[], start: number, end: number): Promise<Plain[]> {
    if (isFlat(leaves[0]!)) {
      const value = valueOf(column.element);
      return (await this.leafRows(group, leaves[0]!, start, end)).map(value);
    }
    const stored = new Map<string, unknown[]>();
    for (const leaf of leaves) {
      const values = await this.leafRows(group, leaf, start, end);
      stored.set(leaf.path.at(-1)!.path.join("."), deep(values, valueOf(leaf.path.at(-1)!.element)) as unknown[]);
    }
    assembleNested(stored, withoutMeaning(column), {});
    const empty = column.element.repetition_type === "REPEATED" ? [] : null;
    return ((stored.get(column.path.join(".")) ?? []) as Plain[]).map((value) => value ?? empty);
  }

  /** Rows of a leaf column within a row group. */
  private async leafRows(group: RowGroup, leaf: Leaf, start: number, end: number): Promise<unknown[]> {
    const chunk = group.columns[leaf.index];
    const { first, after, codec } = chunkOf(chunk);
    const flat = isFlat(leaf);
    const rows: unknown[] = [];
    const located = await this.locate(chunk!, start);
    let dictionary: ArrayLike<unknown> | undefined;
    let [at, row, read, unpacked] = [first, 0, 0, 0];
    let begins = 0; // the row of the table at rows[0]
    while (at < after && row < end + (flat ? 0 : 1)) {
      const page = await pageAt(this.input, at);
      at = page.end;
      if (page.header.type === "DICTIONARY_PAGE") {
        dictionary = await this.values(page, { path: leaf.path, codec });
        if (located) [at, row] = [located.offset, located.row];
        continue;
      }
      if (!read && located && row < located.row) {
        [at, row] = [located.offset, located.row];
        continue;
      }
      const counted = page.header.data_page_header_v2?.num_rows ?? (flat ? page.header.data_page_header?.num_values : undefined);
      // an index page
      if (!page.header.data_page_header && !page.header.data_page_header_v2) continue;
      if (counted !== undefined && row + counted <= start) {
        row += counted;
        continue;
      }
      if (!read++) begins = row;
      if (flat) {
        const values = await this.values(page, { path: leaf.path, codec }, dictionary);
        for (let i = Math.max(0, start - row); i < values.length && row + i < end; i++) rows.push(values[i]);
        if (row < start) begins = start;
        row += values.length;
      } else {
        unpacked += page.header.uncompressed_page_size;
        if (unpacked > maxBytes) throw new Refused(`These rows are within lists, after more than ${maxBytes / MiB} MiB without a row boundary.`);
        const values = await valuesOf(this.input, page, { path: leaf.path, codec }, dictionary, rows);
        // required, and not in a list
        if (values !== rows) for (let i = 0; i < values.length; i++) rows.push(values[i]);
        row = begins + rows.length;
      }
    }
    const found = rows.slice(Math.max(0, start - begins), end - begins);
    if (found.length < end - start) throw new Refused("A column ends before the table does.");
    return found;
  }

  /** The values of a page of a flat column, or of a dictionary, which are cached. */
  private values(page: Page, leaf: { path: SchemaTree[]; codec: string }, dictionary?: ArrayLike<unknown>): Promise<ArrayLike<unknown>> {
    const found = this.kept.get(page.body);
    if (found) return found.values;
    const values = valuesOf(this.input, page, leaf, dictionary);
    const bytes = page.header.uncompressed_page_size;
    this.kept.set(page.body, { bytes, values });
    this.bytes += bytes;
    for (const [key, old] of this.kept) {
      if (this.bytes <= maxKept || key === page.body) break;
      this.kept.delete(key);
      this.bytes -= old.bytes;
    }
    return values;
  }

  /** The position of the page with a row, if the file has an index. */
  private async locate({ offset_index_offset: offset, offset_index_length: length }: ColumnChunk, row: number): Promise<Location | undefined> {
    if (!offset || !length || length > maxIndex || !row) return undefined;
    let index = this.indexes.get(Number(offset));
    index ??= this.input.read(Number(offset), length).then((bytes) => {
      const { field_1: pages } = deserializeTCompactProtocol({ view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 }) as {
        field_1?: { field_1: bigint; field_3: bigint }[];
      };
      return (pages ?? []).map((p) => ({ offset: Number(p.field_1), row: Number(p.field_3) }));
    });
    this.indexes.set(Number(offset), index);
    return (await index).findLast((location) => location.row <= row);
  }
}

function chunkOf(chunk: ColumnChunk | undefined): { first: number; after: number; codec: string } {
  const meta = chunk?.meta_data;
  if (chunk?.crypto_metadata) throw new Refused("This column is encrypted.");
  if (chunk?.file_path) throw new Refused("The values of this column are in another file.");
  if (!meta) throw new Refused("A column of this table has no metadata.");
  const [data, dictionary] = [Number(meta.data_page_offset), Number(meta.dictionary_page_offset ?? 0)];
  const first = dictionary > 0 && dictionary < data ? dictionary : data;
  return { first, after: first + Number(meta.total_compressed_size), codec: meta.codec };
}

/** Applies a function to the elements of nested arrays. */
function deep(value: unknown, leaf: (stored: unknown) => Plain): unknown {
  return Array.isArray(value) ? value.map((inner) => deep(inner, leaf)) : leaf(value);
}

/** Values are already converted; this step only assembles lists and maps. */
function withoutMeaning(tree: SchemaTree): SchemaTree {
  const { logical_type: type, ...element } = tree.element;
  const converted = { LIST: "LIST", MAP: "MAP" }[type?.type ?? ""] ?? element.converted_type;
  return { ...tree, element: converted ? { ...element, converted_type: converted } : element, children: tree.children.map(withoutMeaning) };
}

// Locates, unpacks and checks Parquet pages. hyparquet trusts the counts in a page, so they are
// checked first.
import { decompress as unzstd } from "fzstd";
import { parquetHeader, readPage } from "hyparquet/src/column.js";
import { deltaBinaryUnpack } from "hyparquet/src/delta.js";
import { getMaxDefinitionLevel, getMaxRepetitionLevel } from "hyparquet/src/schema.js";
import { snappyUncompress } from "hyparquet/src/snappy.js";
import { readVarInt } from "hyparquet/src/thrift.js";
import type { DataReader, PageHeader, SchemaTree } from "hyparquet/src/types";
import { gunzip, inflate } from "../lib/inflate";
import * as lz4 from "../lib/lz4";
import { concat, type Input, maxBytes, MiB, Refused } from "../lib/serve";

/** The maximum number of values of a page. */
const maxValues = 16 << 20;

/** The number of bytes read for a page header; headers with long statistics need more. */
const headerBytes = [4096, 256 << 10, 4 * MiB];

export interface Page {
  header: PageHeader;
  /** The range of its content. */
  body: number;
  end: number;
}

/** The page that begins at an offset. */
export async function pageAt(input: Input, at: number): Promise<Page> {
  for (const length of headerBytes) {
    const bytes = await input.read(at, length);
    const reader = readerOf(bytes);
    try {
      const header = parquetHeader(reader);
      check(header);
      const body = at + reader.offset;
      return { header, body, end: body + header.compressed_page_size };
    } catch (thrown) {
      if (thrown instanceof Refused || bytes.length < length || length === headerBytes.at(-1)) throw thrown instanceof Refused ? thrown : new Refused("The header of a page is damaged.");
    }
  }
  throw new Refused("The header of a page is damaged.");
}

const readerOf = (bytes: Uint8Array): DataReader => ({ view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 });

function check({ uncompressed_page_size: unpacked, compressed_page_size: packed, data_page_header: v1, data_page_header_v2: v2, dictionary_page_header: dictionary }: PageHeader) {
  const values = v1?.num_values ?? v2?.num_values ?? dictionary?.num_values ?? 0;
  if (!(unpacked >= 0 && packed >= 0)) throw new Refused("A page has a size that is not valid.");
  if (unpacked > maxBytes || packed > maxBytes) throw new Refused(`A page has more than ${maxBytes / MiB} MiB.`);
  if (!(values >= 0 && values <= maxValues)) throw new Refused(`A page declares ${values} values; the limit is ${maxValues}.`);
  if (v2 && !(v2.num_rows >= 0 && v2.num_rows <= values && v2.num_nulls >= 0 && v2.num_nulls <= values)) throw new Refused("A page has counts that are not valid.");
}

const unpackers: Record<string, (packed: Uint8Array<ArrayBuffer>, length: number) => Uint8Array | Promise<Uint8Array>> = {
  UNCOMPRESSED: (packed) => packed,
  SNAPPY: (packed, length) => {
    const unpacked = new Uint8Array(length);
    snappyUncompress(packed, unpacked);
    return unpacked;
  },
  GZIP: async (packed, length) => gunzipped(packed, length),
  ZSTD: (packed, length) => unzstd(packed, new Uint8Array(length)),
  LZ4: lz4.hadoop,
  LZ4_RAW: lz4.raw,
};

/** Some writers put several gzip members into one page. */
async function gunzipped(packed: Uint8Array<ArrayBuffer>, length: number): Promise<Uint8Array> {
  const first = await inflate(packed, "gzip", length);
  if (first.length === length) return first;
  return (await gunzip(packed, length)).bytes;
}

async function unpack(packed: Uint8Array<ArrayBuffer>, codec: string, length: number): Promise<Uint8Array> {
  const unpacker = unpackers[codec];
  if (!unpacker) throw new Refused(`This column is compressed with ${codec ?? "an unknown method"}, which is not supported.`);
  if (length === 0) return new Uint8Array(0);
  let unpacked: Uint8Array;
  try {
    unpacked = await unpacker(packed, length);
  } catch {
    throw new Refused("A compressed part of the file is damaged.");
  }
  if (unpacked.length !== length) throw new Refused("A compressed part of the file is damaged: its length does not match.");
  return unpacked;
}

/** A leaf column: its path in the schema, and the compression of its pages. */
export interface Leaf {
  path: SchemaTree[];
  codec: string;
}

/** Refuses runs that are longer than the page, because the library expands them. */
function checkRuns(reader: DataReader, width: number, end: number, values: number) {
  for (let seen = 0; seen < values && reader.offset < end; ) {
    const header = readVarInt(reader);
    const count = header & 1 ? (header >>> 1) * 8 : header >>> 1;
    if (count > values + 512) throw new Refused("A page has a run that is longer than the page.");
    reader.offset += header & 1 ? (header >>> 1) * width : (width + 7) >> 3;
    seen += count;
  }
  reader.offset = end;
}

const bitsOf = (most: number) => 32 - Math.clz32(most);

/** Refuses values that would unpack to much more than the page. */
function checkValues(reader: DataReader, encoding: string, values: number) {
  const { view } = reader;
  if (encoding === "PLAIN_DICTIONARY" || encoding === "RLE_DICTIONARY") {
    if (reader.offset < view.byteLength) checkRuns(reader, view.getUint8(reader.offset++), view.byteLength, values);
  } else if (encoding === "RLE") {
    reader.offset += 4;
    checkRuns(reader, 1, view.byteLength, values);
  } else if (encoding === "DELTA_BYTE_ARRAY" && values) {
    const start = { ...reader };
    // fewer than values if some are null
    const [, , stored] = [readVarInt(start), readVarInt(start), readVarInt(start)];
    const lengths = new Int32Array(Math.max(1, Math.min(stored, values)));
    let total = 0;
    for (let i = 0; i < 2; i++) {
      deltaBinaryUnpack(reader, lengths.length, lengths);
      for (const length of lengths) total += length < 0 ? Infinity : length;
    }
    if (total > maxBytes) throw new Refused(`A page unpacks to more than ${maxBytes / MiB} MiB.`);
  }
}

function checkPage(bytes: Uint8Array, header: PageHeader, path: SchemaTree[]) {
  const reader = readerOf(bytes);
  const [repetition, definition] = [getMaxRepetitionLevel(path), getMaxDefinitionLevel(path)];
  const { data_page_header: v1, data_page_header_v2: v2 } = header;
  const levels = [[repetition, v2?.repetition_levels_byte_length], [definition, v2?.definition_levels_byte_length]] as const;
  const values = v1?.num_values ?? v2!.num_values;
  for (const [most, length] of levels) {
    if (!most && !length) continue;
    const end = (length ?? 4 + reader.view.getUint32(reader.offset, true)) + reader.offset;
    if (end > bytes.length) throw new Refused("The levels of a page are longer than the page.");
    if (length === undefined) reader.offset += 4;
    checkRuns(reader, bitsOf(most), end, values);
  }
  checkValues(reader, v1?.encoding ?? v2!.encoding, v2 ? values - v2.num_nulls : values);
}

/** The bytes of a page with its values before compression. */
async function content(input: Input, page: Page, codec: string): Promise<Uint8Array> {
  const { header, body, end } = page;
  const packed = await input.read(body, end - body);
  if (packed.length < end - body) throw new Refused("The file ends before a page does.");
  const v2 = header.data_page_header_v2;
  if (!v2) return unpack(packed, codec, header.uncompressed_page_size);
  const levels = v2.repetition_levels_byte_length + v2.definition_levels_byte_length;
  if (!(levels >= 0 && levels <= packed.length && levels <= header.uncompressed_page_size)) throw new Refused("The levels of a page are longer than the page.");
  if (!v2.is_compressed) return packed;
  return concat([packed.subarray(0, levels), await unpack(packed.subarray(levels), codec, header.uncompressed_page_size - levels)]);
}

/** The stored values of a page. Values of a nested column are in arrays, which continue the
    `previous` ones. */
export async function valuesOf(input: Input, page: Page, leaf: Leaf, dictionary: ArrayLike<unknown> | undefined, previous?: unknown[]): Promise<ArrayLike<unknown>> {
  const bytes = await content(input, page, leaf.codec);
  const isData = page.header.type !== "DICTIONARY_PAGE";
  if (isData) checkPage(bytes, page.header, leaf.path);
  const { type, type_length, repetition_type, name } = leaf.path.at(-1)!.element;
  const v2 = page.header.data_page_header_v2;
  const header = { ...page.header, compressed_page_size: bytes.length, uncompressed_page_size: bytes.length, ...(v2 && { data_page_header_v2: { ...v2, is_compressed: false } }) };
  // Without a logical type, values stay as stored and are exact.
  const decoder = { type, element: { type_length, repetition_type, name }, schemaPath: leaf.path.map((t) => ({ ...t, element: { ...t.element, logical_type: undefined } })), codec: "UNCOMPRESSED", utf8: false };
  const { data } = readPage(readerOf(bytes), header, decoder, dictionary, previous, 0);
  return data ?? [];
}

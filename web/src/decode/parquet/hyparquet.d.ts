// The used parts of hyparquet. Its own declarations are larger than the used code.
declare module "hyparquet/src/types" {
  export interface SchemaElement {
    type?: string;
    type_length?: number;
    repetition_type?: "REQUIRED" | "OPTIONAL" | "REPEATED";
    name: string;
    num_children?: number;
    converted_type?: string;
    scale?: number;
    precision?: number;
    logical_type?: { type?: string; scale?: number; precision?: number; unit?: string; isAdjustedToUTC?: boolean; bitWidth?: number; isSigned?: boolean };
  }
  export interface SchemaTree {
    element: SchemaElement;
    children: SchemaTree[];
    count: number;
    path: string[];
  }
  export interface ColumnMetaData {
    type: string;
    encodings?: string[];
    path_in_schema: string[];
    codec: string;
    num_values: bigint;
    total_uncompressed_size: bigint;
    total_compressed_size: bigint;
    data_page_offset: bigint;
    dictionary_page_offset?: bigint;
    statistics?: { max?: unknown; min?: unknown; max_value?: unknown; min_value?: unknown; null_count?: bigint };
  }
  export interface ColumnChunk {
    file_path?: string;
    meta_data?: ColumnMetaData;
    offset_index_offset?: bigint;
    offset_index_length?: number;
    crypto_metadata?: unknown;
  }
  export interface RowGroup {
    columns: ColumnChunk[];
    total_byte_size: bigint;
    num_rows: bigint;
  }
  export interface FileMetaData {
    version: number;
    schema: SchemaElement[];
    num_rows: bigint;
    row_groups: RowGroup[];
    key_value_metadata?: { key: string; value?: string }[];
    created_by?: string;
  }
  export interface PageHeader {
    type: string;
    uncompressed_page_size: number;
    compressed_page_size: number;
    data_page_header?: { num_values: number; encoding: string };
    dictionary_page_header?: { num_values: number };
    data_page_header_v2?: {
      num_values: number; num_nulls: number; num_rows: number; encoding: string; definition_levels_byte_length: number; repetition_levels_byte_length: number; is_compressed: boolean;
    };
  }
  export interface DataReader {
    view: DataView;
    offset: number;
  }
}
declare module "hyparquet/src/metadata.js" {
  export function parquetMetadata(footer: Uint8Array, options: { geoparquet: boolean; parsers: Record<string, unknown> }): import("hyparquet/src/types").FileMetaData;
}
declare module "hyparquet/src/column.js" {
  type Types = typeof import("hyparquet/src/types");
  export function parquetHeader(reader: import("hyparquet/src/types").DataReader): import("hyparquet/src/types").PageHeader;
  export function readPage(
    reader: import("hyparquet/src/types").DataReader, header: import("hyparquet/src/types").PageHeader, decoder: object, dictionary: ArrayLike<unknown> | undefined,
    previous: unknown[] | undefined, skip: number,
  ): { data?: ArrayLike<unknown> };
}
declare module "hyparquet/src/assemble.js" {
  export function assembleNested(columns: Map<string, unknown[]>, schema: import("hyparquet/src/types").SchemaTree, parsers: object, depth?: number): void;
}
declare module "hyparquet/src/schema.js" {
  export function getSchemaPath(schema: import("hyparquet/src/types").SchemaElement[], name: string[]): import("hyparquet/src/types").SchemaTree[];
  export function getMaxDefinitionLevel(path: import("hyparquet/src/types").SchemaTree[]): number;
  export function getMaxRepetitionLevel(path: import("hyparquet/src/types").SchemaTree[]): number;
}
declare module "hyparquet/src/thrift.js" {
  export function deserializeTCompactProtocol(reader: import("hyparquet/src/types").DataReader): Record<string, never>;
  export function readVarInt(reader: import("hyparquet/src/types").DataReader): number;
}
declare module "hyparquet/src/delta.js" {
  export function deltaBinaryUnpack(reader: import("hyparquet/src/types").DataReader, count: number, output: Int32Array): void;
}
declare module "hyparquet/src/snappy.js" {
  export function snappyUncompress(input: Uint8Array, output: Uint8Array): void;
}

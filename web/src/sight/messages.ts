// The messages between a page and a decoder: a worker for files of one format, without session and
// network.
import type { MathTree } from "./mathml";

import type { Fit } from "../plot/statistics";

export type Values =
  | Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array | BigInt64Array | BigUint64Array | string[];

/** Several values are separated by ", ". The type is the type of numbers. */
export type Attribute = [name: string, value: string, type?: string];

/** A group or an array in a file. */
export interface Item {
  name: string;
  /** A description, such as "float32, 100 × 200". */
  about: string;
  attributes?: Attribute[];
  /** For a group: its items, and whether it is folded initially. */
  items?: Item[];
  folded?: boolean;
  /** For an array: its id in a Selection, and the length of each dimension. */
  id?: number;
  shape?: number[];
  /** Names of the dimensions, if the file has them. */
  dimensions?: string[];
  /** For each dimension the array of its coordinates, if the file has one. */
  axes?: (number | undefined)[];
  /** Its title and its unit in the file. */
  title?: string;
  unit?: string;
  /** The rule from stored to shown values as text, if they differ. */
  packed?: string;
  /** For times: the epoch in seconds after 1970, and the unit in seconds. */
  time?: { from: number; step: number };
  /** For a table: the names of the columns, which are its last dimension. */
  columns?: string[];
  /** Whether the first row of its picture is at the bottom. */
  upwards?: boolean;
  /** The reason why its values cannot be shown. */
  why?: string;
}

/** A file in an archive. */
export interface Entry {
  path: string;
  bytes: number;
  /** Its compressed size, if it is compressed individually. */
  packed?: number;
  /** The time in the archive, without a time zone. */
  modified?: string;
  /** The reason why it cannot be read. */
  why?: string;
}

/** A picture in a file. */
export interface Sheet {
  name: string;
  width: number;
  height: number;
  about: string;
  /** The side of a pixel in metres, if known. */
  pixel?: number;
  /** The unit of its values, and the rule from stored to shown values, if they differ. */
  unit?: string;
  packed?: string;
}

/** Atoms with bonds, or the triangles of a surface. Coordinates are in the order x, y, z. */
export interface Model {
  title: string;
  facts: Attribute[];
  /** Omissions and uncertainties. */
  notes: string[];
  /** The centre and size of its bounding box; points are relative to the centre. */
  centre: number[];
  points: Float32Array;
  /** Indices of points: pairs of bonded atoms, or corners of triangles. */
  joined: Uint32Array;
  /** For the points of a surface: red, green, blue. */
  colours?: Uint8Array;
  atoms?: Atoms;
  /** The corner of the unit cell, relative to the centre, and its three edges. */
  cell?: number[];
}

/** The properties of each atom of a model. */
export interface Atoms {
  /** Atomic numbers; 0: unknown. */
  elements: Uint8Array;
  /** Indices of names. */
  chains: Uint16Array;
  chainNames: string[];
  /** The kind of molecule of an atom: 1: a protein or a nucleic acid; 2: water; 0: other. */
  parts: Uint8Array;
  /** The atoms of backbones in order; 0xffffffff ends a backbone. */
  trace: Uint32Array;
  /** The columns of the table of atoms. The slice id of this table numbers the frames and, within
      each frame, the forms. */
  columns: string[];
}

/** The requested model of a file, and its form. */
export interface Chosen {
  frame: number;
  form: number;
}

/** The quality of the reads so far. */
export interface Quality {
  /** The mean at each position of a read. */
  byPosition: number[];
  /** The number of reads by rounded mean. */
  histogram: number[];
}

/** A part of a sequence. */
export interface Letters {
  name: string;
  description: string;
  /** The number of letters of the whole sequence, and of letters before this part. */
  length: number;
  from: number;
  letters: string;
  /** Letters are nucleotides, not amino acids. */
  nucleic: boolean;
  /** The quality of each letter, and the mean of the sequence. */
  quality?: number[];
  mean?: number;
}

/** Columns of numbers; the first one is X. */
export interface Spectrum {
  name: string;
  about: string;
  attributes: Attribute[];
  columns: string[];
  values: Float64Array[];
  /** X ascends to the left. */
  reversed: boolean;
  /** Whether its points are peaks, which no line joins. */
  peaks: boolean;
  /** Sentences about contradictions in the file. */
  problems: string[];
}

/** The content of a file, without its large parts. */
export type Content = Shown & {
  /** A note about the file, such as damage at its end. */
  remarks?: string[];
  /** Whether more can be read: a description of the part read so far, and whether the rest is read
      automatically. */
  more?: { says: string; automatic: boolean };
};

type Shown =
  | { view: "sequences"; about: string; attributes: Attribute[]; table: Item; quality?: Quality }
  | {
      view: "tree";
      about: string;
      attributes: Attribute[];
      items: Item[];
      /** The default array, according to the file or its format. */
      first?: number;
    }
  | { view: "entries"; about: string; entries: Entry[] }
  | { view: "pictures"; about: string; attributes: Attribute[]; sheets: Sheet[]; notes: [title: string, text: string][] }
  | { view: "spectra"; about: string; attributes: Attribute[]; spectra: Spectrum[] }
  | {
      view: "model";
      about: string;
      attributes: Attribute[];
      /** The number of models, and the noun for one. */
      frames: number;
      frame: string;
      /** The names of the forms of a model, if there are several, and the default. */
      forms: string[];
      form: number;
      /** The first model. */
      model: Model;
    };

/** A part of an array with at most two dimensions. */
export interface Selection {
  id: number;
  /** An index for each dimension; the indices of rows and columns are ignored. */
  fixed: number[];
  /** The shown dimensions; -1: none. */
  rows: number;
  columns: number;
  from: [row: number, column: number];
  count: [rows: number, columns: number];
  /** The maximum number of rows and columns. If there are more, only every n-th is returned. */
  most: [rows: number, columns: number];
  /** Whether stored values are requested. */
  stored?: boolean;
}

export interface Part {
  /** Row by row. */
  values: Values;
  /** NaN, or an empty text, stands for a missing value. */
  masked?: boolean;
  height: number;
  width: number;
  /** The step between returned rows and columns. */
  step: [rows: number, columns: number];
}

/** A part of a picture, in its pixels. */
export interface Region {
  sheet: number;
  left: number;
  top: number;
  width: number;
  height: number;
  /** The maximum number of pixels of a side. If there are more, only every n-th is returned. */
  most: number;
  /** Whether stored values are requested. */
  stored?: boolean;
}

/** Samples of a picture, row by row. */
export interface Raster {
  width: number;
  height: number;
  /** 1: brightness; 3: red, green, blue; 4: and opacity. */
  channels: number;
  values: Exclude<Values, string[] | BigInt64Array | BigUint64Array>;
  /** The step between returned rows and columns; for a smaller copy, the pixels of the picture per
      pixel. */
  step: [rows: number, columns: number];
  /** Whether it is from a smaller copy in the file. */
  copied?: boolean;
  /** Whether the lowest value is white. */
  inverted?: boolean;
  /** Whether the first row is at the bottom. */
  upwards?: boolean;
  /** NaN stands for a missing value. */
  masked?: boolean;
}

/** The parameters of thinning a table in a text file. Columns are numbered from 0; -1 is the row
    number. */
export interface Scan {
  separator: "\t" | ";" | "|" | "," | " ";
  decimal: "." | ",";
  /** The label of the encoding. */
  encoding: string;
  x: number;
  /** Whether X is a time. */
  time: boolean;
  curves: { y: number; error?: number }[];
  /** The byte range: rows that begin in it are read. */
  from: number;
  to: number;
  /** Rows before the table, at the start of the file. */
  skip: number;
  /** The number of the row at `from`. */
  row: number;
  parts: number;
  log: { x: boolean; y: boolean };
  /** The x range of the points that count for fits and statistics. */
  range?: [min: number, max: number];
}

/** A thinned table, as far as it was read. */
export interface Scanned {
  /** The number of read bytes, and of all bytes. */
  read: number;
  of: number;
  rows: number;
  /** Rows without a number for x. */
  without: number;
  /** Whether X ascends throughout. */
  ordered: boolean;
  /** The least and the greatest x of each part; parts have the same number of bytes. */
  extents: Float64Array;
  /** For each curve, the points with the minimum and the maximum of each part, in row order. */
  curves: { x: Float64Array; y: Float64Array; fit: CurveFit; figures: Figures }[];
}

/** A straight line through a curve, and the number of its points without a usable error. */
export interface CurveFit {
  fit: Fit | undefined;
  unweighted: number;
}

export interface Figures {
  n: number;
  min: number;
  max: number;
  mean: number;
  /** The number of values that are not above zero, if the axis is logarithmic. */
  omitted: number;
}

export interface Requests {
  open: { argument: { name: string; bytes: number }; answer: Content };
  slice: { argument: Selection; answer: Part };
  picture: { argument: Region; answer: Raster };
  /** Continues reading, or begins with the given text. */
  scan: { argument: Scan | undefined; answer: Scanned };
  entry: { argument: number; answer: ArrayBuffer };
  model: { argument: Chosen; answer: Model };
  /** For source code: the end of each run of characters in UTF-16 units, and its class
      (codeClasses). */
  highlight: { argument: { language: string; text: string }; answer: Uint32Array };
  formula: { argument: { source: string; display: boolean }; answer: MathTree };
  letters: { argument: { record: number; from: number; count: number }; answer: Letters };
  more: { argument: null; answer: Content };
}

export type Method = keyof Requests;

/** From the page to the decoder. */
export type ToDecoder =
  | { kind: "call"; call: number; method: Method; argument: unknown }
  /** The bytes that the decoder has requested; absent if they could not be read. */
  | { kind: "bytes"; read: number; bytes: ArrayBuffer | undefined };

/** From the decoder to the page. */
export type FromDecoder =
  | { kind: "ready" }
  | { kind: "read"; read: number; start: number; length: number }
  | { kind: "answer"; call: number; answer: unknown }
  | { kind: "failed"; call: number; why: string };

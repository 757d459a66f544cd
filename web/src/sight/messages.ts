// The messages between a page and a decoder: a worker that reads files of one format, and has no session and no network.
import type { MathTree } from "./mathml";

import type { Fit } from "../plot/statistics";

export type Values =
  | Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array | BigInt64Array | BigUint64Array | string[];

/** Several values have ", " between them. The type is that of numbers. */
export type Attribute = [name: string, value: string, type?: string];

/** A group or an array in a file. */
export interface Item {
  name: string;
  /** What it is, such as "float32, 100 × 200". */
  about: string;
  attributes?: Attribute[];
  /** Of a group, which is folded at first if it says so. */
  items?: Item[];
  folded?: boolean;
  /** Of an array: what a Selection calls it, and the length of each dimension. */
  id?: number;
  shape?: number[];
  /** Names of the dimensions, where the file has them. */
  dimensions?: string[];
  /** Of each dimension the array of its coordinates, where the file has one. */
  axes?: (number | undefined)[];
  /** Its title and its unit in the file. */
  title?: string;
  unit?: string;
  /** The rule that turns stored values into shown ones, in words, where they differ. */
  packed?: string;
  /** Of times: the seconds after 1970 that 0 stands for, and those of 1. */
  time?: { from: number; step: number };
  /** Of a table, whose last dimension these are. */
  columns?: string[];
  /** The first row of its picture is the lowest one. */
  upwards?: boolean;
  /** Why its values cannot be shown. */
  why?: string;
}

/** A file in an archive. */
export interface Entry {
  path: string;
  bytes: number;
  /** Its bytes in the archive, if it is compressed alone. */
  packed?: number;
  /** As the archive has it, which knows no time zone. */
  modified?: string;
  /** Why it cannot be read. */
  why?: string;
}

/** A picture in a file. */
export interface Sheet {
  name: string;
  width: number;
  height: number;
  about: string;
  /** The side of a pixel in metres, where the file tells it. */
  pixel?: number;
  /** The unit of its values, and how these are made of those that are stored, where they differ. */
  unit?: string;
  packed?: string;
}

/** Atoms with their bonds, or the triangles of a surface. Coordinates follow each other as x, y, z. */
export interface Model {
  title: string;
  facts: Attribute[];
  /** What is left out or not sure. */
  notes: string[];
  /** Of the box around it; points are relative to it. */
  centre: number[];
  points: Float32Array;
  /** Indices of points: pairs of bonded atoms, or corners of triangles. */
  joined: Uint32Array;
  /** Of the points of a surface: red, green, blue. */
  colours?: Uint8Array;
  atoms?: Atoms;
  /** The corner of the unit cell, relative to the centre, and its three edges. */
  cell?: number[];
}

/** What is known of each atom of a model. */
export interface Atoms {
  /** Atomic numbers; 0: not known. */
  elements: Uint8Array;
  /** Indices of names. */
  chains: Uint16Array;
  chainNames: string[];
  /** What an atom belongs to: 1: a protein or a nucleic acid; 2: water; 0: something else. */
  parts: Uint8Array;
  /** Atoms that a backbone goes through, one after the other; 0xffffffff ends it. */
  trace: Uint32Array;
  /** Columns of the table of atoms, which is the slice whose id counts frames and, in these, forms. */
  columns: string[];
}

/** Which of the models of a file is wanted, and in which of the forms that the file has. */
export interface Chosen {
  frame: number;
  form: number;
}

/** How good the letters of reads are, as far as they were read. */
export interface Quality {
  /** The mean at each position of a read. */
  byPosition: number[];
  /** How many reads have each mean, rounded. */
  histogram: number[];
}

/** A part of a sequence. */
export interface Letters {
  name: string;
  description: string;
  /** Letters of the whole sequence, and how many come before this part. */
  length: number;
  from: number;
  letters: string;
  /** Letters are nucleotides, not amino acids. */
  nucleic: boolean;
  /** Of each letter, and the mean of the sequence. */
  quality?: number[];
  mean?: number;
}

/** Columns of numbers, of which the first one is X. */
export interface Spectrum {
  name: string;
  about: string;
  attributes: Attribute[];
  columns: string[];
  values: Float64Array[];
  /** X ascends to the left. */
  reversed: boolean;
  /** Its points are peaks, which no line joins. */
  peaks: boolean;
  /** Where it contradicts itself. */
  problems: string[];
}

/** What a file contains, without its large parts. */
export type Content = Shown & {
  /** What is to be said about it, such as that it is damaged at the end. */
  remarks?: string[];
  /** More can be read: what was read so far, and whether the rest is read without being asked for. */
  more?: { says: string; automatic: boolean };
};

type Shown =
  | { view: "sequences"; about: string; attributes: Attribute[]; table: Item; quality?: Quality }
  | {
      view: "tree";
      about: string;
      attributes: Attribute[];
      items: Item[];
      /** The array that is shown first, where the file says so or its format suggests it. */
      first?: number;
    }
  | { view: "entries"; about: string; entries: Entry[] }
  | { view: "pictures"; about: string; attributes: Attribute[]; sheets: Sheet[]; notes: [title: string, text: string][] }
  | { view: "spectra"; about: string; attributes: Attribute[]; spectra: Spectrum[] }
  | {
      view: "model";
      about: string;
      attributes: Attribute[];
      /** How many models there are, and what one is called. */
      frames: number;
      frame: string;
      /** Names of the forms of a model, if there are several, and which one is shown first. */
      forms: string[];
      form: number;
      /** The first one. */
      model: Model;
    };

/** A part of an array with at most two dimensions. */
export interface Selection {
  id: number;
  /** An index for each dimension; those of rows and columns are not used. */
  fixed: number[];
  /** The dimensions that are shown; -1: none. */
  rows: number;
  columns: number;
  from: [row: number, column: number];
  count: [rows: number, columns: number];
  /** Where there are more, only every n-th is taken. */
  most: [rows: number, columns: number];
  /** Values are wanted as they are stored. */
  stored?: boolean;
}

export interface Part {
  /** Row by row. */
  values: Values;
  /** NaN, or an empty text, stands for a value that is missing. */
  masked?: boolean;
  height: number;
  width: number;
  /** Every n-th row and column has been taken. */
  step: [rows: number, columns: number];
}

/** A part of a picture, in its pixels. */
export interface Region {
  sheet: number;
  left: number;
  top: number;
  width: number;
  height: number;
  /** Where a side has more pixels, only every n-th is taken. */
  most: number;
  /** Values are wanted as they are stored. */
  stored?: boolean;
}

/** Samples of a picture, row by row. */
export interface Raster {
  width: number;
  height: number;
  /** 1: brightness; 3: red, green, blue; 4: and opacity. */
  channels: number;
  values: Exclude<Values, string[] | BigInt64Array | BigUint64Array>;
  /** Every n-th row and column has been taken; of a smaller copy: how many of the picture one stands for. */
  step: [rows: number, columns: number];
  /** It is of a smaller copy that the file has. */
  copied?: boolean;
  /** The lowest value is white. */
  inverted?: boolean;
  /** The first row is the lowest one. */
  upwards?: boolean;
  /** NaN stands for a value that is missing. */
  masked?: boolean;
}

/** What of a text file with a table is thinned. Columns are numbered from 0; -1 is the row number. */
export interface Scan {
  separator: "\t" | ";" | "|" | "," | " ";
  decimal: "." | ",";
  /** The label of the encoding. */
  encoding: string;
  x: number;
  /** X is a time. */
  time: boolean;
  curves: { y: number; error?: number }[];
  /** The bytes that are read: the rows that begin there. */
  from: number;
  to: number;
  /** Rows before the table, at the start of the file. */
  skip: number;
  /** The number of the row at `from`. */
  row: number;
  parts: number;
  log: { x: boolean; y: boolean };
  /** Points whose x is not within it do not count for fits and figures. */
  range?: [min: number, max: number];
}

/** A thinned table, as far as it was read. */
export interface Scanned {
  /** Bytes that were read, and all of them. */
  read: number;
  of: number;
  rows: number;
  /** Rows without a number for x. */
  without: number;
  /** X ascends throughout. */
  ordered: boolean;
  /** The least and the greatest x of each part: parts have as many bytes each. */
  extents: Float64Array;
  /** Of each curve the points with the minimum and the maximum of each part, in the order of the rows. */
  curves: { x: Float64Array; y: Float64Array; fit: CurveFit; figures: Figures }[];
}

/** A straight line through a curve, and how many of its points have no usable error. */
export interface CurveFit {
  fit: Fit | undefined;
  unweighted: number;
}

export interface Figures {
  n: number;
  min: number;
  max: number;
  mean: number;
  /** Values not above zero, if the axis is logarithmic. */
  omitted: number;
}

export interface Requests {
  open: { argument: { name: string; bytes: number }; answer: Content };
  slice: { argument: Selection; answer: Part };
  picture: { argument: Region; answer: Raster };
  /** Reads on, or begins with what is given. */
  scan: { argument: Scan | undefined; answer: Scanned };
  entry: { argument: number; answer: ArrayBuffer };
  model: { argument: Chosen; answer: Model };
  /** Of source code: the end of each run of characters, in UTF-16 units, and its class (codeClasses). */
  highlight: { argument: { language: string; text: string }; answer: Uint32Array };
  formula: { argument: { source: string; display: boolean }; answer: MathTree };
  letters: { argument: { record: number; from: number; count: number }; answer: Letters };
  more: { argument: null; answer: Content };
}

export type Method = keyof Requests;

/** From the page to the decoder. */
export type ToDecoder =
  | { kind: "call"; call: number; method: Method; argument: unknown }
  /** Bytes that the decoder has asked for; without bytes they could not be read. */
  | { kind: "bytes"; read: number; bytes: ArrayBuffer | undefined };

/** From the decoder to the page. */
export type FromDecoder =
  | { kind: "ready" }
  | { kind: "read"; read: number; start: number; length: number }
  | { kind: "answer"; call: number; answer: unknown }
  | { kind: "failed"; call: number; why: string };

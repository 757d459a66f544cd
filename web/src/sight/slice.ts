// The part of an array selected by the address: an index of each dimension, and the dimensions of
// rows and columns.
import type { Item } from "./messages";

export const views = ["picture", "line", "table"] as const;
export type View = (typeof views)[number];

/** The shown part of an array. */
export interface Slice {
  fixed: number[];
  rows: number;
  columns: number;
}

/** The aspect ratio above which lines are shown, and the maximum number of lines. */
const longer = 32;
const mostLines = 64;

const isWide = (shape: number[]) => shape.filter((n) => n > 1).length > 1;

/** The last two dimensions with several values; if there are fewer, the last two. */
function lastAxes(shape: number[]): [rows: number, columns: number] {
  const all = shape.map((_, i) => i).filter((i) => !isWide(shape) || shape[i]! > 1);
  return [all.at(-2) ?? -1, all.at(-1) ?? -1];
}

/** The dimensions across and along lines, if a picture of the last two dimensions would be a
    stripe. */
function lineAxes(shape: number[]): [across: number, along: number] | undefined {
  const [before, last] = lastAxes(shape);
  if (before < 0) return undefined;
  const [across, along] = shape[last]! >= shape[before]! ? [before, last] : [last, before];
  return shape[across]! <= mostLines && shape[along]! > 1 && shape[along]! >= longer * shape[across]! ? [across, along] : undefined;
}

/** The suitable views of an array, best first: text has no picture. */
export function viewsOf({ shape = [], columns, about, attributes }: Item): View[] {
  if (/^text/.test(about) || !shape.length) return ["table"];
  if (columns) return ["table", "line"];
  if (!isWide(shape)) return ["line", "table"];
  const interpretation = attributes?.find(([name]) => name === "interpretation")?.[1];
  return interpretation === "spectrum" || (interpretation !== "image" && lineAxes(shape)) ? ["line", "picture", "table"] : [...views];
}

const numbersIn = (text: string | null) => (text ? text.split(".").map(Number) : []);

/** The slice of the address; by default the last two dimensions with several values. */
export function sliceOf(query: URLSearchParams, { shape = [], columns: names }: Item, view: View): Slice {
  const given = numbersIn(query.get("slice"));
  const fixed = shape.map((n, i) => Math.min(n - 1, Math.max(0, Math.floor(given[i] ?? 0) || 0)));
  const axes = numbersIn(query.get("axes"));
  const isAxis = (n: number | undefined) => n !== undefined && Number.isInteger(n) && n >= 0 && n < shape.length;
  const [before, last] = names ? [shape.length - 2, shape.length - 1] : lastAxes(shape);
  const lines = view === "line" && !names ? lineAxes(shape) : undefined;
  if (view === "line") {
    const columns = isAxis(axes[1]) ? axes[1]! : lines ? lines[1] : isTable(shape[before], shape[last]) ? before : last;
    return { fixed, rows: lines && columns === lines[1] && shape[lines[0]]! > 1 ? lines[0] : -1, columns };
  }
  const columns = isAxis(axes[1]) ? axes[1]! : last;
  if (shape.length < 2) return { fixed, rows: view === "table" ? columns : -1, columns: view === "table" ? -1 : columns };
  const rows = isAxis(axes[0]) && axes[0] !== columns ? axes[0]! : before === columns ? last : before;
  return { fixed, rows, columns };
}

/** For a few columns with many rows, lines go along the rows. */
const isTable = (rows = 0, columns = 0) => columns <= 64 && columns < rows;

export const labelOf = (item: Item, dimension: number) => item.dimensions?.[dimension] ?? `dimension ${dimension + 1}`;

export const lengthOf = ({ shape }: Item, dimension: number) => (dimension < 0 ? 1 : shape![dimension]!);

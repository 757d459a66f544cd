// Which part of an array the address names: an index of each dimension, and the dimensions of rows
// and columns.
import type { Item } from "./messages";

export const views = ["picture", "line", "table"] as const;
export type View = (typeof views)[number];

/** What is shown of an array. */
export interface Slice {
  fixed: number[];
  rows: number;
  columns: number;
}

/**
 * How many times as long as the other one a dimension is along which lines go, and how many
 * lines there are then at most.
 */
const longer = 32;
const fewest = 64;

/**
 * The last two dimensions, if one is so much longer that a picture would be a stripe: that along
 * which lines go comes last.
 */
function lineAxes(shape: number[]): [across: number, along: number] | undefined {
  const [last, before] = [shape.length - 1, shape.length - 2];
  if (before < 0) return undefined;
  const [across, along] = shape[last]! >= shape[before]! ? [before, last] : [last, before];
  return shape[across]! <= fewest && shape[along]! > 1 && shape[along]! >= longer * shape[across]! ? [across, along] : undefined;
}

/** The views that suit an array, the best one first: text has no picture. */
export function viewsOf({ shape = [], columns, about, attributes }: Item): View[] {
  if (/^text/.test(about) || !shape.length) return ["table"];
  if (columns) return ["table", "line"];
  if (shape.length === 1 || shape.at(-1) === 1 || shape.at(-2) === 1) return ["line", "table"];
  const interpretation = attributes?.find(([name]) => name === "interpretation")?.[1];
  return interpretation === "spectrum" || (interpretation !== "image" && lineAxes(shape)) ? ["line", "picture", "table"] : [...views];
}

const numbersIn = (text: string | null) => (text ? text.split(".").map(Number) : []);

/**
 * The slice of the address; by default the last two dimensions at the first index of the others.
 */
export function sliceOf(query: URLSearchParams, { shape = [], columns: names }: Item, view: View): Slice {
  const given = numbersIn(query.get("slice"));
  const fixed = shape.map((n, i) => Math.min(n - 1, Math.max(0, Math.floor(given[i] ?? 0) || 0)));
  const axes = numbersIn(query.get("axes"));
  const isAxis = (n: number | undefined) => n !== undefined && Number.isInteger(n) && n >= 0 && n < shape.length;
  const lines = view === "line" && !names ? lineAxes(shape) : undefined;
  if (view === "line") {
    const columns = isAxis(axes[1]) ? axes[1]! : lines ? lines[1] : isTable(shape) ? shape.length - 2 : shape.length - 1;
    return { fixed, rows: lines && columns === lines[1] && shape[lines[0]]! > 1 ? lines[0] : -1, columns };
  }
  const columns = isAxis(axes[1]) ? axes[1]! : shape.length - 1;
  if (shape.length < 2) return { fixed, rows: view === "table" ? columns : -1, columns: view === "table" ? -1 : columns };
  const rows = isAxis(axes[0]) && axes[0] !== columns ? axes[0]! : shape.length - 2 === columns ? shape.length - 1 : shape.length - 2;
  return { fixed, rows, columns };
}

/** A few columns with many rows: a line goes along the rows. */
const isTable = (shape: number[]) => shape.length > 1 && shape.at(-1)! <= 64 && shape.at(-1)! < shape.at(-2)!;

export const labelOf = (item: Item, dimension: number) => item.dimensions?.[dimension] ?? `dimension ${dimension + 1}`;

export const lengthOf = ({ shape }: Item, dimension: number) => (dimension < 0 ? 1 : shape![dimension]!);

// Columns of numbers, and their downsampling for a plot. This module is independent of the page.
import type { CurveFit, Figures } from "../sight/messages";
import type { ColumnType, Dialect, Rows } from "../preview/csv";
import { toNumber, toTime } from "../preview/csv";

/** The numbers of some columns, row by row. */
export interface Series {
  x: Float64Array;
  ys: Float64Array[];
  /** Whether x ascends in the file. Otherwise the rows are sorted by x, and drawn without a line.
   */
  ordered: boolean;
  /** The number of omitted rows without a number for x. */
  without: number;
}

/** The number of rows per batch; the page handles events between batches. */
const batch = 20_000;

/** The numbers of columns. Each cell is parsed once; later calls parse only new rows. */
export class Columns {
  private cache = new Map<number, { values: Float64Array; read: number }>();

  constructor(
    private readonly rows: Rows,
    private readonly dialect: Dialect,
    private readonly types: ColumnType[],
  ) {}

  private get start() {
    return this.dialect.notes + (this.dialect.header ? 1 : 0);
  }

  /** @param column -1 is the row number */
  private async numbers(column: number, count: number, signal: AbortSignal): Promise<Float64Array> {
    let cached = this.cache.get(column);
    if (!cached) this.cache.set(column, (cached = { values: new Float64Array(0), read: 0 }));
    if (cached.values.length < count) {
      const longer = new Float64Array(count * 2);
      longer.set(cached.values);
      cached.values = longer;
    }
    const { separator, decimal } = this.dialect;
    const time = this.types[column] === "time";
    for (let i = cached.read; i < count; i++) {
      if (i % batch === 0) {
        await new Promise((resolve) => setTimeout(resolve));
        if (signal.aborted) throw signal.reason;
      }
      const cell = column < 0 ? "" : this.rows.cell(this.start + i, column, separator);
      cached.values[i] = column < 0 ? i + 1 : time ? toTime(cell) : toNumber(cell, decimal);
      cached.read = i + 1;
    }
    return cached.values.subarray(0, count);
  }

  /** The loaded rows that have an x. */
  async series(x: number, ys: number[], signal: AbortSignal): Promise<Series> {
    const count = Math.max(0, this.rows.count - this.start);
    const all = await this.numbers(x, count, signal);
    const others: Float64Array[] = [];
    for (const y of ys) others.push(await this.numbers(y, count, signal));
    let ordered = true;
    let valid = 0;
    for (let i = 0, before = -Infinity; i < count; i++) {
      const v = all[i]!;
      if (!Number.isFinite(v)) continue;
      valid++;
      if (v < before) ordered = false;
      before = v;
    }
    if (ordered && valid === count) return { x: all, ys: others, ordered, without: 0 };
    const order = new Uint32Array(valid);
    for (let i = 0, n = 0; i < count; i++) if (Number.isFinite(all[i]!)) order[n++] = i;
    if (!ordered) order.sort((a, b) => all[a]! - all[b]!);
    const pick = (from: Float64Array) => Float64Array.from(order, (i) => from[i]!);
    return { x: pick(all), ys: others.map(pick), ordered, without: count - valid };
  }
}

/** A curve of a plot. */
export interface Curve {
  name: string;
  /** The index of its series, and of the series with its standard errors. */
  y: number;
  error?: number;
  /** Whether it uses the right axis. */
  right?: boolean;
}

/** Curves with the same X values, from one file. */
export interface Group {
  series: Series;
  curves: Curve[];
  /** Whether the series has the minimum and maximum of each part of a file; the number of parts,
      and the number of values. */
  thinned?: { rows: number; bins: number; fit: CurveFit; figures: Figures };
}

/** The points of a curve, in the order of x; null for a missing value. */
export interface Points {
  curve: Curve;
  x: ArrayLike<number>;
  y: (number | null)[];
  errors?: ArrayLike<number>;
  /** Whether X was unordered in the file, so that no line joins the points. */
  loose: boolean;
}

/** The points of a plot in view. */
export interface Drawn {
  points: Points[];
  /** The number of rows in view. */
  rows: number;
  /** The number of bins whose minimum and maximum are drawn; 0: every row is drawn. */
  bins: number;
}

/** The rows with x in a range, plus one on each side. */
function rowsIn(x: Float64Array, min: number, max: number): [low: number, high: number] {
  return [Math.max(0, first(x, (v) => v >= min) - 1), Math.min(x.length, first(x, (v) => v > max) + 1)];
}

/** The points in the range from `min` to `max`, at most about `most` for each curve. */
export function draw(groups: Group[], [min, max]: [number, number], most: number, log: { x: boolean; y: boolean }): Drawn {
  const usable = (v: number) => !log.y || v > 0;
  const drawn: Drawn = { points: [], rows: 0, bins: 0 };
  for (const { series, curves, thinned } of groups) {
    const { x, ys } = series;
    const [from, high] = rowsIn(x, min, max);
    const low = log.x ? Math.max(from, first(x, (v) => v > 0)) : from;
    const rows = Math.max(0, high - low);
    const finite = (v: number) => (Number.isFinite(v) && usable(v) ? v : null);
    const bins = rows <= most ? 0 : Math.floor(most / 2);
    drawn.rows += thinned?.rows ?? rows;
    drawn.bins = Math.max(drawn.bins, thinned?.bins ?? bins);
    const at = bins ? edgesOf(x, low, rows, bins) : x.subarray(low, high);
    for (const curve of curves) {
      const y = ys[curve.y]!;
      const values = bins ? thin(y, low, rows, bins, usable) : Array.from(y.subarray(low, high), finite);
      const errors = bins || curve.error === undefined ? undefined : ys[curve.error]!.subarray(low, high);
      drawn.points.push({ curve, x: at, y: values, loose: !series.ordered, ...(errors && { errors }) });
    }
  }
  return drawn;
}

const binStart = (low: number, rows: number, bins: number, b: number) => low + Math.floor((rows * b) / bins);

/** The first and last x of each bin. */
function edgesOf(x: Float64Array, low: number, rows: number, bins: number): Float64Array {
  const edges = new Float64Array(2 * bins);
  for (let b = 0; b < bins; b++) {
    edges[2 * b] = x[binStart(low, rows, bins, b)]!;
    edges[2 * b + 1] = x[binStart(low, rows, bins, b + 1) - 1]!;
  }
  return edges;
}

/** The minimum and maximum of each bin. */
function thin(y: Float64Array, low: number, rows: number, bins: number, usable: (v: number) => boolean): (number | null)[] {
  const thinned: (number | null)[] = [];
  for (let b = 0; b < bins; b++) thinned.push(...extremes(y, binStart(low, rows, bins, b), binStart(low, rows, bins, b + 1), usable));
  return thinned;
}

/** Merges the x values of all curves, and the values of each: undefined where a curve has no point.
    Points of a curve with equal x keep their order. */
export function aligned(points: Points[]): [x: number[], ...ys: (number | null | undefined)[][]] {
  const shared = points[0]?.x;
  if (!shared) return [[]];
  if (points.every((p) => p.x === shared)) return [Array.from(shared), ...points.map((p) => p.y)];
  const at = points.map(() => 0);
  const x: number[] = [];
  const ys: (number | null | undefined)[][] = points.map(() => []);
  for (;;) {
    let least = Infinity;
    points.forEach((p, i) => (least = Math.min(least, p.x[at[i]!] ?? Infinity)));
    if (least === Infinity) return [x, ...ys];
    x.push(least);
    points.forEach((p, i) => {
      const here = p.x[at[i]!] === least;
      ys[i]!.push(here ? p.y[at[i]!]! : undefined);
      if (here) at[i]!++;
    });
  }
}

/** The extent of the points on one of the Y axes, including errors; undefined without points. */
export function extentOf(points: Points[], right: boolean, log: boolean): [min: number, max: number] | undefined {
  let min = Infinity;
  let max = -Infinity;
  const see = (v: number) => {
    if (!Number.isFinite(v) || (log && v <= 0)) return;
    min = Math.min(min, v);
    max = Math.max(max, v);
  };
  for (const { curve, y, errors } of points) {
    if (!!curve.right !== right) continue;
    y.forEach((v, i) => {
      if (v === null) return;
      see(v);
      const e = errors?.[i];
      if (e !== undefined && e > 0) (see(v - e), see(v + e));
    });
  }
  if (min > max) return undefined;
  if (log) return [10 ** Math.floor(Math.log10(min) + 1e-9), 10 ** Math.max(Math.ceil(Math.log10(max) - 1e-9), Math.floor(Math.log10(min) + 1e-9) + 1)];
  const room = max > min ? (max - min) * 0.05 : Math.abs(min) * 0.1 || 1;
  return [min - room, max + room];
}

/** The indices of the rows of a series in a range of x. */
export function within({ x }: Series, [min, max]: [number, number]): [from: number, to: number] {
  return [first(x, (v) => v >= min), first(x, (v) => v > max)];
}

/** The minimum and maximum of a bin, in the order of the rows. */
function extremes(y: Float64Array, from: number, to: number, usable: (v: number) => boolean): [number | null, number | null] {
  let low = -1;
  let high = -1;
  for (let i = from; i < to; i++) {
    const v = y[i]!;
    if (!Number.isFinite(v) || !usable(v)) continue;
    if (low < 0 || v < y[low]!) low = i;
    if (high < 0 || v > y[high]!) high = i;
  }
  if (low < 0) return [null, null];
  return low < high ? [y[low]!, y[high]!] : [y[high]!, y[low]!];
}

/** Binary search: the index of the first value that satisfies a monotonic condition; the length if
    none does. */
function first(x: Float64Array, is: (v: number) => boolean): number {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (is(x[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

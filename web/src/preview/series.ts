// Columns of numbers, and their downsampling for a plot. This module is independent of the page.
import type { ColumnType, Dialect, Rows } from "./csv";
import { toNumber, toTime } from "./csv";

/** The numbers of some columns, row by row. */
export interface Series {
  x: Float64Array;
  ys: Float64Array[];
  /** Whether x ascends in the file. If not, the rows are sorted by x, and are drawn without a line. */
  ordered: boolean;
  /** The number of rows without a number for x, which are left out. */
  without: number;
}

/** Rows that are read at once; in between the page handles events. */
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

  /** @param column -1 stands for the row number */
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
      if (Number.isNaN(v)) continue;
      valid++;
      if (v < before) ordered = false;
      before = v;
    }
    if (ordered && valid === count) return { x: all, ys: others, ordered, without: 0 };
    const order = new Uint32Array(valid);
    for (let i = 0, n = 0; i < count; i++) if (!Number.isNaN(all[i]!)) order[n++] = i;
    if (!ordered) order.sort((a, b) => all[a]! - all[b]!);
    const pick = (from: Float64Array) => Float64Array.from(order, (i) => from[i]!);
    return { x: pick(all), ys: others.map(pick), ordered, without: count - valid };
  }
}

/** The points of a plot: x, and for each series its values, null for a missing one. */
export interface Drawn {
  x: number[];
  ys: (number | null)[][];
  /** The number of rows in view. */
  rows: number;
  /** The number of bins, of which the minimum and maximum are drawn; 0: every row is drawn. */
  bins: number;
}

/** The range of a series from `min` to `max`, with one row on each side, in at most about `most` points. */
export function draw({ x, ys }: Series, min: number, max: number, most: number, usable: (v: number) => boolean): Drawn {
  const low = Math.max(0, first(x, (v) => v >= min) - 1);
  const high = Math.min(x.length, first(x, (v) => v > max) + 1);
  const rows = high - low;
  const finite = (v: number) => (Number.isFinite(v) && usable(v) ? v : null);
  if (rows <= most) {
    return { x: Array.from(x.subarray(low, high)), ys: ys.map((y) => Array.from(y.subarray(low, high), finite)), rows, bins: 0 };
  }
  const bins = Math.floor(most / 2);
  const drawn: Drawn = { x: [], ys: ys.map(() => []), rows, bins };
  for (let b = 0; b < bins; b++) {
    const from = low + Math.floor((rows * b) / bins);
    const to = low + Math.floor((rows * (b + 1)) / bins);
    drawn.x.push(x[from]!, x[to - 1]!);
    ys.forEach((y, n) => drawn.ys[n]!.push(...extremes(y, from, to, usable)));
  }
  return drawn;
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

/** Binary search: the index of the first value for which a condition holds, as for all later ones; without one, the length. */
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

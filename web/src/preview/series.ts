// Columns of numbers, and how many of them a plot can draw. Nothing here knows the page.
import type { Dialect, Meaning, Rows } from "./csv";
import { toNumber, toTime } from "./csv";

/** The numbers of some columns, row by row. */
export interface Series {
  x: Float64Array;
  ys: Float64Array[];
  /** Whether x never goes back. If it does, the rows are in the order of x, and no line may join them. */
  ordered: boolean;
  /** Rows without a number for x. */
  without: number;
}

/** Rows that are read before others get their turn. */
const breath = 20_000;

/** What columns hold, read once and then only what has been added since. */
export class Columns {
  private kept = new Map<number, { values: Float64Array; read: number }>();

  constructor(
    private readonly rows: Rows,
    private readonly dialect: Dialect,
    private readonly meanings: Meaning[],
  ) {}

  private get start() {
    return this.dialect.notes + (this.dialect.header ? 1 : 0);
  }

  /** @param column -1 is the number of the row */
  private async numbers(column: number, count: number, signal: AbortSignal): Promise<Float64Array> {
    let kept = this.kept.get(column);
    if (!kept) this.kept.set(column, (kept = { values: new Float64Array(0), read: 0 }));
    if (kept.values.length < count) {
      const longer = new Float64Array(count * 2);
      longer.set(kept.values);
      kept.values = longer;
    }
    const { separator, decimal } = this.dialect;
    const time = this.meanings[column] === "time";
    for (let i = kept.read; i < count; i++) {
      if (i % breath === 0) {
        await new Promise((resolve) => setTimeout(resolve));
        if (signal.aborted) throw signal.reason;
      }
      const cell = column < 0 ? "" : this.rows.cell(this.start + i, column, separator);
      kept.values[i] = column < 0 ? i + 1 : time ? toTime(cell) : toNumber(cell, decimal);
      kept.read = i + 1;
    }
    return kept.values.subarray(0, count);
  }

  /** The rows so far that have an x. */
  async series(x: number, ys: number[], signal: AbortSignal): Promise<Series> {
    const count = Math.max(0, this.rows.count - this.start);
    const all = await this.numbers(x, count, signal);
    const others: Float64Array[] = [];
    for (const y of ys) others.push(await this.numbers(y, count, signal));
    let ordered = true;
    let with_ = 0;
    for (let i = 0, before = -Infinity; i < count; i++) {
      const v = all[i]!;
      if (Number.isNaN(v)) continue;
      with_++;
      if (v < before) ordered = false;
      before = v;
    }
    if (ordered && with_ === count) return { x: all, ys: others, ordered, without: 0 };
    const order = new Uint32Array(with_);
    for (let i = 0, n = 0; i < count; i++) if (!Number.isNaN(all[i]!)) order[n++] = i;
    if (!ordered) order.sort((a, b) => all[a]! - all[b]!);
    const pick = (from: Float64Array) => Float64Array.from(order, (i) => from[i]!);
    return { x: pick(all), ys: others.map(pick), ordered, without: count - with_ };
  }
}

/** What a plot is handed: x, and for each series its values, null where there is none. */
export interface Drawn {
  x: number[];
  ys: (number | null)[][];
  /** How many rows are in view. */
  rows: number;
  /** Into how many stretches they were divided, of which the lowest and highest values are drawn; 0: every row is drawn. */
  stretches: number;
}

/** The part of a series from `min` to `max`, and one row on each side of it, in at most about `most` points. */
export function draw({ x, ys }: Series, min: number, max: number, most: number, usable: (v: number) => boolean): Drawn {
  const low = Math.max(0, first(x, (v) => v >= min) - 1);
  const high = Math.min(x.length, first(x, (v) => v > max) + 1);
  const rows = high - low;
  const plain = (v: number) => (Number.isFinite(v) && usable(v) ? v : null);
  if (rows <= most) {
    return { x: Array.from(x.subarray(low, high)), ys: ys.map((y) => Array.from(y.subarray(low, high), plain)), rows, stretches: 0 };
  }
  const stretches = Math.floor(most / 2);
  const drawn: Drawn = { x: [], ys: ys.map(() => []), rows, stretches };
  for (let s = 0; s < stretches; s++) {
    const from = low + Math.floor((rows * s) / stretches);
    const to = low + Math.floor((rows * (s + 1)) / stretches);
    drawn.x.push(x[from]!, x[to - 1]!);
    ys.forEach((y, n) => drawn.ys[n]!.push(...extremes(y, from, to, usable)));
  }
  return drawn;
}

/** The lowest and the highest value of a stretch, in the order in which they come. */
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

/** Index of the first value that is so, where all that follow are as well; the length of the array if none is. */
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

// The usage of each day, for a chart.
import type { Counters } from "../api";
import * as format from "../format";

export type Measure = "bytes" | "files";

/** One day in ms. */
export const dayLength = 24 * 3600 * 1000;

/** The usage at the end of a day, and of all days until the next point. */
export interface Point {
  /** The start of the day (UTC), in ms. */
  at: number;
  active: number;
  deleted: number;
  old: number;
}

export interface Series {
  /** The start of the range. */
  from: number;
  /** The end of the range: the end of today. */
  to: number;
  /** Ascending; the first is at `from`. */
  points: Point[];
}

export const active = (c: Counters, m: Measure) => (m === "bytes" ? c.activeBytes : c.activeFiles);
export const deleted = (c: Counters, m: Measure) => (m === "bytes" ? c.deletedBytes : c.deletedFiles);
/** The size of older versions. */
export const old = (c: Counters, m: Measure) => (m === "bytes" ? c.oldBytes : c.oldVersions);

/** The series of the last days; without a number, of all days from the day before the first one. */
export function seriesOf(days: (Counters & { day: string })[], measure: Measure, last?: number, now = Date.now()): Series {
  const all = days.map((d) => ({ at: Date.parse(d.day), active: active(d, measure), deleted: deleted(d, measure), old: old(d, measure) }));
  // The clock of the browser can be behind the clock of the service.
  const to = Math.max(Math.floor(now / dayLength) * dayLength, all.at(-1)?.at ?? 0) + dayLength;
  const from = last ? to - last * dayLength : (all[0]?.at ?? to - dayLength) - dayLength;
  const before = all.findLast((p) => p.at <= from);
  const start: Point = { at: from, active: before?.active ?? 0, deleted: before?.deleted ?? 0, old: before?.old ?? 0 };
  return { from, to, points: [start, ...all.filter((p) => p.at > from)] };
}

/** The point whose values apply at an instant. */
export const pointAt = ({ points }: Series, at: number) => points.findLast((p) => p.at <= at) ?? points[0]!;

/** Round numbers from 0 to at least `most`; bytes are round in kB, MB … */
export function ticks(most: number, measure: Measure): number[] {
  let unit = 1;
  if (measure === "bytes") while (most / unit >= 1000) unit *= 1000;
  const rough = Math.max(most, 1) / unit / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = [1, 2, 5, 10].find((r) => r * power >= rough)! * power;
  const step = unit === 1 ? Math.max(1, Math.round(round)) : round * unit;
  return Array.from({ length: Math.ceil(Math.max(most, 1) / step) + 1 }, (_, i) => i * step);
}

/** Rounded and exact values, as text. */
export const short = (n: number, measure: Measure) => (measure === "bytes" ? format.size(n) : format.count(n));
export const exact = (n: number, measure: Measure) => format.plural(n, measure === "bytes" ? "byte" : "file");

/** The exact values, for people. */
export const described = ({ active, deleted, old }: Omit<Point, "at">, measure: Measure) =>
  `${exact(active, measure)} active, ${exact(deleted, measure)} deleted, ${measure === "bytes" ? `${exact(old, measure)} in old versions` : format.plural(old, "old version")}`;

const inUTC = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });
const asDay = inUTC({ day: "numeric", month: "short", year: "numeric" });
const asDayOfYear = inUTC({ day: "numeric", month: "short" });
const asMonth = inUTC({ month: "short", year: "numeric" });

export const dayOf = (at: number) => asDay.format(at);

/** The dates to label, at most `most`: days, or the starts of months or of years. */
export function dates({ from, to }: Series, most: number): { at: number; label: string }[] {
  const days = (to - from) / dayLength;
  const step = [1, 2, 7, 14].find((s) => days / s <= most);
  if (step) {
    const first = Math.ceil(from / dayLength) * dayLength;
    const count = Math.ceil((to - first) / dayLength / step);
    return Array.from({ length: count }, (_, i) => first + i * step * dayLength).map((at) => ({ at, label: asDayOfYear.format(at) }));
  }
  const months = [1, 2, 3, 6, 12, 24, 60, 120].find((m) => days / 30 / m <= most) ?? 240;
  const start = new Date(from);
  const labels: { at: number; label: string }[] = [];
  for (let month = start.getUTCMonth() + 1; ; month++) {
    const at = Date.UTC(start.getUTCFullYear(), month);
    if (at >= to) return labels;
    if (new Date(at).getUTCMonth() % Math.min(months, 12) === 0 && (months <= 12 || new Date(at).getUTCFullYear() % (months / 12) === 0))
      labels.push({ at, label: months < 12 ? asMonth.format(at) : String(new Date(at).getUTCFullYear()) });
  }
}

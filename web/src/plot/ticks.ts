// The ticks of an axis and their labels. This module is independent of the page.
import type { Axis } from "./figure";

export interface Tick {
  at: number;
  /** "" between the labelled ticks of a logarithmic axis. */
  label: string;
}

/** Steps of a time axis in seconds, up to weeks. */
const timeSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600];
const month = 30.44 * 86_400;

/** Ticks of an axis, about `most` of them. */
export function ticksOf({ range: [min, max], log, time }: Axis, most: number): Tick[] {
  if (!(max > min) || !Number.isFinite(max - min)) return [];
  return log ? logTicks(min, max, most) : time ? timeTicks(min, max, most) : linearTicks(min, max, most);
}

/** A step of 1, 2 or 5 times a power of ten. */
function niceStep(span: number, most: number): number {
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((n) => n * power >= rough) ?? 10);
}

function linearTicks(min: number, max: number, most: number): Tick[] {
  const step = niceStep(max - min, most);
  const first = Math.ceil(min / step - 1e-9);
  const length = Math.floor(max / step + 1e-9) - first + 1;
  const largest = Math.max(Math.abs(min), Math.abs(max));
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const text = largest >= 1e7 || largest < 1e-4 ? (v: number) => exponential(v, largest, step) : (v: number) => v.toFixed(Math.min(20, decimals));
  return Array.from({ length: Math.max(0, length) }, (_, i) => (first + i) * step).map((at) => ({ at, label: at === 0 ? "0" : text(at).replace("-", "−") }));
}

/** Such as 1.25e7: with enough digits to distinguish neighbouring ticks. */
const exponential = (v: number, largest: number, step: number) =>
  v.toExponential(Math.min(15, Math.max(0, Math.round(Math.floor(Math.log10(largest)) - Math.floor(Math.log10(step) + 1e-9))))).replace("e+", "e");

function logTicks(min: number, max: number, most: number): Tick[] {
  const [from, to] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
  const every = Math.max(1, Math.ceil((to - from) / most));
  const ticks: Tick[] = [];
  for (let power = from; power <= to; power++) {
    for (const n of every > 1 ? [1] : [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
      const at = n * 10 ** power;
      if (at < min * (1 - 1e-9) || at > max * (1 + 1e-9)) continue;
      const labelled = n === 1 ? (power - from) % every === 0 : to - from <= 2 && (n === 2 || n === 5);
      ticks.push({ at, label: labelled ? (at >= 1e-3 && at < 1e5 ? String(Number(at.toPrecision(3))) : at.toExponential(0).replace("e+", "e")) : "" });
    }
  }
  return ticks;
}

function timeTicks(min: number, max: number, most: number): Tick[] {
  const span = max - min;
  const iso = (at: number) => new Date(at * 1000).toISOString();
  if (Math.max(Math.abs(min), Math.abs(max)) > 8e12) return [];
  if (span < most) return linearTicks(min, max, Math.min(most, 5)).map(({ at }) => ({ at, label: iso(at).slice(11, 23) }));
  const step = timeSteps.find((s) => span / s <= most);
  if (step) {
    const first = Math.ceil(min / step) * step;
    const label = (at: number) => (step >= 86_400 ? iso(at).slice(0, 10) : span > 86_400 ? `${iso(at).slice(5, 10)} ${iso(at).slice(11, 16)}` : iso(at).slice(11, step >= 60 ? 16 : 19));
    return Array.from({ length: Math.floor((max - first) / step) + 1 }, (_, i) => first + i * step).map((at) => ({ at, label: label(at) }));
  }
  const months = [1, 2, 3, 6, 12].find((m) => span / (m * month) <= most) ?? 12 * niceStep(span / (12 * month), most);
  const begin = new Date(min * 1000);
  const ticks: Tick[] = [];
  const start = Math.ceil((begin.getUTCFullYear() * 12 + begin.getUTCMonth()) / months) * months;
  for (let m = start; ; m += months) {
    const at = Date.UTC(Math.floor(m / 12), m % 12) / 1000;
    if (!(at <= max)) return ticks;
    if (at >= min) ticks.push({ at, label: iso(at).slice(0, months >= 12 ? 4 : 7) });
  }
}

// What a plot shows, for whatever draws or saves it. This module is independent of the page.
import type { Points } from "./series";

export interface Axis {
  label: string;
  range: [min: number, max: number];
  log: boolean;
  /** Its values are seconds since 1970, in UTC. */
  time?: boolean;
  /** It ascends to the left. */
  reversed?: boolean;
}

/** A straight line over a curve. */
export interface Line {
  curve: number;
  slope: number;
  intercept: number;
}

export interface Figure {
  title: string;
  /** `steps` are those of a histogram: each value holds until the next x. */
  marks: "lines" | "points" | "both" | "steps";
  points: Points[];
  lines: Line[];
  x: Axis;
  y?: Axis;
  right?: Axis;
}

/** Points that show a straight line, which is none on a logarithmic axis. */
export function pointsOfLine({ slope, intercept }: Line, { range: [min, max], log }: Axis, steps = 200): [x: number, y: number][] {
  return Array.from({ length: steps + 1 }, (_, i) => {
    const x = log ? Math.exp(Math.log(min) + (Math.log(max / min) * i) / steps) : min + ((max - min) * i) / steps;
    return [x, intercept + slope * x] as [number, number];
  });
}

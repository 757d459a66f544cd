// The content of a plot, for drawing and saving. This module is independent of the page.
import type { Points } from "./series";

export interface Axis {
  label: string;
  range: [min: number, max: number];
  log: boolean;
  /** Whether its values are seconds since 1970, in UTC. */
  time?: boolean;
  /** Whether it ascends to the left. */
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
  /** `steps` draws a histogram: each value holds until the next x. */
  marks: "lines" | "points" | "both" | "steps";
  points: Points[];
  lines: Line[];
  x: Axis;
  y?: Axis;
  right?: Axis;
}

/** Points along a straight line, which is curved on a logarithmic axis. */
export function pointsOfLine({ slope, intercept }: Line, { range: [min, max], log }: Axis, steps = 200): [x: number, y: number][] {
  return Array.from({ length: steps + 1 }, (_, i) => {
    const x = log ? Math.exp(Math.log(min) + (Math.log(max / min) * i) / steps) : min + ((max - min) * i) / steps;
    return [x, intercept + slope * x] as [number, number];
  });
}

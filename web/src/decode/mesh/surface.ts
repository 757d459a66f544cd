// A surface of triangles while it is read, and the model that a page draws of it, with what can be measured of it.
import type { Attribute, Model } from "../../sight/messages";
import { Refused } from "../lib/serve";

const maxTriangles = 2_000_000;
const maxPoints = 4_000_000;

/** Triangles of a file. Coordinates follow each other as x, y, z. */
export interface Surface {
  points: ArrayLike<number>;
  /** Three indices of points for each triangle. */
  corners: ArrayLike<number>;
  /** Red, green and blue of each point, from 0 to 255. */
  colours?: Uint8Array;
  title: string;
  facts: Attribute[];
  notes: string[];
}

export function checkTriangles(count: number): void {
  if (count > maxTriangles) throw new Refused(`It has more than ${maxTriangles.toLocaleString("en")} triangles.`);
}

export function checkPoints(count: number): void {
  if (count > maxPoints) throw new Refused(`It has more than ${maxPoints.toLocaleString("en")} points.`);
}

const text = (n: number) => String(Number(n.toPrecision(6)));

/** A surface as a model. With `merge` points in the same place become one, which is what formats without indices want. */
export function modelOf({ points, corners, colours, title, facts, notes }: Surface, merge = false): Model {
  const { low, high } = boxOf(points);
  const centre = low.map((v, axis) => (v + high[axis]!) / 2);
  const { same, count } = welded(points);
  const joined = Uint32Array.from({ length: corners.length }, (_, i) => (merge ? same[corners[i]!]! : corners[i]!));
  const model: Model = { title, facts, notes, centre, points: merge ? firstOf(points, same, count, centre) : Float32Array.from(points, (v, i) => v - centre[i % 3]!), joined };
  if (colours) model.colours = colours;
  const ends = low.map((v, axis) => `${"xyz"[axis]} from ${text(v)} to ${text(high[axis]!)}`).join(", ");
  const all: Attribute[] = [
    [joined.length ? "vertices" : "points", String(merge ? count : points.length / 3)], ["triangles", String(joined.length / 3)], ...facts,
    ["extent", low.map((v, axis) => text(high[axis]! - v)).join(" × ")], ["bounds", ends],
  ];
  if (joined.length) all.push(...measured(points, corners, same, centre));
  if (colours) all.push(["colours", "of the points, as in the file"]);
  all.push(["unit of length", "the file does not say"]);
  return { ...model, facts: all };
}

function boxOf(points: ArrayLike<number>): { low: number[]; high: number[] } {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < points.length; i++) {
    const v = points[i]!;
    if (!(Math.abs(v) < 1e30)) throw new Refused("One of its coordinates is no number that can be drawn.");
    if (v < low[i % 3]!) low[i % 3] = v;
    if (v > high[i % 3]!) high[i % 3] = v;
  }
  if (!points.length) throw new Refused("It has no points.");
  return { low, high };
}

/** For each point the number that all points in its place share, and how many places there are. */
function welded(points: ArrayLike<number>): { same: Uint32Array; count: number } {
  const length = points.length / 3;
  const mask = (1 << Math.max(4, Math.ceil(Math.log2(length + 1)) + 1)) - 1;
  const slots = new Int32Array(mask + 1).fill(-1); // points, by a hash
  const same = new Uint32Array(length);
  const bits = new Float64Array(3);
  const words = new Int32Array(bits.buffer);
  let count = 0;
  for (let i = 0; i < length; i++) {
    for (let axis = 0; axis < 3; axis++) bits[axis] = points[3 * i + axis]! + 0; // one zero
    let hash = 0;
    for (let w = 0; w < 6; w++) hash = Math.imul(hash ^ words[w]!, 0x9e3779b1) ^ (hash >>> 15);
    hash ^= hash >>> 16;
    for (;; hash++) {
      const other = slots[hash & mask]!;
      if (other < 0) {
        slots[hash & mask] = i;
        same[i] = count++;
        break;
      }
      if (points[3 * other] === points[3 * i] && points[3 * other + 1] === points[3 * i + 1] && points[3 * other + 2] === points[3 * i + 2]) {
        same[i] = same[other]!;
        break;
      }
    }
  }
  return { same, count };
}

function firstOf(points: ArrayLike<number>, same: Uint32Array, count: number, centre: number[]): Float32Array {
  const merged = new Float32Array(3 * count);
  for (let i = 0; i < same.length; i++) for (let axis = 0; axis < 3; axis++) merged[3 * same[i]! + axis] = points[3 * i + axis]! - centre[axis]!;
  return merged;
}

/** Area, and volume if each edge is between two triangles. */
function measured(points: ArrayLike<number>, corners: ArrayLike<number>, same: Uint32Array, centre: number[]): Attribute[] {
  let [area, volume] = [0, 0];
  const p = new Float64Array(9);
  for (let i = 0; i < corners.length; i += 3) {
    for (let k = 0; k < 9; k++) p[k] = points[3 * corners[i + Math.floor(k / 3)]! + (k % 3)]! - centre[k % 3]!;
    const [ux, uy, uz] = [p[3]! - p[0]!, p[4]! - p[1]!, p[5]! - p[2]!];
    const [vx, vy, vz] = [p[6]! - p[0]!, p[7]! - p[1]!, p[8]! - p[2]!];
    const [nx, ny, nz] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    area += Math.hypot(nx, ny, nz) / 2;
    volume += (p[0]! * nx + p[1]! * ny + p[2]! * nz) / 6;
  }
  const closed = closedness(corners, same);
  const facts: Attribute[] = [["area", text(area)], ["closed", closed]];
  if (closed === "yes") facts.push(["volume", text(Math.abs(volume))]);
  return facts;
}

/** Whether each edge is of two triangles that go along it in opposite directions. Edges are sorted, so that those of one place follow each other. */
function closedness(corners: ArrayLike<number>, same: Uint32Array): string {
  const edges = new Float64Array(corners.length);
  let n = 0;
  for (let i = 0; i < corners.length; i += 3) {
    const [a, b, c] = [same[corners[i]!]!, same[corners[i + 1]!]!, same[corners[i + 2]!]!];
    if (a === b || b === c || c === a) continue;
    for (const [from, to] of [[a, b], [b, c], [c, a]] as const) edges[n++] = 2 * (Math.min(from, to) * same.length + Math.max(from, to)) + (from > to ? 1 : 0);
  }
  const sorted = edges.subarray(0, n).sort();
  const undirected = (i: number) => Math.floor(sorted[i]! / 2);
  let turned = false;
  for (let i = 0; i < n; i += 2) {
    if (i + 1 >= n || undirected(i) !== undirected(i + 1) || (i + 2 < n && undirected(i + 2) === undirected(i))) return "no: an edge is not between two triangles";
    turned ||= sorted[i] === sorted[i + 1];
  }
  return turned ? "yes, but not all triangles face the same side" : "yes";
}

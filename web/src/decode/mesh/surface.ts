// A surface of triangles under construction, and the model that a page draws, with its measures.
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

/** Converts a surface to a model. With `merge`, coincident points become one, for formats without
    indices. */
export function modelOf({ points, corners, colours, title, facts, notes }: Surface, merge = false): Model {
  const { low, high } = boxOf(points);
  const centre = low.map((v, axis) => (v + high[axis]!) / 2);
  const { same, count } = welded(points);
  const model: Model = { title, facts, notes, centre, points: centred(points, centre, merge ? same : undefined, count), joined: joinedBy(corners, merge ? same : undefined) };
  if (colours) model.colours = colours;
  const ends = low.map((v, axis) => `${"xyz"[axis]} from ${text(v)} to ${text(high[axis]!)}`).join(", ");
  const triangles = corners.length / 3;
  const all: Attribute[] = [
    [triangles ? "vertices" : "points", String(merge ? count : points.length / 3)], ["triangles", String(triangles)], ...facts,
    ["extent", low.map((v, axis) => text(high[axis]! - v)).join(" × ")], ["bounds", ends],
  ];
  if (triangles) all.push(...measured(points, corners, same, centre));
  if (colours) all.push(["colours", "of the points, as in the file"]);
  all.push(["unit of length", "not stated in the file"]);
  return { ...model, facts: all };
}

/** The corners of triangles, as indices of merged points if there are any. */
function joinedBy(corners: ArrayLike<number>, same: Uint32Array | undefined): Uint32Array {
  const joined = new Uint32Array(corners.length);
  for (let i = 0; i < joined.length; i++) joined[i] = same ? same[corners[i]!]! : corners[i]!;
  return joined;
}

/** Points relative to the centre, merged points once. */
function centred(points: ArrayLike<number>, centre: number[], same: Uint32Array | undefined, count: number): Float32Array {
  const found = new Float32Array(same ? 3 * count : points.length);
  for (let i = 0; i < points.length / 3; i++) {
    const to = 3 * (same ? same[i]! : i);
    for (let axis = 0; axis < 3; axis++) found[to + axis] = points[3 * i + axis]! - centre[axis]!;
  }
  return found;
}

function boxOf(points: ArrayLike<number>): { low: number[]; high: number[] } {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < points.length; i++) {
    const v = points[i]!;
    if (!(Math.abs(v) < 1e30)) throw new Refused("One of its coordinates cannot be drawn.");
    if (v < low[i % 3]!) low[i % 3] = v;
    if (v > high[i % 3]!) high[i % 3] = v;
  }
  if (!points.length) throw new Refused("It has no points.");
  return { low, high };
}

/** The index of the position of each point, and the number of positions. */
function welded(points: ArrayLike<number>): { same: Uint32Array; count: number } {
  const length = points.length / 3;
  const mask = (1 << Math.max(4, Math.ceil(Math.log2(length + 1)) + 1)) - 1;
  const slots = new Int32Array(mask + 1).fill(-1); // a hash table of points
  const same = new Uint32Array(length);
  const bits = new Float64Array(3);
  const words = new Int32Array(bits.buffer);
  let count = 0;
  for (let i = 0; i < length; i++) {
    for (let axis = 0; axis < 3; axis++) bits[axis] = points[3 * i + axis]! + 0; // normalises -0
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

/** The area, and the volume if the surface is closed. */
function measured(points: ArrayLike<number>, corners: ArrayLike<number>, same: Uint32Array, centre: number[]): Attribute[] {
  let [area, volume] = [0, 0];
  const p = new Float64Array(9);
  for (let i = 0; i < corners.length; i += 3) {
    for (let corner = 0; corner < 3; corner++) {
      const at = 3 * corners[i + corner]!;
      for (let axis = 0; axis < 3; axis++) p[3 * corner + axis] = points[at + axis]! - centre[axis]!;
    }
    const ux = p[3]! - p[0]!, uy = p[4]! - p[1]!, uz = p[5]! - p[2]!;
    const vx = p[6]! - p[0]!, vy = p[7]! - p[1]!, vz = p[8]! - p[2]!;
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    area += Math.sqrt(nx * nx + ny * ny + nz * nz) / 2;
    volume += (p[0]! * nx + p[1]! * ny + p[2]! * nz) / 6;
  }
  const closed = closedness(corners, same);
  const facts: Attribute[] = [["area", text(area)], ["closed", closed]];
  if (closed === "yes") facts.push(["volume", text(Math.abs(volume))]);
  return facts;
}

/** Whether each edge has two triangles with opposite directions. Edges are sorted to group equal
    ones. */
function closedness(corners: ArrayLike<number>, same: Uint32Array): string {
  const edges = new Float64Array(corners.length);
  let n = 0;
  const add = (from: number, to: number) => {
    edges[n++] = from < to ? 2 * (from * same.length + to) : 2 * (to * same.length + from) + 1;
  };
  for (let i = 0; i < corners.length; i += 3) {
    const a = same[corners[i]!]!, b = same[corners[i + 1]!]!, c = same[corners[i + 2]!]!;
    if (a === b || b === c || c === a) continue;
    add(a, b);
    add(b, c);
    add(c, a);
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

// Unit cells of crystals, and symmetry operations.
import type { Cell } from "./atoms";

/** The edges of a cell from their lengths in Å and angles in degrees; undefined for an impossible
    cell. */
export function edgesOf([a, b, c, alpha, beta, gamma]: number[]): Cell | undefined {
  const [ca, cb, cg] = [alpha!, beta!, gamma!].map((angle) => (angle === 90 ? 0 : Math.cos((angle * Math.PI) / 180))) as [number, number, number];
  const sg = Math.sqrt(1 - cg * cg);
  const y = (ca - cb * cg) / sg;
  const height = 1 - cb * cb - y * y;
  if (!(a! > 0 && b! > 0 && c! > 0 && sg > 0 && height > 0 && a! < 1e6 && b! < 1e6 && c! < 1e6)) return undefined;
  return [a!, 0, 0, b! * cg, b! * sg, 0, c! * cb, c! * y, c! * Math.sqrt(height)];
}

export type Place = [x: number, y: number, z: number];

/** A position in fractional coordinates. */
export const placeOf = ([u, v, w]: Place, cell: Cell): Place => [0, 1, 2].map((i) => u * cell[i]! + v * cell[3 + i]! + w * cell[6 + i]!) as Place;

/** An operation: nine factors and three shifts. */
export type Operation = number[];

/** Parses an operation such as "-x+1/2, y, z"; undefined if it is invalid. */
export function operationOf(text: string): Operation | undefined {
  const rows = text.toLowerCase().replace(/\s/g, "").split(",");
  if (rows.length !== 3) return undefined;
  const operation = new Array<number>(12).fill(0);
  for (const [row, expression] of rows.entries()) {
    let rest = expression;
    while (rest) {
      const [all, sign, numerator, denominator, axis] = /^([+-]?)(?:(\d+(?:\.\d*)?|\.\d+)(?:\/(\d+))?\*?)?([xyz]?)/.exec(rest) ?? [];
      if (!all || (!numerator && !axis)) return undefined;
      const value = (sign === "-" ? -1 : 1) * (numerator ? Number(numerator) / Number(denominator ?? 1) : 1);
      operation[axis ? 3 * row + "xyz".indexOf(axis) : 9 + row]! += value;
      rest = rest.slice(all.length);
    }
  }
  return operation;
}

export const applied = (o: Operation, p: Place): Place => [0, 1, 2].map((i) => o[3 * i]! * p[0] + o[3 * i + 1]! * p[1] + o[3 * i + 2]! * p[2] + o[9 + i]!) as Place;

/** The tolerance in fractional coordinates below which symmetry images are one atom. */
const samePlace = 0.005;

const wrapped = (n: number) => {
  const inside = n - Math.floor(n);
  return inside > 1 - samePlace / 2 ? 0 : inside;
};

/** The distinct positions within the cell that operations map a position to. */
export function orbitOf(place: Place, operations: Operation[]): Place[] {
  const found: Place[] = [];
  for (const operation of operations) {
    const at = applied(operation, place).map(wrapped) as Place;
    const isSame = (other: Place) => other.every((v, i) => Math.abs(v - at[i]! - Math.round(v - at[i]!)) < samePlace);
    if (!found.some(isSame)) found.push(at);
  }
  return found;
}

/** A position with its images on the opposite faces, edges and corners of the cell. */
export function withImages(place: Place): Place[] {
  let all = [place];
  for (let axis = 0; axis < 3; axis++) {
    if (Math.abs(place[axis]!) < samePlace) all = all.flatMap((p) => [p, p.map((v, i) => (i === axis ? v + 1 : v)) as Place]);
  }
  return all;
}

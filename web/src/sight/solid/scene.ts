// The drawing of a model in one of its styles.
import { elements } from "../elements";
import type { Atoms, Model } from "../messages";

/** Spheres, or sticks with a second end. */
export interface Round {
  /** x, y, z and the radius of each. */
  places: Float32Array;
  others?: Float32Array;
  colours: Uint8Array;
}

export interface Shape {
  mode: "triangles" | "lines" | "points";
  points: Float32Array;
  /** The colour of each point, or one colour for all. */
  colours: Uint8Array;
  corners?: Uint32Array;
}

export interface Scene {
  spheres: Round;
  sticks: Round;
  shapes: Shape[];
  /** The centre of the view, and the maximum distance from it. */
  middle: number[];
  radius: number;
}

export interface Style {
  style: string;
  /** "elements" or "chains". */
  colours: string;
  water: boolean;
  /** The unit cell. */
  cell: boolean;
}

/** The number of atoms above which a protein is initially shown as backbone. */
const manyAtoms = 3000;

const ended = 0xffffffff;
const [ballShare, stick, tube] = [0.25, 0.14, 0.45];
const surface = Uint8Array.of(126, 154, 178);
const edge = Uint8Array.of(128, 136, 142);

/** Colours that are distinguishable on light and dark backgrounds, and with colour blindness. */
export const chainColours = ["4c8ed9", "e08a1e", "3aa58f", "d1605e", "9a78d0", "b59a3a", "5fb0cf", "c96fa8", "7f9a4a", "8f8f8f"];

/** The styles of a model; the first one is the default. */
export function stylesOf({ joined, atoms }: Model): string[] {
  if (!atoms) return joined.length ? ["solid", "wireframe", "points"] : ["points"];
  const all = ["balls and sticks", "sticks", "space-filling", "wireframe"];
  if (!atoms.trace.length) return all;
  return atoms.elements.length > manyAtoms || atoms.trace.length > 0.5 * atoms.elements.length ? ["backbone", ...all] : [...all, "backbone"];
}

const bytesOf = (hex: string) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as [number, number, number];

/** Red, green and blue of each atom. */
function coloursOf(atoms: Atoms, by: string): Uint8Array {
  const table = (by === "chains" ? chainColours : elements.map((e) => e.colour)).map(bytesOf);
  const colours = new Uint8Array(3 * atoms.elements.length);
  for (let i = 0; i < atoms.elements.length; i++) colours.set(by === "chains" ? table[atoms.chains[i]! % table.length]! : table[atoms.elements[i]!]!, 3 * i);
  return colours;
}

class Builder {
  private readonly spheres: number[] = [];
  private readonly sphereColours: number[] = [];
  private readonly ends: number[] = [];
  private readonly others: number[] = [];
  private readonly stickColours: number[] = [];

  constructor(
    private readonly points: Float32Array,
    private readonly colours: Uint8Array,
  ) {}

  sphere(atom: number, radius: number): void {
    this.spheres.push(this.points[3 * atom]!, this.points[3 * atom + 1]!, this.points[3 * atom + 2]!, radius);
    this.sphereColours.push(this.colours[3 * atom]!, this.colours[3 * atom + 1]!, this.colours[3 * atom + 2]!);
  }

  ball(place: number[], radius: number, atom: number): void {
    this.spheres.push(place[0]!, place[1]!, place[2]!, radius);
    this.sphereColours.push(this.colours[3 * atom]!, this.colours[3 * atom + 1]!, this.colours[3 * atom + 2]!);
  }

  stick(from: number[], to: number[], radius: number, atom: number): void {
    this.ends.push(from[0]!, from[1]!, from[2]!, radius);
    this.others.push(to[0]!, to[1]!, to[2]!);
    this.stickColours.push(this.colours[3 * atom]!, this.colours[3 * atom + 1]!, this.colours[3 * atom + 2]!);
  }

  place(atom: number): number[] {
    return [this.points[3 * atom]!, this.points[3 * atom + 1]!, this.points[3 * atom + 2]!];
  }

  /** Each half of a bond has the colour of its atom. */
  bond(a: number, b: number, radius: number): void {
    const [from, to] = [this.place(a), this.place(b)];
    const middle = from.map((v, i) => (v + to[i]!) / 2);
    this.stick(from, middle, radius, a);
    this.stick(middle, to, radius, b);
  }

  get rounds(): { spheres: Round; sticks: Round } {
    return {
      spheres: { places: Float32Array.from(this.spheres), colours: Uint8Array.from(this.sphereColours) },
      sticks: { places: Float32Array.from(this.ends), others: Float32Array.from(this.others), colours: Uint8Array.from(this.stickColours) },
    };
  }
}

/** A smooth tube through the atoms of a backbone. */
function addTrace(builder: Builder, trace: Uint32Array): void {
  const steps = 4;
  const at = (i: number) => (trace[i] === undefined || trace[i] === ended ? undefined : builder.place(trace[i]!));
  for (let i = 0; i < trace.length; i++) {
    const [from, to] = [at(i), at(i + 1)];
    if (!from) continue;
    if (!to) {
      builder.ball(from, tube, trace[i]!);
      continue;
    }
    const [before, after] = [at(i - 1) ?? from, at(i + 2) ?? to];
    let last = from;
    for (let s = 1; s <= steps; s++) {
      const t = s / steps;
      // A Catmull-Rom spline.
      const next = from.map((p, k) => p + 0.5 * t * (to[k]! - before[k]! + t * (2 * before[k]! - 5 * p + 4 * to[k]! - after[k]! + t * (3 * (p - to[k]!) + after[k]! - before[k]!))));
      const atom = trace[t <= 0.5 ? i : i + 1]!;
      builder.ball(last, tube, atom);
      builder.stick(last, next, tube, atom);
      last = next;
    }
  }
}

function addAtoms(builder: Builder, model: Model, atoms: Atoms, { style, water }: Style): void {
  const hasTrace = style === "backbone";
  const isShown = (i: number) => (atoms.parts[i] === 2 ? water && !hasTrace : !hasTrace || atoms.parts[i] === 0);
  const isFilled = style === "space-filling";
  const bonded = new Uint8Array(atoms.elements.length);
  for (let i = 0; i < model.joined.length && !isFilled; i += 2) {
    const [a, b] = [model.joined[i]!, model.joined[i + 1]!];
    if (!isShown(a) || !isShown(b)) continue;
    bonded[a] = bonded[b] = 1;
    if (style !== "wireframe") builder.bond(a, b, stick);
  }
  for (let i = 0; i < atoms.elements.length; i++) {
    if (!isShown(i) || (style === "wireframe" && bonded[i])) continue;
    const radius = elements[atoms.elements[i]!]!.vanDerWaals * (isFilled ? 1 : ballShare);
    builder.sphere(i, style === "sticks" && bonded[i] ? stick : radius);
  }
  if (hasTrace) addTrace(builder, atoms.trace);
}

function radiusOf(points: Float32Array, more: number): number {
  let most = 0;
  for (let i = 0; i < points.length; i += 3) most = Math.max(most, points[i]! ** 2 + points[i + 1]! ** 2 + points[i + 2]! ** 2);
  return Math.sqrt(most) + more;
}

/** The edges of a unit cell. */
function cellShape(cell: number[]): Shape {
  const corner = (n: number) => [0, 1, 2].map((axis) => cell[axis]! + [0, 1, 2].reduce((sum, e) => sum + ((n >> e) & 1) * cell[3 + 3 * e + axis]!, 0));
  const corners = Array.from({ length: 8 }, (_, n) => n).flatMap((n) => [1, 2, 4].filter((bit) => !(n & bit)).flatMap((bit) => [n, n | bit]));
  return { mode: "lines", points: Float32Array.from(Array.from({ length: 8 }, (_, n) => corner(n)).flat()), colours: edge, corners: Uint32Array.from(corners) };
}

const edgesOf = (corners: Uint32Array) => {
  const lines = new Uint32Array(2 * corners.length);
  for (let i = 0; i < corners.length; i++) {
    lines[2 * i] = corners[i]!;
    lines[2 * i + 1] = corners[i % 3 === 2 ? i - 2 : i + 1]!;
  }
  return lines;
};

const none: Round = { places: new Float32Array(), colours: new Uint8Array() };

/** @param first the model whose position and size determine the view, so that simulation steps stay
    in place */
export function sceneOf(model: Model, first: Model, style: Style): Scene {
  const { points, joined, atoms } = model;
  const middle = first.centre.map((c, i) => c - model.centre[i]!);
  const extent = first.cell && style.cell ? cellShape(first.cell).points : new Float32Array();
  const radius = Math.max(radiusOf(first.points, atoms ? 1.5 : 0), radiusOf(extent, 0)) || 1;
  if (!atoms) {
    const colours = model.colours ?? surface;
    const shape: Record<string, Shape> = {
      solid: { mode: "triangles", points, colours, corners: joined },
      wireframe: { mode: "lines", points, colours, corners: edgesOf(joined) },
      points: { mode: "points", points, colours },
    };
    return { spheres: none, sticks: none, shapes: [shape[style.style] ?? shape.points!], middle, radius };
  }
  const colours = coloursOf(atoms, style.colours);
  const builder = new Builder(points, colours);
  addAtoms(builder, model, atoms, style);
  const shapes: Shape[] = model.cell && style.cell ? [cellShape(model.cell)] : [];
  if (style.style === "wireframe") shapes.push({ mode: "lines", points, colours, corners: joined });
  return { ...builder.rounds, shapes, middle, radius };
}

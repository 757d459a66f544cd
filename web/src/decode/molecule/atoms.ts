// The atoms of one model under construction, and the model that a page draws.
import { elements, numberOf } from "../../sight/elements";
import type { Attribute, Atoms, Model } from "../../sight/messages";
import { Refused } from "../lib/serve";
import { bondsOf } from "./bonds";

/** The maximum number of atoms of a model. */
const maxAtoms = 500_000;

export interface Atom {
  /** As written in the file. */
  element: string;
  at: [x: number, y: number, z: number];
  name?: string;
  residue?: string;
  /** The number of the residue in its chain, with its insertion code. */
  number?: string;
  chain?: string;
  /** The alternate location of the atom. */
  alternative?: string;
}

/** Three edges of a unit cell, one after the other. */
export type Cell = number[];

export class Structure {
  readonly at: number[] = [];
  readonly elements: number[] = [];
  /** Symbols; for unknown elements, the text in the file. */
  readonly written: string[] = [];
  readonly names: string[] = [];
  readonly residues: string[] = [];
  readonly numbers: string[] = [];
  readonly chains: string[] = [];
  readonly alternatives: string[] = [];
  title = "";
  facts: Attribute[] = [];
  notes: string[] = [];
  cell: Cell | undefined;
  /** Pairs of bonded atoms in the file. */
  bonds: number[] = [];
  /** Whether the file contains all bonds, so none is derived from distances. */
  hasBonds = false;
  /** The number of atoms without a position. */
  private nowhere = 0;

  get length() {
    return this.elements.length;
  }

  add({ element, at, name = "", residue = "", number = "", chain = "", alternative = "" }: Atom): void {
    if (!at.every((n) => Math.abs(n) < 1e9)) {
      if (++this.nowhere === 1) this.notes.push("Atoms without a position are left out.");
      return;
    }
    if (this.length >= maxAtoms) throw new Refused(`It has more than ${maxAtoms.toLocaleString("en")} atoms.`);
    this.at.push(...at);
    this.elements.push(numberOf(element));
    this.written.push(numberOf(element) ? elements[numberOf(element)]!.symbol : element.slice(0, 20));
    this.names.push(short(name));
    this.residues.push(short(residue));
    this.numbers.push(short(number));
    this.chains.push(short(chain));
    this.alternatives.push(short(alternative));
  }

  /** The non-empty columns of the table of atoms. */
  columns(): [name: string, text: (atom: number) => string][] {
    const number = (n: number) => String(Number(n.toPrecision(10)));
    const texts: [string, string[]][] = [["name", this.names], ["residue", this.residues], ["number", this.numbers], ["chain", this.chains], ["alternative", this.alternatives]];
    return [
      ["element", (i) => this.written[i]!],
      ...texts.filter(([, values]) => values.some(Boolean)).map(([name, values]): [string, (i: number) => string] => [name, (i) => values[i]!]),
      ...["x", "y", "z"].map((name, axis): [string, (i: number) => string] => [name, (i) => number(this.at[3 * i + axis]!)]),
    ];
  }

  model(): Model {
    const atoms = this.atoms();
    const box = boxOf(this.at, atoms.trace.length ? undefined : this.cell);
    const centre = [0, 1, 2].map((axis) => (box[axis]! + box[axis + 3]!) / 2);
    const points = Float32Array.from(this.at, (v, i) => v - centre[i % 3]!);
    const { bonds, complete } = this.hasBonds ? { bonds: this.bonds, complete: true } : bondsOf(this);
    const notes = complete ? this.notes : [...this.notes, "Bonds are left out where atoms are too dense."];
    const model: Model = { title: this.title.slice(0, 200), facts: [...this.facts, ...this.counts(bonds.length / 2)], notes, centre, points, joined: Uint32Array.from(bonds), atoms };
    if (this.cell) model.cell = [...centre.map((c) => -c), ...this.cell];
    return model;
  }

  private counts(bonds: number): Attribute[] {
    const facts: Attribute[] = [["atoms", String(this.length)], ["formula", formulaOf(this.elements)]];
    const chains = new Set(this.chains);
    if (this.residues.some(Boolean)) {
      facts.push(["residues", String(new Set(this.residues.map((r, i) => `${this.chains[i]} ${this.numbers[i]} ${r}`)).size)]);
      facts.push(["chains", `${chains.size}: ${[...chains].slice(0, 100).join(", ")}`]);
    }
    return [...facts, ["bonds", `${bonds}, ${this.hasBonds ? "as in the file" : "by the distances of atoms"}`]];
  }

  private atoms(): Atoms {
    const chainNames = [...new Set(this.chains)];
    const places = new Map(chainNames.map((name, i) => [name, i]));
    const { parts, trace } = backbones(this);
    return {
      elements: Uint8Array.from(this.elements), chains: Uint16Array.from(this.chains, (c) => places.get(c)!), chainNames, parts, trace,
      columns: this.columns().map(([name]) => name),
    };
  }
}

/** Atom names have a few letters; longer texts are not names. */
const short = (name: string) => (name.length > 40 ? `${name.slice(0, 40)}…` : name);

/** The minimum and maximum coordinates of the points, and of the corners of a cell. */
function boxOf(at: number[], cell: Cell | undefined): number[] {
  const box = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
  const include = (value: number, axis: number) => {
    box[axis] = Math.min(box[axis]!, value);
    box[axis + 3] = Math.max(box[axis + 3]!, value);
  };
  for (let i = 0; i < at.length; i++) include(at[i]!, i % 3);
  for (let corner = 0; cell && corner < 8; corner++) {
    for (let axis = 0; axis < 3; axis++) include([0, 1, 2].reduce((sum, edge) => sum + ((corner >> edge) & 1) * cell[3 * edge + axis]!, 0), axis);
  }
  return box[0] === Infinity ? [0, 0, 0, 0, 0, 0] : box;
}

/** Counts of elements in Hill order: carbon and hydrogen first if carbon is present, then
    alphabetical. */
export function formulaOf(numbers: number[]): string {
  const counts = new Map<string, number>();
  for (const n of numbers) counts.set(elements[n]!.symbol, (counts.get(elements[n]!.symbol) ?? 0) + 1);
  const first = counts.has("C") ? ["C", "H"] : [];
  const order = [...first.filter((s) => counts.has(s)), ...[...counts.keys()].filter((s) => !first.includes(s)).sort()];
  return order.map((s) => s + (counts.get(s)! > 1 ? counts.get(s) : "")).join(" ");
}

const water = new Set("HOH WAT DOD H2O SOL TIP TIP3 TIP4".split(" "));

/** The maximum distance in Å between consecutive backbone atoms. */
const reach: Record<string, number> = { CA: 4.5, "C4'": 9 };

/** Backbones of proteins go through alpha carbons, backbones of nucleic acids through C4'. */
function backbones(s: Structure): { parts: Uint8Array; trace: Uint32Array } {
  const parts = new Uint8Array(s.length);
  const trace: number[] = [];
  let last = -1;
  for (let start = 0, end = 0; start < s.length; start = end) {
    while (end < s.length && s.numbers[end] === s.numbers[start] && s.chains[end] === s.chains[start] && s.residues[end] === s.residues[start]) end++;
    if (water.has(s.residues[start]!)) parts.fill(2, start, end);
    if (!s.residues[start]) continue;
    let found = -1;
    for (let i = start; i < end && found < 0; i++) if (s.elements[i] === 6 && reach[nameIn(s, i)]) found = i;
    if (found < 0) continue;
    parts.fill(1, start, end);
    const distance = last < 0 ? 0 : Math.hypot(...[0, 1, 2].map((axis) => s.at[3 * found + axis]! - s.at[3 * last + axis]!));
    if (last >= 0 && (s.chains[last] !== s.chains[found] || nameIn(s, last) !== nameIn(s, found) || distance > reach[nameIn(s, found)]!)) trace.push(0xffffffff);
    trace.push(found);
    last = found;
  }
  return { parts, trace: Uint32Array.from(trace) };
}

const nameIn = (s: Structure, atom: number) => s.names[atom]!.replace("*", "'");

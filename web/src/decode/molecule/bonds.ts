// Bonds by distance: two atoms are bonded if their distance does not exceed their covalent radii
// plus a tolerance. A grid limits comparisons to neighbours.
import { elements } from "../../sight/elements";

/** The tolerance above the sum of the radii, and the minimum distance of two atoms, in Å. Closer
    atoms are one atom in two positions. */
const tolerance = 0.4;
const closest = 0.4;

/** Limits: bonds of one atom, and comparisons in total, for files with all atoms in one place. */
const maxBonds = 16;
const maxComparisons = 60_000_000;

interface Sites {
  readonly length: number;
  /** x, y, z of each atom. */
  readonly at: number[];
  readonly elements: number[];
  readonly alternatives: string[];
  /** Pairs that are bonded at any distance. */
  readonly bonds: number[];
}

/** Pairs of bonded atoms; incomplete if atoms are too dense. */
export function bondsOf(s: Sites): { bonds: number[]; complete: boolean } {
  const bonds: number[] = [];
  const known = new Set(pairs(s.bonds).map(([a, b]) => Math.min(a, b) * s.length + Math.max(a, b)));
  const counts = new Uint8Array(s.length);
  const grid = new Grid(s, 2 * s.elements.reduce((most, e) => Math.max(most, elements[e]!.covalent), 0.3) + tolerance);
  let comparisons = 0;
  for (let a = 0; a < s.length; a++) {
    comparisons += grid.near(a, (b) => {
      if (b >= a || counts[a]! >= maxBonds || counts[b]! >= maxBonds || !isBonded(s, a, b) || known.has(b * s.length + a)) return;
      bonds.push(b, a);
      counts[a]!++;
      counts[b]!++;
    });
    if (comparisons > maxComparisons) return { bonds: [...s.bonds, ...bonds], complete: false };
  }
  return { bonds: s.bonds.length ? s.bonds.concat(bonds) : bonds, complete: true };
}

const pairs = (flat: number[]) => Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!] as const);

function isBonded({ at, elements: numbers, alternatives }: Sites, a: number, b: number): boolean {
  const most = elements[numbers[a]!]!.covalent + elements[numbers[b]!]!.covalent + tolerance;
  const [x, y, z] = [at[3 * a]! - at[3 * b]!, at[3 * a + 1]! - at[3 * b + 1]!, at[3 * a + 2]! - at[3 * b + 2]!];
  const square = x * x + y * y + z * z;
  if (square > most * most || square < closest * closest) return false;
  return !alternatives[a] || !alternatives[b] || alternatives[a] === alternatives[b];
}

/** Atoms by grid cell. Cells share lists by a hash, so memory depends on the atoms, not on the
    volume. */
class Grid {
  private readonly cells: Int32Array;
  private readonly starts: Int32Array;
  private readonly sorted: Int32Array;
  private readonly mask: number;

  constructor({ length, at }: Sites, size: number) {
    this.mask = (1 << Math.max(4, Math.ceil(Math.log2(length + 1)))) - 1;
    this.cells = Int32Array.from(at, (v) => Math.floor(v / size));
    this.starts = new Int32Array(this.mask + 2);
    this.sorted = new Int32Array(length);
    const { cells, starts, sorted } = this;
    const hashes = Int32Array.from({ length }, (_, i) => this.hash(cells[3 * i]!, cells[3 * i + 1]!, cells[3 * i + 2]!));
    for (const hash of hashes) starts[hash + 1]!++;
    for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!;
    const next = starts.slice();
    for (let i = 0; i < length; i++) sorted[next[hashes[i]!]!++] = i;
  }

  private hash(x: number, y: number, z: number): number {
    return (Math.imul(x, 73856093) ^ Math.imul(y, 19349663) ^ Math.imul(z, 83492791)) & this.mask;
  }

  /** Visits the atoms in the 27 cells around an atom, and returns the number of comparisons. */
  near(atom: number, visit: (other: number) => void): number {
    const { cells, starts, sorted } = this;
    let looked = 0;
    for (let n = 0; n < 27; n++) {
      const x = cells[3 * atom]! + (n % 3) - 1;
      const y = cells[3 * atom + 1]! + (Math.floor(n / 3) % 3) - 1;
      const z = cells[3 * atom + 2]! + Math.floor(n / 9) - 1;
      const hash = this.hash(x, y, z);
      const end = starts[hash + 1]!;
      looked += end - starts[hash]!;
      for (let i = starts[hash]!; i < end; i++) {
        const other = sorted[i]!;
        if (cells[3 * other] === x && cells[3 * other + 1] === y && cells[3 * other + 2] === z) visit(other);
      }
    }
    return looked;
  }
}

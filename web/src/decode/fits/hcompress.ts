// HCOMPRESS, the image compression by White: coefficients of the Haar transform, in bit planes that
// are quadtrees.
import { Refused } from "../lib/serve";
import { Bits } from "./integers";

/** Codes of the four-bit patterns, by length: the first ones have three bits. */
const codes: Record<number, number>[] = [
  { 0: 1, 1: 2, 2: 4, 3: 8 },
  { 8: 3, 9: 5, 10: 10, 11: 12, 12: 15 },
  { 26: 6, 27: 7, 28: 9, 29: 11, 30: 13 },
  { 62: 0, 63: 14 },
];

function pattern(bits: Bits): number {
  let code = bits.take(3);
  for (const table of codes) {
    const found = table[code];
    if (found !== undefined) return found;
    code = code * 2 + bits.take(1);
  }
  throw new Refused("A compressed part of the file is damaged.");
}

/** The number of levels for a side: the exponent of the smallest power of two that is not smaller.
    */
const levelsOf = (n: number) => Math.ceil(Math.log2(n) - 1e-9);

/** The lengths of a side at each level, ascending. */
function sides(whole: number, levels: number): number[] {
  const all = [whole];
  for (let k = 0; k < levels; k++) all.unshift((all[0]! + 1) >> 1);
  return all;
}

/** Calls `each` for the corners of 2 × 2 blocks within a part. */
function quarters(rows: number, columns: number, each: (row: number, column: number, block: number) => void) {
  let block = 0;
  for (let r = 0; r < rows; r += 2) for (let c = 0; c < columns; c += 2) each(r, c, block++);
}

/** Reads the bit planes of a part of the coefficients. */
function readPlanes(bits: Bits, a: Int32Array, at: number, stride: number, rows: number, columns: number, planes: number) {
  if (!rows || !columns) return;
  const levels = levelsOf(Math.max(rows, columns));
  const [height, width] = [sides(rows, levels), sides(columns, levels)];
  for (let plane = planes - 1; plane >= 0; plane--) {
    const kind = bits.take(4);
    let blocks: Uint8Array;
    if (kind === 0) blocks = Uint8Array.from({ length: ((rows + 1) >> 1) * ((columns + 1) >> 1) }, () => bits.take(4));
    else if (kind !== 15) throw new Refused("A compressed part of the file is damaged.");
    else {
      blocks = Uint8Array.of(pattern(bits));
      for (let k = 1; k < levels; k++) {
        const [h, w] = [height[k]!, width[k]!];
        const next = new Uint8Array(h * w);
        quarters(h, w, (r, c, block) => {
          const four = blocks[block]!;
          next[r * w + c] = (four >> 3) & 1;
          if (c + 1 < w) next[r * w + c + 1] = (four >> 2) & 1;
          if (r + 1 < h) next[(r + 1) * w + c] = (four >> 1) & 1;
          if (r + 1 < h && c + 1 < w) next[(r + 1) * w + c + 1] = four & 1;
        });
        for (let i = next.length - 1; i >= 0; i--) if (next[i]) next[i] = pattern(bits);
        blocks = next;
      }
    }
    quarters(rows, columns, (r, c, block) => {
      const four = blocks[block]!;
      const to = at + r * stride + c;
      a[to]! |= ((four >> 3) & 1) << plane;
      if (c + 1 < columns) a[to + 1]! |= ((four >> 2) & 1) << plane;
      if (r + 1 < rows) a[to + stride]! |= ((four >> 1) & 1) << plane;
      if (r + 1 < rows && c + 1 < columns) a[to + stride + 1]! |= (four & 1) << plane;
    });
  }
}

/** Interleaves the first and the second half of equidistant values. */
function interleave(a: Int32Array, at: number, count: number, stride: number, held: Int32Array) {
  const half = (count + 1) >> 1;
  for (let i = 0; i < count; i++) held[i < half ? 2 * i : 2 * (i - half) + 1] = a[at + i * stride]!;
  for (let i = 0; i < count; i++) a[at + i * stride] = held[i]!;
}

/** Inverts the transform level by level. It rounds halves like the forward transform. */
function invert(a: Int32Array, rows: number, columns: number) {
  const levels = levelsOf(Math.max(rows, columns));
  const [height, width] = [sides(rows, levels), sides(columns, levels)];
  const held = new Int32Array(Math.max(rows, columns) + 1);
  const rounded = (v: number, bit: number, least: number) => (v + (v >= 0 ? bit >> 1 : least)) & -bit;
  let bit0 = levels ? 1 << (levels - 1) : 0;
  const top = bit0 << 2;
  if (top) a[0] = rounded(a[0]!, top, (top >> 1) - 1);
  for (let k = 1; k <= levels; k++, bit0 >>= 1) {
    const [h, w, shift, bit1] = [height[k]!, width[k]!, k === levels ? 2 : 1, bit0 << 1];
    const least0 = k === levels ? 0 : (bit0 >> 1) - 1;
    for (let r = 0; r < h; r++) interleave(a, r * columns, w, 1, held);
    for (let c = 0; c < w; c++) interleave(a, c, h, columns, held);
    const side = (v: number) => rounded(v, bit1, (bit1 >> 1) - 1);
    quarters(h, w, (r, c) => {
      const at = r * columns + c;
      const [down, right] = [r + 1 < h, c + 1 < w];
      let h0 = a[at]!;
      if (down && right) {
        let [hx, hy] = [side(a[at + columns]!), side(a[at + 1]!)];
        const hc = rounded(a[at + columns + 1]!, bit0, least0);
        const low0 = hc & bit0;
        hx -= hx >= 0 ? low0 : -low0;
        hy -= hy >= 0 ? low0 : -low0;
        const low1 = (hc ^ hx ^ hy) & bit1;
        h0 += h0 >= 0 ? low0 - low1 : low0 ? low0 - low1 : low1;
        a[at + columns + 1] = (h0 + hx + hy + hc) >> shift;
        a[at + columns] = (h0 + hx - hy - hc) >> shift;
        a[at + 1] = (h0 - hx + hy - hc) >> shift;
        a[at] = (h0 - hx - hy + hc) >> shift;
      } else if (down || right) {
        const other = down ? at + columns : at + 1;
        const hx = side(a[other]!);
        const low1 = hx & bit1;
        h0 += h0 >= 0 ? -low1 : low1;
        a[other] = (h0 + hx) >> shift;
        a[at] = (h0 - hx) >> shift;
      } else a[at] = h0 >> shift;
    });
  }
}

/** The values of a tile with this number of pixels. */
export function unHCompress(packed: Uint8Array<ArrayBuffer>, count: number): Int32Array {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (packed.length < 26 || view.getUint16(0) !== 0xdd99) throw new Refused("A compressed part of the file is damaged.");
  const [rows, columns, scale, sum] = [view.getInt32(2), view.getInt32(6), view.getInt32(10), Number(view.getBigInt64(14))];
  const planes = [packed[22]!, packed[23]!, packed[24]!];
  if (rows < 1 || columns < 1 || rows * columns !== count) throw new Refused("A compressed part of the file is damaged.");
  if (Math.abs(sum) * Math.max(1, scale) >= 2 ** 29 || Math.max(...planes) > 28 || levelsOf(Math.max(rows, columns)) > 28) {
    throw new Refused("Its values are too large for this decompressor.");
  }
  const a = new Int32Array(count);
  const bits = new Bits(packed.subarray(25));
  const [halfRows, halfColumns] = [(rows + 1) >> 1, (columns + 1) >> 1];
  readPlanes(bits, a, 0, columns, halfRows, halfColumns, planes[0]!);
  readPlanes(bits, a, halfColumns, columns, halfRows, columns >> 1, planes[1]!);
  readPlanes(bits, a, columns * halfRows, columns, rows >> 1, halfColumns, planes[1]!);
  readPlanes(bits, a, columns * halfRows + halfColumns, columns, rows >> 1, columns >> 1, planes[2]!);
  if (bits.take(4) !== 0) throw new Refused("A compressed part of the file is damaged.");
  bits.align();
  for (let i = 0; i < count; i++) if (a[i] && bits.take(1)) a[i] = -a[i]!;
  a[0] = sum;
  if (scale > 1) for (let i = 0; i < count; i++) a[i]! *= scale;
  invert(a, rows, columns);
  return a;
}

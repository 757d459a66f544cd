// Integers of compressed FITS image tiles: the Rice and PLIO algorithms.
import { Refused } from "../lib/serve";

const cut = () => new Refused("A compressed part of the file is damaged.");

/** The bits of bytes, highest first. */
export class Bits {
  private at = 0;
  private held = 0;
  private left = 0;

  constructor(private readonly bytes: Uint8Array) {}

  /** Up to 24 bits. */
  take(count: number): number {
    while (this.left < count) {
      if (this.at >= this.bytes.length) throw cut();
      this.held = ((this.held & 0xffffff) << 8) | this.bytes[this.at++]!;
      this.left += 8;
    }
    this.left -= count;
    return (this.held >>> this.left) & (2 ** count - 1);
  }

  /** Returns the number of 0 bits before the next 1 bit. */
  zeros(): number {
    let n = 0;
    while (!this.take(1)) n++;
    return n;
  }

  /** Skips to the next byte boundary. */
  align() {
    this.left = 0;
  }
}

const riceOf: Record<number, [header: number, verbatim: number]> = { 1: [3, 6], 2: [4, 14], 4: [5, 25] };

/** Rice: differences of neighbours in blocks, each with a number of raw bits. */
export function unRice(packed: Uint8Array, count: number, size: number, block: number): Int32Array {
  const [header, verbatim] = riceOf[size] ?? [0, 0];
  if (!header || !(block > 0)) throw new Refused(`Its values have ${size} bytes, which this compression does not support.`);
  const out = new Int32Array(count);
  const shift = 32 - 8 * size;
  const bits = new Bits(packed);
  const long = (n: number) => (n > 16 ? bits.take(n - 16) * 65536 + bits.take(16) : bits.take(n));
  let last = long(8 * size) | 0;
  for (let i = 0; i < count; ) {
    const end = Math.min(count, i + block);
    const plain = bits.take(header) - 1;
    for (; i < end; i++) {
      if (plain >= 0) {
        const coded = plain === verbatim ? long(8 * size) : bits.zeros() * 2 ** plain + long(plain);
        const difference = coded % 2 ? -(coded + 1) / 2 : coded / 2;
        last = (last + difference) | 0;
      }
      out[i] = size === 1 ? last & 255 : (last << shift) >> shift;
    }
  }
  return out;
}

/** PLIO: lists of instructions in 16-bit words, for masks. */
export function unPLIO(packed: Uint8Array, count: number): Int32Array {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const out = new Int32Array(count);
  const word = (i: number) => {
    if (2 * i + 2 > packed.length) throw cut();
    return view.getInt16(2 * i);
  };
  const isShort = word(2) > 0;
  const end = isShort ? word(2) : word(4) * 32768 + word(3);
  let [at, high] = [0, 1];
  for (let i = isShort ? 3 : word(1); i < end && at < count; i++) {
    const [kind, data] = [(word(i) >> 12) & 15, word(i) & 4095];
    if (kind === 0 || kind === 4 || kind === 5) {
      const to = Math.min(count, at + data);
      if (kind === 4) out.fill(high, at, to);
      if (kind === 5 && at + data <= count && data > 0) out[to - 1] = high;
      at += data;
    } else if (kind === 1) high = (word(++i) << 12) + data;
    else if (kind === 2 || kind === 6) high += data;
    else if (kind === 3 || kind === 7) high -= data;
    else throw cut();
    if (kind > 5) out[at++] = high;
  }
  return out;
}

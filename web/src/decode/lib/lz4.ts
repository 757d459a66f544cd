// LZ4: blocks, frames, and blocks in the Hadoop format.
import { Refused } from "./serve";

const broken = () => new Refused("A compressed part of the file is damaged.");

/** Unpacks a block to position `at` of the output. The block can refer to earlier output. Returns
    the end position. */
export function block(packed: Uint8Array, out: Uint8Array, at = 0): number {
  let i = 0;
  const length = (bits: number) => {
    let all = bits;
    for (let byte = bits === 15 ? 255 : 0; byte === 255; all += byte) {
      if (i >= packed.length) throw broken();
      byte = packed[i++]!;
    }
    return all;
  };
  while (i < packed.length) {
    const token = packed[i++]!;
    const literals = length(token >> 4);
    if (i + literals > packed.length || at + literals > out.length) throw broken();
    out.set(packed.subarray(i, i + literals), at);
    i += literals;
    at += literals;
    if (i >= packed.length) break; // the last sequence has no match
    const distance = packed[i]! | (packed[i + 1]! << 8);
    i += 2;
    const end = at + length(token & 15) + 4;
    if (!distance || distance > at || end > out.length) throw broken();
    for (; at < end; at++) out[at] = out[at - distance]!;
  }
  return at;
}

/** Unpacks frames to exactly this length. */
export function frame(packed: Uint8Array, length: number): Uint8Array {
  const out = new Uint8Array(length);
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  let at = 0;
  for (let i = 0; i < packed.length; ) {
    if (view.getUint32(i, true) !== 0x184d2204) throw broken();
    const flags = packed[i + 4]!;
    i += 7 + (flags & 8 ? 8 : 0) + (flags & 1 ? 4 : 0);
    for (let size = view.getUint32(i, true); size; size = view.getUint32(i, true)) {
      const bytes = packed.subarray(i + 4, i + 4 + (size & 0x7fffffff));
      if (bytes.length < (size & 0x7fffffff)) throw broken();
      i += 4 + bytes.length + (flags & 16 ? 4 : 0);
      if (!(size >>> 31)) at = block(bytes, out, at);
      else if (at + bytes.length > length) throw broken();
      else {
        out.set(bytes, at);
        at += bytes.length;
      }
    }
    i += 4 + (flags & 4 ? 4 : 0);
  }
  if (at !== length) throw broken();
  return out;
}

/** Unpacks length-prefixed blocks of the Hadoop format. Older Parquet writers wrote one block
    without a prefix. */
export function hadoop(packed: Uint8Array, length: number): Uint8Array {
  const out = new Uint8Array(length);
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  let at = 0;
  for (let i = 0; i + 8 <= packed.length && at >= 0; ) {
    const [unpacked, bytes] = [view.getUint32(i), view.getUint32(i + 4)];
    i += 8;
    const fits = bytes <= packed.length - i && unpacked <= length - at;
    at = fits && block(packed.subarray(i, i + bytes), out, at) === at + unpacked ? at + unpacked : -1;
    i += bytes;
  }
  if (at === length) return out;
  block(packed, out);
  return out;
}

export function raw(packed: Uint8Array, length: number): Uint8Array {
  const out = new Uint8Array(length);
  block(packed, out);
  return out;
}

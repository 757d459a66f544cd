// TIFF compressions and predictors.
import { decompress as unzstd } from "fzstd";
import { inflate } from "../lib/inflate";
import { Refused } from "../lib/serve";
import { isYCbCr, JPEG, type Layout } from "./layout";

const names: Record<number, string> = { 2: "CCITT (fax)", 3: "CCITT (fax)", 4: "CCITT (fax)", 6: "an old form of JPEG", 7: "JPEG with other samples than 8 bits of greys or colours", 33003: "JPEG 2000", 33005: "JPEG 2000", 34712: "JPEG 2000", 34925: "LZMA", 50001: "WebP", 34887: "LERC" };

const methods: Record<number, (bytes: Uint8Array<ArrayBuffer>, size: number) => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>> = {
  1: (bytes) => bytes,
  5: unLZW,
  8: (bytes, size) => inflate(bytes, "deflate", size, true),
  32946: (bytes, size) => inflate(bytes, "deflate", size, true),
  32773: unPack,
  50000: (bytes, size) => unzstd(bytes, new Uint8Array(size)) as Uint8Array<ArrayBuffer>,
};

/** The reason why a picture cannot be read; undefined if it can. */
export function whyNot(l: Layout): string | undefined {
  const perPixel = l.planar ? 1 : l.samples;
  const isReadable = l.compression === JPEG ? l.bits === 8 && (perPixel === 1 || perPixel === 3) : methods[l.compression];
  if (!isReadable) return `Its pixels are compressed with ${names[l.compression] ?? `method ${l.compression}`}, which is not supported.`;
  return isYCbCr(l) && l.compression !== JPEG ? "Its colours are in YCbCr, which is not supported." : undefined;
}

export async function unpack(method: number, bytes: Uint8Array<ArrayBuffer>, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const unpacked = await methods[method]!(bytes, size);
  if (unpacked.length >= size) return unpacked;
  const padded = new Uint8Array(size); // some programs write a short last strip
  padded.set(unpacked);
  return padded;
}

function unPack(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(size);
  for (let at = 0, to = 0; at < bytes.length && to < size; ) {
    const control = bytes[at++]!;
    if (control < 128) {
      out.set(bytes.subarray(at, at + Math.min(control + 1, size - to)), to);
      at += control + 1;
      to += control + 1;
    } else if (control > 128) {
      out.fill(bytes[at++]!, to, to + 257 - control);
      to += 257 - control;
    }
  }
  return out;
}

function unLZW(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(size);
  const starts = new Uint32Array(4097); // the output position of the text of a code
  const lengths = new Uint32Array(4097);
  if (bytes[0] === 0 && bytes[1]! & 1) throw new Refused("It is compressed by an old form of LZW, which is not supported.");
  let [next, width, to, at, held, bits] = [258, 9, 0, 0, 0, 0];
  let before = -1;
  while (to < size) {
    while (bits < width && at < bytes.length) [held, bits] = [((held << 8) | bytes[at++]!) & 0xffffff, bits + 8];
    if (bits < width) break;
    const code = (held >> (bits - width)) & ((1 << width) - 1);
    bits -= width;
    if (code === 257) break;
    if (code === 256) {
      [next, width, before] = [258, 9, -1];
      continue;
    }
    const start = to;
    if (code < 256) out[to++] = code;
    else {
      const known = code < next;
      if (!known && (before < 0 || code > next)) throw new Refused("A compressed part of the file is damaged.");
      const from = known ? starts[code]! : before;
      const length = known ? lengths[code]! : start - before + 1;
      for (let i = 0; i < length && to < size; i++) out[to++] = out[from + i]!;
    }
    if (before >= 0 && next < 4096) {
      starts[next] = before;
      lengths[next] = start - before + 1;
      next++;
    }
    before = start;
    if (next === 511 || next === 1023 || next === 2047) width = { 511: 10, 1023: 11, 2047: 12 }[next]!;
  }
  return out;
}

/** Undoes a predictor in a segment of rows. */
export function unpredict(bytes: Uint8Array<ArrayBuffer>, predictor: number, width: number, samples: number, bits: number, little: boolean) {
  const size = bits / 8;
  const rowBytes = width * samples * size;
  const rows = Math.floor(bytes.length / rowBytes);
  if (predictor === 3) {
    for (let r = 0; r < rows; r++) {
      const row = bytes.subarray(r * rowBytes, (r + 1) * rowBytes);
      for (let i = samples; i < rowBytes; i++) row[i] = (row[i]! + row[i - samples]!) & 255;
      const sums = row.slice();
      const count = width * samples;
      for (let i = 0; i < count; i++) for (let b = 0; b < size; b++) row[i * size + (little ? size - 1 - b : b)] = sums[b * count + i]!;
    }
    return;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let r = 0; r < rows; r++) {
    for (let i = samples; i < width * samples; i++) {
      const at = r * rowBytes + i * size;
      const left = at - samples * size;
      if (size === 1) bytes[at] = (bytes[at]! + bytes[left]!) & 255;
      else if (size === 2) view.setUint16(at, view.getUint16(at, little) + view.getUint16(left, little), little);
      else if (size === 4) view.setUint32(at, view.getUint32(at, little) + view.getUint32(left, little), little);
      else view.setBigUint64(at, view.getBigUint64(at, little) + view.getBigUint64(left, little), little);
    }
  }
}

// JPEG in TIFF: the browser decodes each segment as its own picture. Shared tables can be stored
// once.
import { concat, Refused } from "../lib/serve";

const [SOI, EOI, SOS, APP14] = [0xd8, 0xd9, 0xda, 0xee];

/** The marker segments of a JPEG stream up to its first scan. */
function* segments(bytes: Uint8Array): Generator<{ marker: number; at: number; length: number }> {
  if (bytes[0] !== 0xff || bytes[1] !== SOI) throw new Refused("A compressed part of the file is damaged.");
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff && bytes[at + 1] !== EOI; ) {
    const length = 2 + bytes[at + 2]! * 256 + bytes[at + 3]!;
    yield { marker: bytes[at + 1]!, at, length };
    if (bytes[at + 1] === SOS) return;
    at += length;
  }
}

/** The size of a frame. It is checked because the browser would allocate memory for any size. */
function frameOf(bytes: Uint8Array): { width: number; height: number; components: number } {
  for (const { marker, at } of segments(bytes)) {
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: bytes[at + 5]! * 256 + bytes[at + 6]!, width: bytes[at + 7]! * 256 + bytes[at + 8]!, components: bytes[at + 9] ?? 0 };
  }
  throw new Refused("A compressed part of the file is damaged.");
}

/** The marker that tells a decoder whether colours are RGB or YCbCr. */
const adobe = (isYCbCr: boolean) => new Uint8Array([0xff, APP14, 0, 14, 0x41, 0x64, 0x6f, 0x62, 0x65, 0, 100, 0, 0, 0, 0, isYCbCr ? 1 : 0]);

export interface Segment {
  width: number;
  height: number;
  samples: number;
  isYCbCr: boolean;
}

/** The samples of a segment: 8 bits each, interleaved by pixel. */
export async function unJPEG(bytes: Uint8Array<ArrayBuffer>, tables: Uint8Array, { width, height, samples, isYCbCr }: Segment): Promise<Uint8Array<ArrayBuffer>> {
  const frame = frameOf(bytes);
  if (frame.components !== samples || frame.width > width || frame.height > height) throw new Refused("A compressed part of the file has the wrong size.");
  const before = tables.length > 4 ? tables.subarray(2, tables.length - 2) : new Uint8Array(0);
  const stream = concat([bytes.subarray(0, 2), samples === 3 ? adobe(isYCbCr) : new Uint8Array(0), before, bytes.subarray(2)]);
  const bitmap = await createImageBitmap(new Blob([stream], { type: "image/jpeg" }), { colorSpaceConversion: "none", imageOrientation: "none" as "from-image" }).catch(() => {
    throw new Refused("A compressed part of the file is damaged.");
  });
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true })!;
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  const { data } = context.getImageData(0, 0, width, height);
  const out = new Uint8Array(width * height * samples);
  for (let i = 0, to = 0; i < data.length; i += 4) for (let s = 0; s < samples; s++) out[to++] = data[i + s]!;
  return out;
}

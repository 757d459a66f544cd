// PNG with 16 bits per sample, which browsers reduce to 8.
import type { Attribute } from "../sight/messages";
import { concat, MiB, Refused, serve, whole } from "./lib/serve";
import { inflate } from "./lib/inflate";

/** Samples per pixel by colour type. */
const samplesOf: Record<number, number> = { 0: 1, 2: 3, 4: 2, 6: 4 };
const maxUnpacked = 256 * MiB;

/** The passes of an interlaced picture: first column and row, and steps. */
const passes = [[0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]] as const;

function unfilter(bytes: Uint8Array, at: number, rowBytes: number, rows: number, pixelBytes: number): Uint8Array {
  const out = new Uint8Array(rowBytes * rows);
  for (let r = 0; r < rows; r++, at += rowBytes + 1) {
    const filter = bytes[at]!;
    for (let i = 0; i < rowBytes; i++) {
      const left = i >= pixelBytes ? out[r * rowBytes + i - pixelBytes]! : 0;
      const up = r ? out[(r - 1) * rowBytes + i]! : 0;
      const corner = r && i >= pixelBytes ? out[(r - 1) * rowBytes + i - pixelBytes]! : 0;
      const predicted = filter === 1 ? left : filter === 2 ? up : filter === 3 ? (left + up) >> 1 : filter === 4 ? paeth(left, up, corner) : 0;
      out[r * rowBytes + i] = bytes[at + 1 + i]! + predicted;
    }
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

serve(async (input) => {
  const file = await whole(input);
  const view = new DataView(file.buffer);
  const [width, height, bits, colour, interlaced] = [view.getUint32(16), view.getUint32(20), file[24]!, file[25]!, file[28] === 1];
  const samples = samplesOf[colour];
  if (bits !== 16 || !samples) throw new Refused("Only pictures with 16 bits a sample are read here.");
  if (!width || !height || width * height * samples * 2 > maxUnpacked) throw new Refused(`It unpacks to more than ${maxUnpacked / MiB} MiB.`);
  const attributes: Attribute[] = [];
  const parts: Uint8Array[] = [];
  for (let at = 8; at + 12 <= file.length; ) {
    const length = view.getUint32(at);
    const kind = new TextDecoder("latin1").decode(file.subarray(at + 4, at + 8));
    const body = file.subarray(at + 8, at + 8 + length);
    if (kind === "IDAT") parts.push(body);
    if (kind === "tEXt") {
      const [name = "", value = ""] = new TextDecoder("latin1").decode(body.subarray(0, 2000)).split("\0", 2);
      attributes.push([name, value]);
    }
    at += 12 + length;
  }
  const bytes = await inflate(concat(parts), "deflate", maxUnpacked + height * 8, true);
  const values = new Uint16Array(width * height * samples);
  const all = interlaced ? passes : ([[0, 0, 1, 1]] as const);
  let at = 0;
  for (const [x0, y0, dx, dy] of all) {
    const [w, h] = [Math.ceil((width - x0) / dx), Math.ceil((height - y0) / dy)];
    if (w <= 0 || h <= 0) continue;
    const rows = unfilter(bytes, at, w * samples * 2, h, samples * 2);
    at += (w * samples * 2 + 1) * h;
    for (let y = 0; y < h; y++) {
      for (let x = 0; x < w; x++) {
        for (let s = 0; s < samples; s++) {
          const from = (y * w + x) * samples * 2 + s * 2;
          values[((y0 + y * dy) * width + x0 + x * dx) * samples + s] = rows[from]! * 256 + rows[from + 1]!;
        }
      }
    }
  }
  if (at > bytes.length) throw new Refused("It ends before its last row.");
  return {
    content: {
      view: "pictures", about: "", attributes, notes: [],
      sheets: [{ name: "", width, height, about: `${width} × ${height} pixels · ${samples > 1 ? `${samples} × ` : ""}16 bits` }],
    },
    picture: async ({ left, top, width: w, height: h, most }) => {
      const step = Math.max(1, Math.ceil(Math.max(w, h) / most));
      const channels = samples === 2 ? 1 : samples;
      const [outW, outH] = [Math.ceil(w / step), Math.ceil(h / step)];
      const out = new Uint16Array(outW * outH * channels);
      for (let y = 0; y < outH; y++) {
        for (let x = 0; x < outW; x++) {
          for (let c = 0; c < channels; c++) out[(y * outW + x) * channels + c] = values[((top + y * step) * width + left + x * step) * samples + c]!;
        }
      }
      return { width: outW, height: outH, channels, values: out, step: [step, step] };
    },
  };
});

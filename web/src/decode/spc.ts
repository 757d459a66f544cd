// Spectra in SPC, the new little-endian format: one or several, equidistant or with their own or
// shared X values.
import type { Attribute, Spectrum } from "../sight/messages";
import { Refused, serve, whole } from "./lib/serve";

const flags = { shortInts: 1, several: 4, ownX: 0x40, hasX: 0x80 };
const headLength = 512;
const subHeadLength = 32;
const maxSpectra = 2000;

/** The exponent that marks floating-point values. */
const floatExponent = -128;

const xUnits = ["arbitrary", "wavenumber (1/cm)", "wavelength (µm)", "wavelength (nm)", "time (s)", "time (min)", "frequency (Hz)", "frequency (kHz)", "frequency (MHz)", "m/z", "chemical shift (ppm)",
  "days", "years", "Raman shift (1/cm)", "energy (eV)"];
const yUnits = ["arbitrary", "interferogram", "absorbance", "Kubelka-Munk", "counts", "volts", "degrees", "milliamperes", "millimetres", "millivolts", "log(1/R)", "percent", "intensity",
  "relative intensity", "energy"];
const yMore: Record<number, string> = { 128: "transmission", 129: "reflectance", 130: "single beam", 131: "emission" };

serve(async (input) => {
  const bytes = await whole(input);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = bytes[1];
  if (bytes.length < headLength + subHeadLength) throw new Refused("It is too short.");
  if (version === 0x4d) throw new Refused("It is in the old format of SPC, which is not supported.");
  if (version !== 0x4b) throw new Refused("Its version is not known, or it is big-endian.");
  const has = (flag: number) => (bytes[0]! & flag) !== 0;
  const text = (at: number, length: number) => new TextDecoder("latin1").decode(bytes.subarray(at, at + length)).replace(/\0[^]*$/, "").trim();
  const need = (at: number, length: number) => {
    if (!(at >= 0 && length >= 0 && at + length <= bytes.length)) throw new Refused("It ends before the end of its data.");
  };
  const floats = (at: number, n: number) => {
    need(at, 4 * n);
    return Float64Array.from({ length: n }, (_, i) => view.getFloat32(at + 4 * i, true));
  };
  const [first, last] = [view.getFloat64(8, true), view.getFloat64(16, true)];
  const points = view.getUint32(4, true);
  const ownX = has(flags.ownX) && has(flags.hasX);
  const spectra: Spectrum[] = [];
  const count = Math.max(1, view.getUint32(24, true));
  if (count > maxSpectra) throw new Refused(`It has more than ${maxSpectra} spectra.`);
  let at = headLength;
  if (!ownX) need(at, points); // checked before values are allocated
  const shared = ownX ? undefined : has(flags.hasX) ? floats(at, points) : Float64Array.from({ length: points }, (_, i) => (points > 1 ? first + ((last - first) * i) / (points - 1) : first));
  if (shared && has(flags.hasX)) at += 4 * points;
  const xName = xUnits[bytes[28]!] ?? "x";
  for (let s = 0; s < count; s++) {
    need(at, subHeadLength);
    const n = ownX ? view.getUint32(at + 16, true) : points;
    const exponent = has(flags.several) ? view.getInt8(at + 1) : view.getInt8(3);
    const z = view.getFloat32(at + 4, true);
    at += subHeadLength;
    const x = shared ?? floats(at, n);
    if (!shared) at += 4 * n;
    const size = exponent !== floatExponent && has(flags.shortInts) ? 2 : 4;
    need(at, size * n);
    const scale = 2 ** (exponent - 8 * size);
    const read = exponent === floatExponent ? (p: number) => view.getFloat32(p, true) : size === 2 ? (p: number) => view.getInt16(p, true) * scale : (p: number) => view.getInt32(p, true) * scale;
    const y = Float64Array.from({ length: n }, (_, i) => read(at + size * i));
    at += size * n;
    spectra.push({
      name: count > 1 ? `at ${z}` : text(88, 130), about: `${n} points`, attributes: [], columns: [xName, yMore[bytes[29]!] ?? yUnits[bytes[29]!] ?? "y"],
      values: [x, y], reversed: bytes[28] === 1 || bytes[28] === 10, peaks: false, problems: [],
    });
  }
  return { content: { view: "spectra", about: `SPC, ${count === 1 ? "one spectrum" : `${count} spectra`}`, attributes: attributes(bytes, view, text), spectra } };
});

/** The comment, the date, the source, and the log lines. */
function attributes(bytes: Uint8Array<ArrayBuffer>, view: DataView, text: (at: number, length: number) => string): Attribute[] {
  const date = view.getUint32(32, true);
  const two = (n: number) => String(n).padStart(2, "0");
  const when = date && `${date >>> 20}-${two((date >> 16) & 15)}-${two((date >> 11) & 31)} ${two((date >> 6) & 31)}:${two(date & 63)}`;
  const all: Attribute[] = [["comment", text(88, 130)], ["measured", when || ""], ["resolution", text(36, 9)], ["source", text(45, 9)], ["method", text(264, 48)]];
  const log = view.getUint32(248, true);
  if (log && log + 64 <= bytes.length) {
    const from = log + view.getUint32(log + 8, true);
    const lines = text(from, Math.min(view.getUint32(log, true), 1 << 16)).split(/\r?\n/);
    for (const line of lines.slice(0, 500)) {
      const [, name, value] = /^([^=]{1,80}?)\s*=\s*(.*)$/.exec(line) ?? [];
      if (name) all.push([name, value!]);
    }
  }
  return all.filter(([, value]) => value);
}

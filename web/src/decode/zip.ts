// ZIP archives: the directory at the end of the file, and single entries, read by ranges.
import type { Entry } from "../sight/messages";
import { crc32, inflate } from "./lib/inflate";
import { type Input, maxBytes, MiB, Refused, serve } from "./lib/serve";

/** The maximum number of listed entries. */
const maxEntries = 100_000;

interface Located extends Entry {
  at: number;
  packed: number;
  method: number;
  crc: number;
}

const upper =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

/** A name in UTF-8, or in the DOS code page. */
function nameOf(bytes: Uint8Array, isUTF8: boolean): string {
  if (isUTF8) return new TextDecoder().decode(bytes);
  return Array.from(bytes, (b) => (b < 128 ? String.fromCharCode(b) : upper[b - 128])).join("");
}

const digits = (n: number) => String(n).padStart(2, "0");
const timeOf = (date: number, time: number) =>
  `${(date >> 9) + 1980}-${digits((date >> 5) & 15)}-${digits(date & 31)} ${digits(time >> 11)}:${digits((time >> 5) & 63)}`;

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

interface Directory {
  start: number;
  length: number;
  entries: number;
  /** The number of bytes before the archive, such as a self-extractor. Offsets do not include them.
   */
  before: number;
}

/** Finds the directory by the record at the end of the file. */
async function directoryOf(input: Input): Promise<Directory> {
  const tailStart = Math.max(0, input.bytes - 65_557);
  const tail = viewOf(await input.read(tailStart, input.bytes));
  let at = tail.byteLength - 22;
  while (at >= 0 && tail.getUint32(at, true) !== 0x06054b50) at--;
  if (at < 0) throw new Refused("This archive has no directory at its end: it may be cut off.");
  let found = { entries: tail.getUint16(at + 10, true), length: tail.getUint32(at + 12, true), start: tail.getUint32(at + 16, true) };
  let end = tailStart + at;
  if (at >= 20 && tail.getUint32(at - 20, true) === 0x07064b50) {
    end = Number(tail.getBigUint64(at - 12, true));
    const large = viewOf(await input.read(end, 56));
    if (large.byteLength < 56 || large.getUint32(0, true) !== 0x06064b50) throw new Refused("The directory of this archive is damaged.");
    found = { entries: Number(large.getBigUint64(32, true)), length: Number(large.getBigUint64(40, true)), start: Number(large.getBigUint64(48, true)) };
  }
  if (found.length > maxBytes) throw new Refused(`The directory of this archive has more than ${maxBytes / MiB} MiB.`);
  const start = end - found.length;
  return { ...found, start, before: start - found.start };
}

/** Reads the sizes and the offset of a Zip64 entry from its extra field. */
function large(view: DataView, at: number, end: number, entry: Located) {
  while (at + 4 <= end) {
    const id = view.getUint16(at, true);
    const length = view.getUint16(at + 2, true);
    let field = at + 4;
    const next = () => Number(view.getBigUint64((field += 8) - 8, true));
    if (id === 1) {
      if (entry.bytes === 0xffffffff) entry.bytes = next();
      if (entry.packed === 0xffffffff) entry.packed = next();
      if (entry.at === 0xffffffff) entry.at = next();
    }
    at += 4 + length;
  }
}

function entriesOf(bytes: Uint8Array, { entries, before }: Directory): Located[] {
  const view = viewOf(bytes);
  const listed: Located[] = [];
  for (let at = 0, n = 0; n < Math.min(entries, maxEntries) && at + 46 <= bytes.length; n++) {
    if (view.getUint32(at, true) !== 0x02014b50) throw new Refused("The directory of this archive is damaged.");
    const [nameLength, extra, comment] = [view.getUint16(at + 28, true), view.getUint16(at + 30, true), view.getUint16(at + 32, true)];
    const flags = view.getUint16(at + 8, true);
    const method = view.getUint16(at + 10, true);
    const entry: Located = {
      path: nameOf(bytes.subarray(at + 46, at + 46 + nameLength), (flags & 2048) !== 0),
      packed: view.getUint32(at + 20, true),
      bytes: view.getUint32(at + 24, true),
      modified: timeOf(view.getUint16(at + 14, true), view.getUint16(at + 12, true)),
      at: view.getUint32(at + 42, true),
      crc: view.getUint32(at + 16, true),
      method,
    };
    large(view, at + 46 + nameLength, Math.min(bytes.length, at + 46 + nameLength + extra), entry);
    entry.at += before;
    if (flags & 1) entry.why = "It is encrypted.";
    else if (method !== 0 && method !== 8) entry.why = `It is compressed by method ${method}, which browsers do not support.`;
    else if (entry.bytes > maxBytes) entry.why = `It has more than ${maxBytes / MiB} MiB.`;
    listed.push(entry);
    at += 46 + nameLength + extra + comment;
  }
  return listed;
}

async function unpack(input: Input, entry: Located): Promise<Uint8Array<ArrayBuffer>> {
  if (entry.why) throw new Refused(entry.why);
  const header = viewOf(await input.read(entry.at, 30));
  if (header.byteLength < 30 || header.getUint32(0, true) !== 0x04034b50) throw new Refused("The directory of this archive refers to a file that does not exist.");
  const start = entry.at + 30 + header.getUint16(26, true) + header.getUint16(28, true);
  const packed = await input.read(start, entry.packed);
  const bytes = entry.method === 8 ? await inflate(packed, "deflate-raw", entry.bytes) : packed;
  if (bytes.length !== entry.bytes || crc32(bytes) !== entry.crc) throw new Refused("This file in the archive is damaged: its checksum does not match.");
  return bytes;
}

serve(async (input) => {
  const directory = await directoryOf(input);
  const listed = entriesOf(await input.read(directory.start, directory.length), directory);
  const entries = listed.map(({ at, crc, method, ...entry }) => entry);
  return {
    content: { view: "entries", about: listed.length < directory.entries ? `the first ${maxEntries} files` : "", entries },
    entry: (id) => unpack(input, listed[id]!),
  };
});

// tar archives, read by ranges. Archives and single files compressed with gzip are unpacked.
import type { Entry } from "../sight/messages";
import { gunzip } from "./lib/inflate";
import { type Input, maxBytes, MiB, Refused, serve } from "./lib/serve";

/** The maximum number of listed entries: each large entry costs a request. */
const maxEntries = 5_000;

/** The maximum number of unpacked bytes. */
const maxUnpacked = 128 * MiB;

interface Located extends Entry {
  at: number;
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0) < 0 ? bytes.length : bytes.indexOf(0)));

/** An octal number, or a binary number if it is larger. */
function numberOf(field: Uint8Array): number {
  if (field[0]! & 0x80) return field.subarray(1).reduce((n, b) => n * 256 + b, field[0]! & 0x7f);
  return parseInt(text(field).trim() || "0", 8);
}

function isHeader(header: Uint8Array): boolean {
  const sum = header.reduce((n, b, i) => n + (i >= 148 && i < 156 ? 32 : b), 0);
  return header.length === 512 && sum === numberOf(header.subarray(148, 156));
}

/** The records of an extended header, "<length> <key>=<value>\n", which override fields of the next
    header. */
function extended(bytes: Uint8Array): Record<string, string> {
  const found: Record<string, string> = {};
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at);
    const length = Number(text(bytes.subarray(at, space)));
    if (!(length > 0)) break;
    const [, key, value] = /^([^=]*)=([^]*)\n$/.exec(new TextDecoder().decode(bytes.subarray(space + 1, at + length))) ?? [];
    if (key) found[key] = value!;
    at += length;
  }
  return found;
}

const timeOf = (seconds: number) => (seconds > 0 && seconds < 2 ** 38 ? new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ") : undefined);

/** The files of an archive, and whether the list is complete. */
async function list(input: Input): Promise<{ listed: Located[]; complete: boolean }> {
  const listed: Located[] = [];
  let next: Record<string, string> = {};
  let at = 0;
  while (at + 512 <= input.bytes && listed.length < maxEntries) {
    const header = await input.read(at, 512);
    if (header.every((b) => b === 0)) return { listed, complete: true };
    if (!isHeader(header)) throw new Refused("This archive is damaged: the checksum of a header does not match.");
    const type = String.fromCharCode(header[156]! || 48);
    const bytes = Number(next.size ?? numberOf(header.subarray(124, 136)));
    if (!(bytes >= 0)) throw new Refused("This archive is damaged: the size of a file is not valid.");
    const data = at + 512;
    at = data + Math.ceil(bytes / 512) * 512;
    if (type === "x" || type === "L" || type === "g") {
      const body = await input.read(data, Math.min(bytes, MiB));
      if (type !== "g") next = type === "L" ? { ...next, path: text(body) } : { ...next, ...extended(body) };
      continue;
    }
    const prefix = text(header.subarray(257, 263)) === "ustar" ? text(header.subarray(345, 500)) : "";
    const path = next.path ?? (prefix ? `${prefix}/` : "") + text(header.subarray(0, 100));
    if (type === "0" || type === "7") listed.push(entryOf(path, bytes, data, Number(next.mtime ?? numberOf(header.subarray(136, 148))), input.bytes));
    next = {};
  }
  return { listed, complete: at >= input.bytes };
}

function entryOf(path: string, bytes: number, at: number, seconds: number, end: number): Located {
  const modified = timeOf(seconds);
  const why = at + bytes > end ? "The archive ends before this file." : bytes > maxBytes ? `It has more than ${maxBytes / MiB} MiB.` : undefined;
  return { path, bytes, at, ...(modified && { modified }), ...(why && { why }) };
}

/** Unpacked bytes, read like a file. */
const inMemory = (name: string, bytes: Uint8Array<ArrayBuffer>): Input => ({
  name,
  bytes: bytes.length,
  read: async (start, length) => bytes.slice(start, start + length),
});

/** The inner archive, as far as it could be unpacked. */
async function unpacked(input: Input): Promise<{ input: Input; cut: boolean; partly: boolean }> {
  if (input.bytes > maxBytes) throw new Refused(`Compressed archives are read from their start, up to ${maxBytes / MiB} MiB; this one is larger.`);
  const { bytes, complete } = await gunzip(await input.read(0, input.bytes), maxUnpacked);
  if (!complete && !bytes.length) throw new Refused("A compressed part of the file is damaged.");
  const cut = bytes.length > maxUnpacked;
  return { input: inMemory(input.name.replace(/\.gz$/i, ""), bytes), cut, partly: !cut && !complete };
}

serve(async (file) => {
  const head = await file.read(0, 2);
  const { input, cut, partly } = head[0] === 0x1f && head[1] === 0x8b ? await unpacked(file) : { input: file, cut: false, partly: false };
  const single = !isHeader(await input.read(0, 512));
  if (single && partly) throw new Refused("Only the first part can be unpacked: the file was cut off, is damaged, or has other data at the end.");
  const { listed, complete } = single ? { listed: [entryOf(input.name, input.bytes, 0, 0, input.bytes)], complete: !cut } : await list(input);
  if (single && input === file) throw new Refused("This archive is damaged: the checksum of a header does not match.");
  return {
    content: {
      view: "entries",
      about: partly ? "the readable part: it was cut off, is damaged, or is followed by other data" : complete && !cut ? "" : cut ? `the content of the first ${maxUnpacked / MiB} MiB` : `the first ${maxEntries} files`,
      entries: listed.map(({ at, ...entry }) => entry),
    },
    entry: async (id) => {
      const { why, at, bytes } = listed[id]!;
      if (why) throw new Refused(why);
      return input.read(at, bytes);
    },
  };
});

// Decompression by the browser, within limits.
import { concat, maxBytes, MiB, Refused } from "./serve";

/** The unpacked data up to the first limit, and the error that ended it early. */
interface Unpacked {
  bytes: Uint8Array<ArrayBuffer>;
  problem?: unknown;
}

async function run(packed: Uint8Array<ArrayBuffer>, format: CompressionFormat, most: number): Promise<Unpacked> {
  const parts: Uint8Array[] = [];
  let total = 0;
  let problem: unknown;
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream(format)).getReader();
  try {
    while (total <= most) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      total += value.length;
    }
  } catch (thrown) {
    problem = thrown;
  } finally {
    reader.cancel().catch(() => {});
  }
  return { bytes: concat(parts), problem };
}

/** Unpacks a stream. Data after the end of the stream is not an error.
    @param most the limit in bytes; a longer stream is refused, or with `partly` truncated */
export async function inflate(packed: Uint8Array<ArrayBuffer>, format: CompressionFormat, most = maxBytes, partly = false): Promise<Uint8Array<ArrayBuffer>> {
  const { bytes, problem } = await run(packed, format, most);
  if (bytes.length > most && !partly) throw new Refused(`It unpacks to more than ${Math.floor(most / MiB)} MiB.`);
  if (problem && !/trailing|junk/i.test(String(problem)) && !(partly && bytes.length)) throw new Refused("A compressed part of the file is damaged.");
  return bytes;
}

/** The maximum number of false gzip member starts: each costs an attempt. */
const maxFalseStarts = 100;

/** Unpacks the members of a gzip file. Browsers unpack one member without reporting its end. A
    member ends before the start of the next one if its last bytes, length and checksum, match.
    @param most the limit in bytes
    @returns `complete`: nothing is missing, and nothing follows the last member */
export async function gunzip(packed: Uint8Array<ArrayBuffer>, most: number): Promise<{ bytes: Uint8Array<ArrayBuffer>; complete: boolean }> {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const isWhole = ({ bytes, problem }: Unpacked, end: number) =>
    !problem && end >= 18 && view.getUint32(end - 4, true) === bytes.length && view.getUint32(end - 8, true) === crc32(bytes);
  let last = await run(packed, "gzip", most);
  if (isWhole(last, packed.length) || last.bytes.length > most) return { bytes: last.bytes, complete: last.bytes.length <= most };
  const parts: Uint8Array[] = [];
  let [start, total, failed] = [0, 0, 0];
  for (let at = nextMember(packed, 18); at >= 0 && total <= most && failed < maxFalseStarts; at = nextMember(packed, at + 1)) {
    const length = view.getUint32(at - 4, true);
    // deflate cannot compress better
    if (at - start < 18 || length > Math.min(most, 1100 * (at - start))) continue;
    const member = await run(packed.subarray(start, at), "gzip", length);
    if (!isWhole(member, at)) {
      failed++;
      continue;
    }
    parts.push(member.bytes);
    total += member.bytes.length;
    start = at;
  }
  if (start) last = await run(packed.subarray(start), "gzip", Math.max(0, most - total));
  const bytes = concat([...parts, last.bytes]);
  return { bytes, complete: isWhole(last, packed.length) && bytes.length <= most };
}

/** The next position that can start a member; -1 if none. */
function nextMember(packed: Uint8Array, from: number): number {
  let at = packed.indexOf(0x1f, from);
  while (at >= 0 && !(packed[at + 1] === 0x8b && packed[at + 2] === 8 && packed[at + 3]! < 0x20)) at = packed.indexOf(0x1f, at + 1);
  return at;
}

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

/** The checksum of zip and gzip. */
export function crc32(bytes: Uint8Array): number {
  let sum = -1;
  for (let i = 0; i < bytes.length; i++) sum = table[(sum ^ bytes[i]!) & 255]! ^ (sum >>> 8);
  return ~sum >>> 0;
}

// Decompression by the browser, within limits.
import { concat, maxBytes, MiB, Refused } from "./serve";

/**
 * Unpacks a stream. What follows the end of the stream is no error.
 * @param most the number of bytes after which it is refused, or with `partly` cut
 */
export async function inflate(packed: Uint8Array<ArrayBuffer>, format: CompressionFormat, most = maxBytes, partly = false): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let total = 0;
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream(format)).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || (partly && total >= most)) break;
      parts.push(value);
      total += value.length;
      if (total > most && !partly) throw new Refused(`It unpacks to more than ${Math.floor(most / MiB)} MiB.`);
    }
  } catch (thrown) {
    if (thrown instanceof Refused) throw thrown;
    if (!/trailing|junk/i.test(String(thrown)) && !(partly && total)) throw new Refused("A compressed part of it is damaged.");
  } finally {
    reader.cancel().catch(() => {});
  }
  return concat(parts);
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

// SHA-256 (FIPS 180-4) of a file of any size. crypto.subtle requires the whole file in memory, and
// exists only over HTTPS or on localhost.

const k = new Uint32Array(64);
const initial = new Uint32Array(8);
for (let n = 2, found = 0; found < 64; n++) {
  let prime = true;
  for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
  if (!prime) continue;
  const fraction = (root: number) => ((root - Math.floor(root)) * 2 ** 32) >>> 0;
  if (found < 8) initial[found] = fraction(Math.sqrt(n));
  k[found++] = fraction(Math.cbrt(n));
}

class Hash {
  private readonly h = initial.slice();
  private readonly w = new Uint32Array(64);
  private readonly rest = new Uint8Array(64);
  private buffered = 0;
  private length = 0;

  add(bytes: Uint8Array) {
    this.length += bytes.length;
    let at = 0;
    if (this.buffered) {
      at = Math.min(64 - this.buffered, bytes.length);
      this.rest.set(bytes.subarray(0, at), this.buffered);
      this.buffered += at;
      if (this.buffered < 64) return;
      this.block(new DataView(this.rest.buffer), 0);
      this.buffered = 0;
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (; at + 64 <= bytes.length; at += 64) this.block(view, at);
    this.rest.set(bytes.subarray(at));
    this.buffered = bytes.length - at;
  }

  private block(view: DataView, at: number) {
    const { h, w } = this;
    for (let i = 0; i < 16; i++) w[i] = view.getUint32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15]!;
      const b = w[i - 2]!;
      const s0 = ((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3);
      const s1 = ((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10);
      w[i] = w[i - 16]! + s0 + w[i - 7]! + s1;
    }
    let [a, b, c, d, e, f, g, z] = h as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (z + s1 + ((e & f) ^ (~e & g)) + k[i]! + w[i]!) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [z, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    h[0]! += a; h[1]! += b; h[2]! += c; h[3]! += d; h[4]! += e; h[5]! += f; h[6]! += g; h[7]! += z; // prettier-ignore
  }

  hex(): string {
    const bits = this.length * 8;
    const end = new Uint8Array((this.buffered < 56 ? 64 : 128) - this.buffered);
    end[0] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(end.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(end.length - 4, bits >>> 0);
    this.add(end);
    return [...this.h].map((n) => n.toString(16).padStart(8, "0")).join("");
  }
}

/** The number of bytes hashed at a time; the page handles events in between. */
const chunk = 1 << 20;

/** Returns the digest of a file in hex. Throws the reason of the signal if it is aborted. */
export async function sha256(file: Blob, signal?: AbortSignal): Promise<string> {
  const hash = new Hash();
  for (let at = 0; at < file.size; at += chunk) {
    signal?.throwIfAborted();
    hash.add(new Uint8Array(await file.slice(at, at + chunk).arrayBuffer()));
  }
  return hash.hex();
}

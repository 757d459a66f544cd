// Fractal heaps and B-trees of version 2, which contain the links and attributes of large groups,
// and chunk indices.
import { MiB, Refused } from "../lib/serve";
import { Cursor, type File, nowhere } from "./file";

/** The number of bytes that can store the number. */
export const bytesFor = (n: number) => Math.floor(Math.log2(Math.max(1, n)) / 8) + 1;

/** Limits: records of an index, bytes of a record, and bytes of an object in a heap. */
const maxRecords = 200_000;
const maxRecord = 512;
const maxObject = MiB;

/** The records of a version 2 B-tree, in order; with `most`, only the first ones. */
export async function recordsOf(file: File, address: number, most = Infinity): Promise<Cursor[]> {
  const head = (await file.cursor(address, 64)).expect("BTHD").skip(2);
  const nodeSize = head.uint(4);
  const recordSize = head.uint(2);
  const depth = head.uint(2);
  head.skip(2);
  const root = head.address();
  const rootCount = head.uint(2);
  if (!recordSize || recordSize > maxRecord || nodeSize > 1 << 22 || depth > 32) throw new Refused("One of its indexes is broken.");
  const leafMost = Math.floor((nodeSize - 10) / recordSize);
  const countSize = bytesFor(leafMost);
  const totalSizes = [0];
  for (let level = 1, total = leafMost; level < depth; level++) {
    const most = Math.floor((nodeSize - 10 - (file.offsetSize + countSize + totalSizes[level - 1]!)) / (recordSize + file.offsetSize + countSize + totalSizes[level - 1]!));
    total = (most + 1) * total + most;
    totalSizes.push(bytesFor(total));
  }
  const records: Cursor[] = [];
  const walk = async (at: number, count: number, level: number) => {
    if (at === nowhere || records.length >= most) return;
    const node = (await file.cursor(at, nodeSize)).expect(level ? "BTIN" : "BTLF").skip(2);
    const own = Array.from({ length: count }, () => new Cursor(node.take(recordSize), file));
    const children = level ? Array.from({ length: count + 1 }, () => {
      const child = node.address();
      const childCount = node.uint(countSize);
      node.skip(totalSizes[level - 1]!);
      return [child, childCount] as const;
    }) : [];
    for (let i = 0; i <= count; i++) {
      if (children[i]) await walk(children[i]![0], children[i]![1], level - 1);
      if (records.length >= most) return;
      if (own[i]) records.push(own[i]!);
      if (records.length > maxRecords) throw new Refused(`An index of it has more than ${maxRecords} entries.`);
    }
  };
  await walk(root, rootCount, depth);
  return records;
}

/** A heap of objects. The id of an object gives its position. */
export class FractalHeap {
  private constructor(
    private readonly file: File,
    private readonly offsetBytes: number,
    private readonly lengthBytes: number,
    private readonly width: number,
    private readonly start: number,
    private readonly maxDirect: number,
    private readonly root: number,
    private readonly rows: number,
  ) {}

  static async open(file: File, address: number): Promise<FractalHeap> {
    const c = (await file.cursor(address, 256)).expect("FRHP").skip(3);
    const filters = c.uint(2);
    if (filters) throw new Refused("A heap of it is compressed, which is not supported.");
    c.skip(1);
    const maxManaged = c.uint(4);
    c.skip(10 * file.lengthSize + 2 * file.offsetSize);
    const width = c.uint(2);
    const start = c.length();
    const maxDirect = c.length();
    const bits = c.uint(2);
    c.skip(2);
    const root = c.address();
    const lengthBytes = Math.min(bytesFor(maxDirect), bytesFor(maxManaged));
    return new FractalHeap(file, Math.ceil(bits / 8), lengthBytes, width, start, maxDirect, root, c.uint(2));
  }

  async object(id: Cursor): Promise<Uint8Array<ArrayBuffer>> {
    const kind = (id.uint(1) >> 4) & 3;
    if (kind === 2) return id.take((id.bytes[0]! & 15) + 1);
    if (kind) throw new Refused("One of its heaps has an object that is too large to be read.");
    const offset = id.uint(this.offsetBytes);
    const length = id.uint(this.lengthBytes);
    if (length > maxObject) throw new Refused("One of its heaps has an object that is too large to be read.");
    const [block, within] = this.rows ? await this.find(this.root, this.rows, offset) : [this.root, offset];
    return this.file.read(block + within, length);
  }

  /** The direct block with a heap offset, in the rows of an indirect block: the first two rows have
      blocks of the same size, then the size doubles. */
  private async find(address: number, rows: number, offset: number): Promise<[block: number, within: number]> {
    if (rows > 64) throw new Refused("One of its heaps is broken.");
    const skipped = 5 + this.file.offsetSize + this.offsetBytes;
    const c = (await this.file.cursor(address, skipped + rows * this.width * this.file.offsetSize)).expect("FHIB");
    for (let row = 0, at = 0; row < rows; row++) {
      const size = this.start * 2 ** Math.max(0, row - 1);
      if (offset >= at + size * this.width) {
        at += size * this.width;
        continue;
      }
      const column = Math.floor((offset - at) / size);
      c.at = skipped + (row * this.width + column) * this.file.offsetSize;
      const block = c.address();
      const within = offset - at - column * size;
      if (size <= this.maxDirect) return [block, within];
      return this.find(block, Math.log2(size / (this.start * this.width)) + 1, within);
    }
    throw new Refused("One of its heaps is broken.");
  }
}

// Tables in large text files, thinned: one pass keeps the minimum and maximum of each part.
import { LineFit } from "../plot/statistics";
import { Rows, toNumber, toTime } from "../preview/csv";
import type { Scan, Scanned } from "../sight/messages";
import { Positions } from "./lib/positions";
import { type Input, MiB, Refused, serve } from "./lib/serve";

/** The number of bytes per read; the previous bytes are parsed in the meantime. */
const chunk = 4 * MiB;

/** The number of bytes after the end in which the last row can end. */
const overhang = MiB;

class Curve {
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** The x values of the minimum and maximum. */
  readonly lowX: Float64Array;
  readonly highX: Float64Array;
  /** The minimum comes before the maximum. */
  readonly rising: Uint8Array;
  readonly line: LineFit;
  readonly figures = { n: 0, min: Infinity, max: -Infinity, mean: 0, omitted: 0 };

  constructor(
    parts: number,
    private readonly scan: Scan,
    weighted: boolean,
  ) {
    [this.low, this.high, this.lowX, this.highX] = Array.from({ length: 4 }, () => new Float64Array(parts).fill(NaN)) as [Float64Array, Float64Array, Float64Array, Float64Array];
    this.rising = new Uint8Array(parts);
    this.line = new LineFit(weighted);
  }

  add(part: number, x: number, y: number, error: number | undefined) {
    if (!Number.isFinite(y)) return;
    const { range, log } = this.scan;
    if (!range || (x >= range[0] && x <= range[1])) {
      this.line.add(x, y, error);
      const f = this.figures;
      f.n++;
      f.min = Math.min(f.min, y);
      f.max = Math.max(f.max, y);
      f.mean += (y - f.mean) / f.n;
      if (log.y && y <= 0) f.omitted++;
    }
    if ((log.y && y <= 0) || (log.x && x <= 0)) return;
    if (!(this.low[part]! <= y)) {
      this.low[part] = y;
      this.lowX[part] = x;
      this.rising[part] = 0;
    }
    if (!(this.high[part]! >= y)) {
      this.high[part] = y;
      this.highX[part] = x;
      this.rising[part] = 1;
    }
  }

  points(parts: number): { x: Float64Array; y: Float64Array } {
    const x: number[] = [];
    const y: number[] = [];
    for (let p = 0; p < parts; p++) {
      if (Number.isNaN(this.low[p]!)) continue;
      const [first, second] = this.rising[p] ? [this.lowX, this.highX] : [this.highX, this.lowX];
      x.push(first[p]!, second[p]!);
      y.push(...(this.rising[p] ? [this.low[p]!, this.high[p]!] : [this.high[p]!, this.low[p]!]));
    }
    return { x: Float64Array.from(x), y: Float64Array.from(y) };
  }
}

class Job {
  private readonly rows = new Rows();
  private readonly curves: Curve[];
  private readonly extents: Float64Array;
  private readonly unit: number;
  private readonly decoder: Positions;
  private at: number;
  private next: Promise<Uint8Array<ArrayBuffer>> | undefined;
  private skip: number;
  private row: number;
  /** The position of the first character. */
  private begun = 0;
  private fresh = true;
  private without = 0;
  private ordered = true;
  private before = -Infinity;
  private ended = false;

  constructor(
    private readonly input: Input,
    private readonly scan: Scan,
  ) {
    if (!(scan.parts > 0 && scan.parts <= 20_000 && scan.curves.length <= 10)) throw new Refused("This plot does not exist.");
    this.decoder = new Positions(scan.encoding);
    this.unit = this.decoder.unit;
    this.curves = scan.curves.map((c) => new Curve(scan.parts, scan, c.error !== undefined));
    this.extents = new Float64Array(2 * scan.parts).fill(NaN);
    this.at = Math.max(0, scan.from - this.unit);
    this.skip = scan.from > 0 ? 0 : scan.skip;
    this.row = scan.row;
    this.begun = this.at;
  }

  private read() {
    const end = Math.min(this.input.bytes, this.scan.to + overhang);
    const length = Math.min(chunk, end - this.at);
    const bytes = this.input.read(this.at, length);
    this.at += length;
    return bytes;
  }

  async step(): Promise<Scanned> {
    if (!this.ended) {
      const bytes = await (this.next ?? this.read());
      const last = this.at >= Math.min(this.input.bytes, this.scan.to + overhang);
      this.next = last ? undefined : this.read();
      const text = this.decoder.decode(bytes);
      const mark = this.begun === 0 && this.fresh ? (/^(ï»¿|\ufeff)/.exec(text)?.[0].length ?? 0) : 0; // the byte order mark
      this.begun += mark * this.unit;
      this.fresh = false;
      this.rows.append(text.slice(mark), last);
      this.take();
      this.ended ||= last;
    }
    return this.answer();
  }

  private take() {
    const { scan, rows } = this;
    const { separator, decimal, from, to, parts } = scan;
    const number = (row: number, column: number) => toNumber(rows.cell(row, column, separator), decimal);
    for (let i = 0; i < rows.count; i++) {
      const position = this.begun + rows.position(i) * this.unit;
      if (position >= to) {
        this.ended = true;
        break;
      }
      if (from > 0 && position < from) continue; // the end of the previous row
      if (this.skip > 0) {
        this.skip--;
        continue;
      }
      this.row++;
      const x = scan.x < 0 ? this.row : scan.time ? toTime(rows.cell(i, scan.x, separator)) : number(i, scan.x);
      if (!Number.isFinite(x)) {
        this.without++;
        continue;
      }
      if (x < this.before) this.ordered = false;
      this.before = x;
      const part = Math.min(parts - 1, Math.max(0, Math.floor(((position - from) / (to - from)) * parts)));
      if (!(this.extents[2 * part]! <= x)) this.extents[2 * part] = x;
      if (!(this.extents[2 * part + 1]! >= x)) this.extents[2 * part + 1] = x;
      scan.curves.forEach((c, at) => this.curves[at]!.add(part, x, number(i, c.y), c.error === undefined ? undefined : number(i, c.error)));
    }
    rows.drop();
  }

  private answer(): Scanned {
    const { from, to, parts } = this.scan;
    return {
      read: this.ended ? to - from : Math.min(to - from, Math.max(0, this.at - from - (this.next ? chunk : 0))),
      of: to - from,
      rows: this.row - this.scan.row,
      without: this.without,
      ordered: this.ordered,
      extents: this.extents.slice(),
      curves: this.curves.map((c) => ({ ...c.points(parts), fit: { fit: c.line.fit(), unweighted: c.line.unweighted }, figures: c.figures })),
    };
  }
}

serve(async (input) => {
  let job: Job | undefined;
  return {
    content: { view: "tree", about: "", attributes: [], items: [] },
    scan: (scan) => {
      if (scan) job = new Job(input, scan);
      return job!.step();
    },
  };
});

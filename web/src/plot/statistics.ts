// A straight line through points, and counts of values in bins. This module is independent of the page.

/** A least-squares line with standard errors. */
export interface Fit {
  slope: number;
  slopeError: number;
  intercept: number;
  interceptError: number;
  /** The coefficient of determination; NaN if all values are the same. */
  r2: number;
  n: number;
  /** The weighted sum of squared residuals, if the points have errors. */
  chi2?: number;
}

/** Collects points for a line in one pass: means and sums of squared deviations, to keep precision
    at large offsets. */
export class LineFit {
  private n = 0;
  private weight = 0;
  private x = 0;
  private y = 0;
  private sxx = 0;
  private sxy = 0;
  private syy = 0;
  /** The number of omitted points whose error is not above zero. */
  unweighted = 0;

  /** @param weighted each point has a standard error, which determines the errors of the line */
  constructor(private readonly weighted: boolean) {}

  add(x: number, y: number, error = 1) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    if (!(error > 0 && error < Infinity)) return void this.unweighted++;
    const w = this.weighted ? 1 / (error * error) : 1;
    this.n++;
    this.weight += w;
    const dx = x - this.x;
    const dy = y - this.y;
    const share = w / this.weight;
    this.x += dx * share;
    this.y += dy * share;
    this.sxx += w * dx * (x - this.x);
    this.syy += w * dy * (y - this.y);
    this.sxy += w * dx * (y - this.y);
  }

  /** Undefined for fewer than two points, or if all have the same x. */
  fit(): Fit | undefined {
    const { n, weight, x, y, sxx, sxy, syy } = this;
    if (n < 2 || !(sxx > 0)) return undefined;
    const slope = sxy / sxx;
    const residuals = Math.max(0, syy - (sxy * sxy) / sxx);
    const variance = this.weighted ? 1 : residuals / (n - 2);
    return {
      slope,
      slopeError: Math.sqrt(variance / sxx),
      intercept: y - slope * x,
      interceptError: Math.sqrt(variance * (1 / weight + (x * x) / sxx)),
      r2: (sxy * sxy) / (sxx * syy),
      n,
      ...(this.weighted && { chi2: residuals }),
    };
  }
}

/** The maximum number of bins of a histogram. */
export const maxBins = 5000;

/** A quantile of sorted values, with linear interpolation. */
function quantile(sorted: ArrayLike<number>, q: number): number {
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)]!;
  const high = sorted[Math.ceil(at)]!;
  const t = at - Math.floor(at);
  return t < 0.5 ? low + (high - low) * t : high - (high - low) * (1 - t);
}

/** The number of bins by the Freedman–Diaconis rule: the width is twice the interquartile range
    over the cube root of the count.
    @param n the number of all values, of which `sorted` can be a sample */
export function binsByRule(sorted: ArrayLike<number>, n = sorted.length, range = sorted.length ? sorted[sorted.length - 1]! - sorted[0]! : 0): number {
  const width = (2 * (quantile(sorted, 0.75) - quantile(sorted, 0.25))) / Math.cbrt(n);
  return width > 0 && range > 0 ? Math.min(maxBins, Math.max(1, Math.ceil(range / width))) : 1;
}

/** Counts values in equidistant bins. The last bin includes both edges. */
export class Histogram {
  readonly edges: Float64Array;

  constructor(
    min: number,
    max: number,
    readonly bins: number,
  ) {
    if (min === max) [min, max] = [min - 0.5, max + 0.5];
    const step = (max - min) / bins;
    this.edges = Float64Array.from({ length: bins + 1 }, (_, i) => (i === bins ? max : i * step + min));
  }

  count(values: ArrayLike<number>, into = new Float64Array(this.bins)): Float64Array {
    const { edges, bins } = this;
    const first = edges[0]!;
    const last = edges[bins]!;
    for (let i = 0; i < values.length; i++) {
      const v = values[i]!;
      if (!(v >= first && v <= last)) continue;
      let at = Math.min(bins - 1, Math.floor(((v - first) / (last - first)) * bins));
      if (v < edges[at]!) at--; // corrects rounding of the division
      else if (v >= edges[at + 1]! && at < bins - 1) at++;
      into[at]!++;
    }
    return into;
  }
}

/** The time over which the speed is averaged, in ms. */
const span = 8000;

/** The minimum time for a result, in ms: the first bytes only fill buffers. */
const minSpan = 1000;

/** The minimum time between samples, in ms. */
const resolution = 200;

/** The upload speed over the last seconds, also while nothing is sent. Times are in ms. */
export class Speed {
  private total = 0;
  private samples: { at: number; total: number }[] = [];

  /** Starts again after an idle time. */
  start(now: number) {
    this.samples = [{ at: now, total: this.total }];
  }

  add(bytes: number, now: number) {
    if (bytes <= 0) return;
    this.total += bytes;
    const last = this.samples[this.samples.length - 1];
    if (this.samples.length > 1 && last && now - this.samples[this.samples.length - 2]!.at < resolution) last.total = this.total;
    else this.samples.push({ at: now, total: this.total });
    this.drop(now);
  }

  /** Bytes per second; 0 if unknown. */
  rate(now: number): number {
    this.drop(now);
    const first = this.samples[0];
    return first && now - first.at >= minSpan ? ((this.total - first.total) / (now - first.at)) * 1000 : 0;
  }

  /** The time since the last byte was sent. */
  silence(now: number): number {
    const last = this.samples[this.samples.length - 1];
    return last ? now - last.at : 0;
  }

  private drop(now: number) {
    while (this.samples.length > 1 && now - this.samples[0]!.at > span) this.samples.shift();
  }
}

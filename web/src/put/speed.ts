/** The time over which the speed is taken, in ms. */
const span = 8000;

/** The least time after which there is something to say, in ms: the first bytes only fill buffers. */
const least = 1000;

/** Changes that come closer together than this count as one, in ms. */
const apart = 200;

/** How fast bytes leave: only those that are sent, and only of the last seconds, also when nothing happens any more. Times are in ms. */
export class Speed {
  private moved = 0;
  private marks: { at: number; moved: number }[] = [];

  /** Begins anew, after a time in which nothing was to be sent. */
  begin(now: number) {
    this.marks = [{ at: now, moved: this.moved }];
  }

  add(bytes: number, now: number) {
    if (bytes <= 0) return;
    this.moved += bytes;
    const last = this.marks[this.marks.length - 1];
    if (this.marks.length > 1 && last && now - this.marks[this.marks.length - 2]!.at < apart) last.moved = this.moved;
    else this.marks.push({ at: now, moved: this.moved });
    this.drop(now);
  }

  /** Bytes a second; 0 where that cannot be said. */
  rate(now: number): number {
    this.drop(now);
    const first = this.marks[0];
    return first && now - first.at >= least ? ((this.moved - first.moved) / (now - first.at)) * 1000 : 0;
  }

  /** How long nothing has been sent. */
  silence(now: number): number {
    const last = this.marks[this.marks.length - 1];
    return last ? now - last.at : 0;
  }

  private drop(now: number) {
    while (this.marks.length > 1 && now - this.marks[0]!.at > span) this.marks.shift();
  }
}

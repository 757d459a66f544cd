// What is being sent. There is one queue for the whole window: it goes on while the visitor looks at other pages.
import { useEffect, useState } from "preact/hooks";
import type { DataSet, Problem, Resource } from "../api";
import { sets, upload } from "../api";
import { asProblem } from "../ui/load";
import type { Picked } from "./collect";
import { sha256 } from "./sha256";

/** Files that are sent at the same time: enough to hide the way there and back of small ones. */
const lanes = 4;

/** What is done about a name that is there already, with other content. */
export type Clash = "keep" | "replace";

export interface Item {
  readonly picked: Picked;
  readonly set: DataSet;
  readonly clash: Clash;
  state: "waiting" | "comparing" | "sending" | "sent" | "there" | "failed" | "cancelled";
  /** Bytes that have left. */
  sent: number;
  problem?: Problem;
  resource?: Resource;
  control?: AbortController;
}

export const over = (item: Item) => !["waiting", "comparing", "sending"].includes(item.state);

/** What there is to tell about all of them. */
export interface Totals {
  files: number;
  bytes: number;
  sentBytes: number;
  by: Record<Item["state"], number>;
  running: boolean;
  /** Bytes a second, over the last seconds. */
  rate: number;
}

class Queue {
  items: Item[] = [];
  private watchers = new Set<() => void>();
  private due = 0;
  private busy = 0;
  private marks: { at: number; sent: number }[] = [];

  add(picked: Picked[], set: DataSet, clash: Clash) {
    if (!this.totals().running) this.marks = [];
    for (const p of picked) this.items.push({ picked: p, set, clash, state: "waiting", sent: 0 });
    this.fill();
  }

  /** Ends what has not come to its end. What was sent stays. */
  cancel(items = this.items) {
    for (const item of items) {
      if (over(item)) continue;
      item.control?.abort();
      item.state = "cancelled";
    }
    this.tell();
  }

  retry() {
    for (const item of this.items) {
      if (item.state !== "failed" && item.state !== "cancelled") continue;
      delete item.problem;
      item.state = "waiting";
      item.sent = 0;
    }
    this.fill();
  }

  /** Forgets what has come to its end. */
  clear() {
    this.items = this.items.filter((item) => !over(item));
    this.tell();
  }

  totals(): Totals {
    const by = { waiting: 0, comparing: 0, sending: 0, sent: 0, there: 0, failed: 0, cancelled: 0 };
    let bytes = 0;
    let sentBytes = 0;
    for (const item of this.items) {
      by[item.state]++;
      bytes += item.picked.file.size;
      sentBytes += item.state === "sent" || item.state === "there" ? item.picked.file.size : item.sent;
    }
    const first = this.marks[0];
    const last = this.marks[this.marks.length - 1];
    const rate = first && last && last.at > first.at ? ((last.sent - first.sent) / (last.at - first.at)) * 1000 : 0;
    return { files: this.items.length, bytes, sentBytes, by, running: by.waiting + by.comparing + by.sending > 0, rate };
  }

  watch(fn: () => void) {
    this.watchers.add(fn);
    return () => void this.watchers.delete(fn);
  }

  private fill() {
    while (this.busy < lanes) {
      const next = this.items.find((item) => item.state === "waiting");
      if (!next) break;
      this.busy++;
      void this.process(next).finally(() => {
        this.busy--;
        this.fill();
      });
    }
    this.tell();
  }

  private async process(item: Item) {
    const control = new AbortController();
    item.control = control;
    const { file, path } = item.picked;
    const to = (state: Item["state"]) => {
      if (item.state !== "cancelled") item.state = state;
      this.tell();
    };
    try {
      to("comparing");
      const twin = await findTwin(item, control.signal);
      if (twin?.same) return to("there");
      to("sending");
      const where = twin && item.clash === "replace" ? { resourceId: twin.resource.id } : { setId: item.set.id };
      const progress = (sent: number) => {
        item.sent = sent;
        this.tell();
      };
      item.resource = await upload(where, file, file.name, { name: path }, { progress, signal: control.signal });
      to("sent");
      dispatchEvent(new CustomEvent(arrived, { detail: item.set.id }));
    } catch (thrown) {
      if (control.signal.aborted) return;
      item.problem = await explain(item, asProblem(thrown));
      item.sent = 0;
      to("failed");
    }
  }

  /** Tells the watchers, at most once a frame; thousands of small files change more often. */
  private tell() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      const { sentBytes } = this.totals();
      const now = performance.now();
      if (now - (this.marks[this.marks.length - 1]?.at ?? 0) > 200) this.marks.push({ at: now, sent: sentBytes });
      while (this.marks.length > 2 && now - this.marks[0]!.at > 8000) this.marks.shift();
      for (const fn of this.watchers) fn();
    });
  }
}

/** The newest active resource of the set with that name, and whether it has the same bytes. Only equal lengths are hashed. */
async function findTwin(item: Item, signal: AbortSignal): Promise<{ resource: Resource; same: boolean } | undefined> {
  const { file, path } = item.picked;
  const named = await sets.resources(item.set.id, { name: path, limit: 1000 }).more(signal);
  const equal = named.filter((r) => r.bytes === file.size);
  if (equal.length) {
    const digest = await sha256(file, signal);
    const same = equal.find((r) => r.sha256 === digest);
    if (same) return { resource: same, same: true };
  }
  const last = named[named.length - 1];
  return last && { resource: last, same: false };
}

/** A file that has changed or gone since it was picked fails like a broken connection; saying so helps. */
async function explain(item: Item, problem: Problem): Promise<Problem> {
  if (problem.status !== 0) return problem;
  try {
    await item.picked.file.slice(0, 1).arrayBuffer();
    return problem;
  } catch {
    return asProblem(new Error("the file has changed or gone since it was chosen; choose it again"));
  }
}

export const queue = new Queue();

const arrived = "labshelf:arrived";

/** Tells that something of a set has changed here. */
export const tellArrival = (sid: string) => void dispatchEvent(new CustomEvent(arrived, { detail: sid }));

/** Counts, at most once a second, how often something of a set has changed here, so that its list can be fetched anew. */
export function useArrivals(sid: string): number {
  const [n, setN] = useState(0);
  useEffect(() => {
    let due = 0;
    const tell = (e: Event) => {
      if ((e as CustomEvent).detail !== sid || due) return;
      due = setTimeout(() => {
        due = 0;
        setN((k) => k + 1);
      }, 1000);
    };
    addEventListener(arrived, tell);
    return () => {
      clearTimeout(due);
      removeEventListener(arrived, tell);
    };
  }, [sid]);
  return n;
}

/** The queue, drawn anew when it changes. */
export function useQueue(): Queue {
  const [, setTurn] = useState(0);
  useEffect(() => queue.watch(() => setTurn((t) => t + 1)), []);
  return queue;
}

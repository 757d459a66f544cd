// The files that a visitor sends through a file request. They wait during a lost connection and
// resume automatically.
import type { SelectedFile } from "../upload/selection";
import { Refused, sendInChunks } from "../upload/tus";
import { keyOf, remember, wasSent } from "./memory";

/** Concurrent uploads: enough to hide the round trips of small files. */
const concurrency = 4;

/** The pause before a retry while the service does not respond, in ms. Coming online ends it early.
 */
const pause = 5000;

export interface Item {
  /** A sequence number. */
  readonly id: number;
  readonly selected: SelectedFile;
  /** "before": this browser has already sent the file through this link. */
  state: "waiting" | "sending" | "sent" | "before" | "failed";
  /** Bytes sent so far. */
  sent: number;
  /** The reason of a failure. */
  reason?: string;
  /** The address of its upload. */
  address?: string;
  /** The service does not respond; the upload is retried. */
  silent?: boolean;
}

export interface Totals {
  files: number;
  bytes: number;
  /** Bytes of completed files, and bytes sent of the others. */
  done: number;
  by: Record<Item["state"], number>;
  running: boolean;
  /** The service responds to no upload in progress. */
  silent: boolean;
}

export class Queue {
  items: Item[] = [];
  private listener = () => {};
  private due = 0;
  private busy = 0;

  /** @param endpoint the address at which uploads of the link begin */
  constructor(private readonly endpoint: string) {}

  add(files: SelectedFile[]) {
    const under = new Set(this.items.filter((i) => i.state === "waiting" || i.state === "sending").map((i) => keyOf(this.endpoint, i.selected)));
    for (const selected of files) {
      // it was selected again during its upload
      if (under.has(keyOf(this.endpoint, selected))) continue;
      const before = wasSent(keyOf(this.endpoint, selected));
      this.items.push({ id: this.items.length, selected, state: before ? "before" : "waiting", sent: 0 });
    }
    this.fill();
  }

  /** Retries the files with a state. */
  again(state: "failed" | "before") {
    for (const item of this.items) {
      if (item.state !== state) continue;
      delete item.reason;
      item.state = "waiting";
      item.sent = 0;
    }
    this.fill();
  }

  totals(): Totals {
    const by = { waiting: 0, sending: 0, sent: 0, before: 0, failed: 0 };
    let bytes = 0;
    let done = 0;
    let silent = 0;
    for (const { state, selected, sent, silent: unanswered } of this.items) {
      by[state]++;
      bytes += selected.file.size;
      done += state === "sent" || state === "before" ? selected.file.size : sent;
      if (state === "sending" && unanswered) silent++;
    }
    return { files: this.items.length, bytes, done, by, running: by.waiting + by.sending > 0, silent: silent > 0 && silent === by.sending };
  }

  /** Calls back after changes, at most once a frame: thousands of small files change more often. */
  listen(listener: () => void) {
    this.listener = listener;
  }

  private notify() {
    this.due ||= requestAnimationFrame(() => {
      this.due = 0;
      this.listener();
    });
  }

  private fill() {
    for (const item of this.items) {
      if (this.busy >= concurrency) break;
      if (item.state !== "waiting") continue;
      this.busy++;
      item.state = "sending";
      void this.process(item).finally(() => {
        this.busy--;
        this.fill();
      });
    }
    this.notify();
  }

  /** Sends a file until it arrives or is refused. */
  private async process(item: Item) {
    for (;;) {
      try {
        await this.send(item);
        item.state = "sent";
        remember(keyOf(this.endpoint, item.selected));
        return;
      } catch (thrown) {
        const status = thrown instanceof Refused ? thrown.status : -1;
        const readable = status !== 0 || (await isReadable(item.selected.file));
        if (!readable || !isTemporary(status)) {
          this.fail(item, readable ? reasonOf(thrown) : "The file was changed or removed since it was selected. Select it again.", status);
          return;
        }
        item.silent = status !== 429; // too many concurrent uploads; the service is reachable
        this.notify();
        await connected(pause);
      }
    }
  }

  private async send(item: Item) {
    const { file, path } = item.selected;
    const progress = (sent: number) => {
      item.sent = sent;
      item.silent = false;
      this.notify();
    };
    await sendInChunks(file, {
      endpoint: this.endpoint,
      metadata: { filename: file.name, name: path, ...(file.type && { filetype: file.type }) },
      fingerprint: `labshelf-link ${keyOf(this.endpoint, item.selected)}`,
      address: item.address,
      backoff: [0, 1000, 2000, 4000],
      isFinal: (status) => status === 507, // retrying does not free space
      onProgress: progress,
      onResume: progress,
      onUnanswered: () => {
        item.silent = true;
        this.notify();
      },
      onAddress: (address) => void (item.address = address),
    });
  }

  /** Whether the link has ended, so that other files would fail, too. */
  private fail(item: Item, reason: string, status: number) {
    const over = status === 401 || status === 404 || status === 410;
    for (const other of this.items) {
      if (other !== item && !(over && other.state === "waiting")) continue;
      other.state = "failed";
      other.sent = 0;
      other.reason = reason;
    }
  }
}

/** Whether a later retry can succeed. */
const isTemporary = (status: number) => status === 0 || status === 408 || status === 423 || status === 429 || (status >= 500 && status !== 507);

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Refused)) return String(thrown);
  try {
    const { detail } = JSON.parse(thrown.body);
    if (typeof detail === "string") return detail;
  } catch {
    // not from the service, such as the page of a proxy
  }
  return `The service answered ${thrown.status} without an explanation.`;
}

const isReadable = (file: File) =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );

/** Waits this many ms, or until the browser is online again. */
const connected = (ms: number) =>
  new Promise<void>((resolve) => {
    const go = () => {
      clearTimeout(timer);
      removeEventListener("online", go);
      resolve();
    };
    const timer = setTimeout(go, ms);
    addEventListener("online", go);
  });

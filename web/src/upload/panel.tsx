import { useEffect, useReducer, useState } from "preact/hooks";
import { count, duration, plural, size } from "../format";
import { Link, useLeaveGuard } from "../router";
import { Button, IconButton, Size } from "../ui/components";
import { Icon } from "../ui/icons";
import type { Item, Totals } from "./queue";
import { isFinished, useQueue } from "./queue";
import type { Unreadable } from "./selection";

/** Files that are listed at most; failures come first. */
const maxListed = 200;

/** The panel at the lower edge of the window: running uploads, then their results. */
export function Uploads() {
  const queue = useQueue();
  const [open, setOpen] = useState(true);
  const totals = queue.totals();
  useRenderEverySecond(totals.running);
  useLeaveGuard(totals.running, { outlasts: true });
  if (!totals.files) return null;
  const { by } = totals;
  const failed = by.failed + by.cancelled;
  return (
    <aside class="uploads" aria-label="Uploads">
      <header>
        <strong role="status">{headline(totals, queue)}</strong>
        <span class="dim num">{totals.running && !queue.paused && progressText(totals)}</span>
        <span class="grow" />
        {totals.running && <Button onClick={() => queue.cancel()}>Cancel all</Button>}
        {!totals.running && failed > 0 && (
          <Button icon="retry" onClick={() => queue.retry()}>
            Retry failed
          </Button>
        )}
        <IconButton icon={open ? "down" : "up"} label={open ? "Hide the files" : "Show the files"} aria-expanded={open} onClick={() => setOpen(!open)} />
        {!totals.running && <IconButton icon="cross" label="Close the report" onClick={() => queue.clear()} />}
      </header>
      <Bar now={totals.done} of={totals.bytes} label="All files" />
      <p class="report dim num">
        {count(by.sent)} sent · {count(by.exists)} already exist · {count(by.failed)} failed
        {by.cancelled > 0 && ` · ${count(by.cancelled)} cancelled`}
        {queue.unreadable.length > 0 && ` · ${count(queue.unreadable.length)} unreadable`}
        {totals.running && ` · ${count(totals.files - by.sent - by.exists - failed)} left`}
      </p>
      {open && !queue.paused && <Lines items={queue.items} unreadable={queue.unreadable} cancel={(item) => queue.cancel([item])} />}
    </aside>
  );
}

/** The state of the queue. Screen readers announce its changes, so it contains no progress. */
function headline({ files, running, by }: Totals, { paused, unreadable }: { paused: boolean; unreadable: Unreadable[] }): string {
  if (running && paused) return "Paused: sign in again to continue";
  if (running) return `Uploading ${plural(files, "file")}`;
  if (by.failed + by.cancelled) return `Finished, ${plural(by.failed + by.cancelled, "file")} not uploaded`;
  return unreadable.length ? "Finished, but some files could not be read" : "All done";
}

/** The number of seconds without a sent byte after which the panel reports it. */
const maxSilence = 5;

function progressText({ done, bytes, rate, unanswered, silence }: Totals): string {
  const sent = `${size(done)} of ${size(bytes)}`;
  if (unanswered) return `${sent}, no answer, retrying`;
  if (silence >= maxSilence) return `${sent}, nothing sent for ${duration(silence)}`;
  return rate > 0 ? `${sent}, ${size(rate)}/s, ${duration((bytes - done) / rate)} left` : sent;
}

/** Renders every second, since the speed also changes while no event occurs. */
function useRenderEverySecond(running: boolean) {
  const [, redraw] = useReducer((n: number, _: void) => n + 1, 0);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => redraw(), 1000);
    return () => clearInterval(timer);
  }, [running]);
}

/** Unreadable files, uploads under way and failures come first, then the rest in order. */
function Lines({ items, unreadable, cancel }: { items: Item[]; unreadable: Unreadable[]; cancel: (item: Item) => void }) {
  const first: Item[] = [];
  const rest: Item[] = [];
  for (const item of items) {
    const notable = item.problem || item.state === "sending" || item.state === "comparing";
    const into = notable ? first : rest;
    if (into.length < maxListed) into.push(item);
  }
  const errors = unreadable.slice(0, maxListed);
  const shown = first.concat(rest).slice(0, maxListed - errors.length);
  const hidden = items.length + unreadable.length - shown.length - errors.length;
  return (
    <ul>
      {errors.map(({ path, error }, i) => (
        <li key={`unreadable ${i}`}>
          <span class="name" title={path}>
            {path} <span class="error">{error}</span>
          </span>
          <span class="failed">unreadable</span>
          <span class="size" />
          <Icon name="warning" />
        </li>
      ))}
      {shown.map((item) => (
        <Line key={item.id} item={item} cancel={() => cancel(item)} />
      ))}
      {hidden > 0 && <li class="dim">and {plural(hidden, "other")}</li>}
    </ul>
  );
}

const labels: Record<Item["state"], string> = {
  waiting: "waiting",
  comparing: "comparing",
  sending: "",
  sent: "sent",
  exists: "already exists",
  failed: "failed",
  cancelled: "cancelled",
};

function Line({ item, cancel }: { item: Item; cancel: () => void }) {
  const { file, path } = item.selected;
  return (
    <li>
      <span class="name" title={path}>
        {item.resource ? <Link to={`/resources/${item.resource.id}`}>{path}</Link> : path}
        {item.problem && <span class="error"> {item.problem.detail}</span>}
      </span>
      {item.state === "sending" ? <Bar now={item.sent} of={file.size} label={path} /> : <span class={`dim ${item.state}`}>{labels[item.state]}</span>}
      <Size bytes={file.size} />
      {isFinished(item) ? (
        <Icon name={item.resource ? "check" : "warning"} />
      ) : (
        <IconButton icon="cross" label={`Cancel ${path}`} onClick={cancel} />
      )}
    </li>
  );
}

function Bar({ now, of, label }: { now: number; of: number; label: string }) {
  return <progress max={1} value={of ? now / of : 1} aria-label={label} />;
}

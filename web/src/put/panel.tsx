import { useEffect, useReducer, useState } from "preact/hooks";
import { count, duration, plural, size } from "../human";
import { Link, useLeaveGuard } from "../router";
import { Button, IconButton, Size } from "../ui/basics";
import { Icon } from "../ui/icons";
import type { Unread } from "./collect";
import type { Item, Totals } from "./queue";
import { over, useQueue } from "./queue";

/** Lines that are drawn; a report of thousands is read by its failures, which come first. */
const most = 200;

/** What is being sent and what came of it, at the lower edge of the window. */
export function Uploads() {
  const queue = useQueue();
  const [open, setOpen] = useState(true);
  const totals = queue.totals();
  useSeconds(totals.running);
  useLeaveGuard(totals.running);
  if (!totals.files) return null;
  const { by } = totals;
  const failed = by.failed + by.cancelled;
  return (
    <aside class="uploads" aria-label="Uploads">
      <header>
        <strong role="status">{headline(totals, queue)}</strong>
        <span class="dim num">{totals.running && !queue.paused && pace(totals)}</span>
        <span class="grow" />
        {totals.running && <Button onClick={() => queue.cancel()}>Cancel all</Button>}
        {!totals.running && failed > 0 && (
          <Button icon="retry" onClick={() => queue.retry()}>
            Try those again
          </Button>
        )}
        <IconButton icon={open ? "down" : "up"} label={open ? "Hide the files" : "Show the files"} aria-expanded={open} onClick={() => setOpen(!open)} />
        {!totals.running && <IconButton icon="cross" label="Close the report" onClick={() => queue.clear()} />}
      </header>
      <Bar now={totals.done} of={totals.bytes} label="All files" />
      <p class="report dim num">
        {count(by.sent)} sent · {count(by.there)} already there · {count(by.failed)} failed
        {by.cancelled > 0 && ` · ${count(by.cancelled)} cancelled`}
        {queue.unread.length > 0 && ` · ${count(queue.unread.length)} not read`}
        {totals.running && ` · ${count(totals.files - by.sent - by.there - failed)} to go`}
      </p>
      {open && !queue.paused && <Lines items={queue.items} unread={queue.unread} cancel={(item) => queue.cancel([item])} />}
    </aside>
  );
}

/** Where all of it stands, for those who are read to as well: it changes seldom. */
function headline({ files, running, by }: Totals, { paused, unread }: { paused: boolean; unread: Unread[] }): string {
  if (running && paused) return "Paused: sign in again, and it goes on";
  if (running) return `Sending ${plural(files, "file")}`;
  if (by.failed + by.cancelled) return `Finished, ${plural(by.failed + by.cancelled, "file")} not uploaded`;
  return unread.length ? "Finished, but some could not be read" : "All done";
}

/** Seconds without a byte after which that is said. */
const silent = 5;

function pace({ done, bytes, rate, unanswered, silence }: Totals): string {
  const sent = `${size(done)} of ${size(bytes)}`;
  if (unanswered) return `${sent}, no answer, trying again`;
  if (silence >= silent) return `${sent}, nothing sent for ${duration(silence)}`;
  return rate > 0 ? `${sent}, ${size(rate)}/s, ${duration((bytes - done) / rate)} left` : sent;
}

/** Draws anew every second: what is said of the speed changes also while nothing happens. */
function useSeconds(running: boolean) {
  const [, redraw] = useReducer((n: number, _: void) => n + 1, 0);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => redraw(), 1000);
    return () => clearInterval(timer);
  }, [running]);
}

/** What could not be read, is under way or failed comes first, then the rest in the order in which it came. */
function Lines({ items, unread, cancel }: { items: Item[]; unread: Unread[]; cancel: (item: Item) => void }) {
  const first: Item[] = [];
  const rest: Item[] = [];
  for (const item of items) {
    const notable = item.problem || item.state === "sending" || item.state === "comparing";
    const into = notable ? first : rest;
    if (into.length < most) into.push(item);
  }
  const lost = unread.slice(0, most);
  const shown = first.concat(rest).slice(0, most - lost.length);
  const hidden = items.length + unread.length - shown.length - lost.length;
  return (
    <ul>
      {lost.map(({ path, why }, i) => (
        <li key={`unread ${i}`}>
          <span class="name" title={path}>
            {path} <span class="error">{why}</span>
          </span>
          <span class="failed">not read</span>
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

const words: Record<Item["state"], string> = {
  waiting: "waiting",
  comparing: "comparing",
  sending: "",
  sent: "sent",
  there: "already there",
  failed: "failed",
  cancelled: "cancelled",
};

function Line({ item, cancel }: { item: Item; cancel: () => void }) {
  const { file, path } = item.picked;
  return (
    <li>
      <span class="name" title={path}>
        {item.resource ? <Link to={`/resources/${item.resource.id}`}>{path}</Link> : path}
        {item.problem && <span class="error"> {item.problem.detail}</span>}
      </span>
      {item.state === "sending" ? <Bar now={item.sent} of={file.size} label={path} /> : <span class={`dim ${item.state}`}>{words[item.state]}</span>}
      <Size bytes={file.size} />
      {over(item) ? (
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

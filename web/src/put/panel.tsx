import { useEffect, useRef, useState } from "preact/hooks";
import { duration, plural, size } from "../human";
import { Link, useLeaveGuard } from "../router";
import { Button, IconButton, Size } from "../ui/basics";
import { Icon } from "../ui/icons";
import type { Item } from "./queue";
import { over, useQueue } from "./queue";

/** Lines that are drawn; a report of thousands is read by its failures. */
const most = 200;

/** What is being sent and what came of it, at the lower edge of the window. */
export function Uploads() {
  const queue = useQueue();
  const [open, setOpen] = useState(true);
  const totals = queue.totals();
  useLeaveGuard(() => queue.totals().running);
  if (!totals.files) return null;
  const { by } = totals;
  const left = totals.rate > 0 ? duration((totals.bytes - totals.sentBytes) / totals.rate) : "";
  const failed = by.failed + by.cancelled;
  const worst = totals.running ? queue.items.filter((i) => i.state !== "waiting" && !over(i)) : queue.items.filter((i) => i.problem);
  const shown = [...worst, ...queue.items.filter((i) => !worst.includes(i))].slice(0, most);
  return (
    <aside class="uploads" aria-label="Uploads">
      <header>
        <strong role="status">
          {totals.running
            ? `Sending ${plural(by.sent + by.there + 1 > totals.files ? totals.files : by.sent + by.there + 1, "file")} of ${totals.files}`
            : failed
              ? `Done, but for ${plural(failed, "file")}`
              : "All done"}
        </strong>
        <span class="dim num">
          {totals.running ? `${size(totals.sentBytes)} of ${size(totals.bytes)}` : ""}
          {totals.running && totals.rate > 0 ? `, ${size(totals.rate)}/s, ${left} left` : ""}
        </span>
        <span class="grow" />
        {totals.running && <Button onClick={() => queue.cancel()}>Cancel all</Button>}
        {!totals.running && failed > 0 && (
          <Button icon="retry" onClick={() => queue.retry()}>
            Try those again
          </Button>
        )}
        <IconButton icon="more" label={open ? "Hide the files" : "Show the files"} onClick={() => setOpen(!open)} />
        {!totals.running && <IconButton icon="cross" label="Close the report" onClick={() => queue.clear()} />}
      </header>
      <Bar now={totals.sentBytes} of={totals.bytes} label="All files" />
      <p class="report dim">
        {plural(by.sent, "file")} sent · {by.there} already there · {by.failed} failed
        {by.cancelled > 0 && ` · ${by.cancelled} cancelled`}
      </p>
      {open && (
        <ul>
          {shown.map((item) => (
            <Line key={item.picked.path + item.set.id} item={item} cancel={() => queue.cancel([item])} />
          ))}
          {queue.items.length > most && <li class="dim">and {plural(queue.items.length - most, "other")}</li>}
        </ul>
      )}
    </aside>
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
      {over(item) ? <Icon name={item.problem ? "warning" : "check"} /> : <IconButton icon="cross" label={`Cancel ${path}`} onClick={cancel} />}
    </li>
  );
}

function Bar({ now, of, label }: { now: number; of: number; label: string }) {
  const ref = useRef<HTMLProgressElement>(null);
  useEffect(() => {
    ref.current!.value = of ? now / of : 1;
  }, [now, of]);
  return <progress ref={ref} max={1} aria-label={label} />;
}

// The page of a file request with scripts: many files or a folder, with progress. It replaces the
// form.
import { render } from "preact";
import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import { plural, size } from "../format";
import type { Selection } from "../upload/selection";
import { fromDrop, fromInput, isSystemFile } from "../upload/selection";
import { useDrop } from "../upload/window";
import { forget } from "./memory";
import type { Item, Totals } from "./queue";
import { Queue } from "./queue";

/** The maximum number of listed files: longer pages become slow. */
const most = 200;

function Page({ queue }: { queue: Queue }) {
  const [, changed] = useReducer((n: number) => n + 1, 0);
  const [notes, setNotes] = useState<string[]>([]);
  const add = (selection: Selection) => {
    const files = selection.files.filter((file) => !isSystemFile(file));
    setNotes([
      ...selection.unreadable.map(({ path, error }) => `${path} cannot be read. ${error}`),
      ...(files.length ? [] : ["It contains no files."]),
    ]);
    queue.add(files);
  };
  useEffect(() => queue.listen(() => changed(0)), []);
  const totals = queue.totals();
  useWarning(totals.running);
  return (
    <>
      <Choice add={add} />
      {notes.length > 0 && (
        <div class="problem" role="alert">
          {notes.map((note) => (
            <p>{note}</p>
          ))}
        </div>
      )}
      <p class="visually-hidden" aria-live="polite">
        {announcement(totals)}
      </p>
      {totals.files > 0 && <Progress queue={queue} totals={totals} />}
    </>
  );
}

/** The buttons that open the choosers; the window accepts drops. */
function Choice({ add }: { add: (selection: Selection) => void }) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const over = useDrop((dropped) => void fromDrop(dropped).then(add));
  const change = (e: Event) => {
    const input = e.currentTarget as HTMLInputElement;
    add(fromInput(input.files!));
    input.value = ""; // allows selecting the same files again
  };
  return (
    <div class={over ? "choice over" : "choice"}>
      <input ref={files} type="file" multiple hidden aria-label="Files to send" onChange={change} />
      <input ref={folder} type="file" {...{ webkitdirectory: true }} hidden aria-label="Folder to send" onChange={change} />
      <button type="button" class="main" onClick={() => files.current!.click()}>
        Select files
      </button>
      <button type="button" class="button" onClick={() => folder.current!.click()}>
        Select a folder
      </button>
      <p class="dim where">or drop them here</p>
    </div>
  );
}

function Progress({ queue, totals }: { queue: Queue; totals: Totals }) {
  const { by } = totals;
  const of = (state: Item["state"]) => queue.items.filter((item) => item.state === state);
  return (
    <section class="sendings" aria-label="Files">
      <p class="total">
        <strong>{summary(totals)}</strong>
        <span class="dim">
          {size(totals.done)} of {size(totals.bytes)}
        </span>
      </p>
      <progress max={totals.bytes || 1} value={totals.bytes ? totals.done : 1} aria-label="All files" />
      {!totals.running && !by.failed && <p class="dim">All files have arrived. You can close this page.</p>}
      {totals.silent && <p class="note">The connection is lost. The upload resumes as soon as the service answers.</p>}
      {by.failed > 0 && (
        <>
          <h2>{plural(by.failed, "file")} not sent</h2>
          <Files items={of("failed")} />
          <button type="button" class="button" onClick={() => queue.again("failed")}>
            Try again
          </button>
        </>
      )}
      {by.sending > 0 && <Files items={of("sending")} />}
      {by.waiting > 0 && <Folded title={`${plural(by.waiting, "file")} waiting`} items={of("waiting")} />}
      {by.sent > 0 && <Folded title={`${plural(by.sent, "file")} sent`} items={of("sent")} />}
      {by.before > 0 && (
        <>
          <Folded title={`${plural(by.before, "file")} already sent from this browser, and left out`} items={of("before")} />
          <button type="button" class="button" onClick={() => queue.again("before")}>
            Send again
          </button>
        </>
      )}
      {totals.running && <p class="dim">Leave this page open until all files are sent. To continue after an interruption, select the same files again: complete files are not sent twice.</p>}
    </section>
  );
}

function Folded({ title, items }: { title: string; items: Item[] }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{title}</summary>
      {open && <Files items={items} />}
    </details>
  );
}

function Files({ items }: { items: Item[] }) {
  return (
    <ul>
      {items.slice(0, most).map((item) => (
        <li key={item.id}>
          <span class="name">{item.selected.path}</span> <span class="dim">{size(item.selected.file.size)}</span>
          {item.state === "sending" && <progress max={item.selected.file.size || 1} value={item.sent} aria-label={item.selected.path} />}
          {item.reason && <p class="error">{item.reason}</p>}
        </li>
      ))}
      {items.length > most && <li class="dim">and {plural(items.length - most, "more file")}</li>}
    </ul>
  );
}

/** Summarises the state of the files in one line. */
function summary({ files, by, running }: Totals): string {
  const sent = by.sent + by.before;
  if (running) return `${sent} of ${plural(files, "file")} sent`;
  return by.failed ? `${by.failed} of ${plural(files, "file")} not sent` : `All sent: ${plural(files, "file")}`;
}

/** The announcement for screen readers: state changes without progress. */
function announcement(totals: Totals): string {
  if (!totals.files) return "";
  if (!totals.running) return `${summary(totals)}.`;
  return totals.silent ? "The connection is lost. The upload resumes automatically." : "Sending.";
}

/** Makes the browser confirm before it leaves the page. */
function useWarning(running: boolean) {
  useEffect(() => {
    if (!running) return;
    const ask = (e: BeforeUnloadEvent) => e.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [running]);
}

const place = document.getElementById("drop");
if (place) {
  forget();
  place.replaceChildren();
  render(<Page queue={new Queue(`${location.pathname.replace(/\/$/, "")}/uploads`)} />, place);
}

// A list of any length: only the rows in sight are in the document, and pages are fetched as the visitor comes near their end.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Listing, Problem } from "../api";
import { plural } from "../human";
import { Failed, Waiting } from "./basics";
import { asProblem } from "./load";

/** Rows beyond those in sight that are drawn, so that the edge is not seen while scrolling. */
const overscan = 12;

/** Rows left below those in sight when the next page is fetched. */
const ahead = 400;

interface Props<T> {
  /** Makes the listing; called anew when `of` changes. */
  make: () => Listing<T>;
  /** What is listed, filters included: another text is another list. */
  of: string;
  keyOf: (item: T) => string;
  row: (item: T, index: number) => ComponentChildren;
  /** Names of the columns; the cells of a row follow them. */
  columns: ComponentChildren;
  label: string;
  /** Which columns it has: a class of app.css. */
  kind: "containers" | "resources" | "chosen" | "trash" | "people";
  /** What one of them is called, for the line that counts them. */
  noun: [one: string, many: string];
  empty: ComponentChildren;
}

export function VirtualList<T>({ make, of, keyOf, row, columns, label, kind, noun, empty }: Props<T>) {
  const [items, setItems] = useState<T[]>([]);
  const [ended, setEnded] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const [window_, setWindow] = useState({ first: 0, last: 60 });
  const source = useRef<{ listing: Listing<T>; control: AbortController; loading: boolean; count: number } | undefined>(undefined);
  const body = useRef<HTMLDivElement>(null);

  const more = async () => {
    const from = source.current;
    if (!from || from.loading || from.listing.ended) return;
    from.loading = true;
    setProblem(undefined);
    try {
      const page = await from.listing.more(from.control.signal);
      if (from !== source.current) return;
      from.count += page.length;
      setItems((all) => all.concat(page));
      setEnded(from.listing.ended);
    } catch (thrown) {
      if (from === source.current) setProblem(asProblem(thrown));
    } finally {
      from.loading = false;
    }
  };

  const look = () => {
    const element = body.current;
    if (!element) return;
    const height = rowHeight(element);
    const top = -element.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(top / height) - overscan);
    const last = Math.ceil((top + innerHeight) / height) + overscan;
    setWindow((w) => (w.first === first && w.last === last ? w : { first, last }));
    if (source.current && last + ahead > source.current.count && !problem) void more();
  };

  useEffect(() => {
    source.current = { listing: make(), control: new AbortController(), loading: false, count: 0 };
    const mine = source.current;
    setItems([]);
    setEnded(false);
    void more();
    return () => mine.control.abort();
  }, [of]);

  useLayoutEffect(() => {
    look();
    let due = 0;
    const soon = () => {
      if (!due) due = requestAnimationFrame(() => ((due = 0), look()));
    };
    addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", soon);
    return () => {
      cancelAnimationFrame(due);
      removeEventListener("scroll", soon);
      removeEventListener("resize", soon);
    };
  }, [items.length, problem]);

  if (!items.length && ended) return <>{empty}</>;
  if (!items.length && !problem) return <Waiting lines={8} />;
  const shown = items.slice(window_.first, window_.last);
  return (
    <div class={`list ${kind}`} role="table" aria-label={label} aria-rowcount={ended ? items.length + 1 : -1}>
      <div class="row head" role="row" aria-rowindex={1}>
        {columns}
      </div>
      <div class="body" role="rowgroup" ref={body} data-count={items.length} data-ended={ended}>
        <Spacer rows={window_.first} />
        {shown.map((item, i) => (
          <div class="row" role="row" aria-rowindex={window_.first + i + 2} key={keyOf(item)}>
            {row(item, window_.first + i)}
          </div>
        ))}
        <Spacer rows={Math.max(0, items.length - window_.first - shown.length)} />
      </div>
      {problem && <Failed problem={problem} retry={() => void more()} />}
      <p class="dim foot" role="status">
        {plural(items.length, noun[0], noun[1])}
        {ended ? "" : " so far; more follow as you scroll"}
      </p>
    </div>
  );
}

/** Height of a row in pixels: the style decides it, and makes it greater on narrow screens. */
function rowHeight(element: HTMLElement): number {
  return parseFloat(getComputedStyle(element).getPropertyValue("--row")) || 36;
}

/** The room of rows that are out of sight. Style attributes are forbidden by the policy, so the property is set by script. */
function Spacer({ rows }: { rows: number }) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    ref.current?.style.setProperty("--rows", String(rows));
  }, [rows]);
  return <div class="spacer" ref={ref} aria-hidden="true" />;
}

// A list of any length: only the rows in sight are in the document, and only what is near them is kept.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import type { Listing } from "../api";
import { plural } from "../human";
import { entry } from "../router";
import { useLook } from "./again";
import { Button, Failed, Waiting } from "./basics";
import { usePrinting, usePrintKey } from "./print";
import { Rows } from "./rows";

/** Rows beyond those in sight that are drawn, so that the edge is not seen while scrolling. */
const overscan = 12;

interface Props<T> {
  /** Makes the listing; called anew when `of` changes. */
  make: () => Listing<T>;
  /** What is listed, filters included: another text is another list. What was shown stays until the other one is there. */
  of: string;
  /** Grows when the list may have changed. Then it is fetched anew, and stays where it is. */
  turn?: number;
  keyOf: (item: T) => string;
  row: (item: T) => ComponentChildren;
  /** Names of the columns; the cells of a row follow them. */
  columns: ComponentChildren;
  label: string;
  /** Which columns it has: a class of app.css. */
  kind: "containers" | "resources" | "chosen" | "trash" | "people" | "members";
  /** What one of them is called, for the line that counts them. */
  noun: [one: string, many: string];
  empty: ComponentChildren;
}

/** Lists that the visitor has left, by the entry of the history: who goes back finds them where they were. */
const left = new Map<string, { rows: Rows<unknown>; top: number }>();
const remembered = 5;

export function VirtualList<T>({ make, of, turn = 0, keyOf, row, columns, label, kind, noun, empty }: Props<T>) {
  const { rows, fresh } = useRows(make, of, turn);
  const body = useRef<HTMLDivElement>(null);
  const sight = useSight(body, rows);
  const onKeyDown = useArrows(body, rows);
  useLook(() => (rows.problem ? rows.retry() : rows.refresh()));
  const printing = usePrinting();
  const gathering = usePrintKey(() => rows.complete, () => rows.all());
  useEffect(() => (printing ? () => rows.release() : undefined), [printing]);
  if (!rows.known && rows.ended) return <>{empty}</>;
  if (!rows.known && !rows.problem) return <Waiting lines={8} />;
  const last = printing ? rows.known : Math.min(sight.last, rows.known);
  const first = printing ? 0 : Math.min(sight.first, last);
  const keys = new Set<string | number>();
  const drawn = (index: number) => {
    const item = rows.at(index);
    const key = item && !keys.has(keyOf(item)) ? keyOf(item) : index; // what is changed meanwhile can come twice
    keys.add(key);
    return (
      <div class="row" role="row" aria-rowindex={index + 2} data-index={index} key={key}>
        {item ? row(item) : <span role="cell">…</span>}
      </div>
    );
  };
  return (
    <div class={`list ${kind}`} aria-busy={!fresh}>
      <div role="table" aria-label={label} aria-rowcount={rows.ended ? rows.known + 1 : -1}>
        <div role="rowgroup" class="head">
          <div class="row" role="row" aria-rowindex={1}>
            {columns}
          </div>
        </div>
        <div class="body" role="rowgroup" ref={body} data-count={rows.known} data-ended={rows.ended} onKeyDown={onKeyDown}>
          <Spacer rows={first} />
          {Array.from({ length: last - first }, (_, i) => drawn(first + i))}
          <Spacer rows={rows.known - last} />
        </div>
      </div>
      {rows.problem && <Failed problem={rows.problem} retry={() => rows.retry()} />}
      <p class="dim foot">
        {rows.known > 0 && plural(rows.known, noun[0], noun[1])}
        {rows.ended ? "" : printing ? " are printed, and there are more" : " so far; more follow as you scroll"}
        {printing && !rows.complete && ". To print all rows, press Ctrl+P or ⌘P on the page"}
        {gathering && <span role="status">. Loading all rows to print them …</span>}
      </p>
      {rows.stale && (
        <p class="stale" role="status">
          This list may have changed. <Button onClick={() => rows.refresh(true)}>Show the changes</Button>
        </p>
      )}
    </div>
  );
}

/** The rows to show: those of an earlier list until the first of the new one are there, and fresh tells which. */
function useRows<T>(make: () => Listing<T>, of: string, turn: number): { rows: Rows<T>; fresh: boolean } {
  const [, redraw] = useReducer((n: number, _: void) => n + 1, 0);
  const [key] = useState(entry); // by the time that this list goes, the history is at the next one
  const shown = useRef<Rows<T> | undefined>(undefined);
  const wanted = useRef<{ of: string; rows: Rows<T> } | undefined>(undefined);
  if (wanted.current?.of !== of) {
    const again = wanted.current ? undefined : (left.get(key + of)?.rows as Rows<T> | undefined);
    wanted.current?.rows.stop();
    wanted.current = { of, rows: again ?? new Rows(make()) };
  }
  const { rows } = wanted.current;
  if (!shown.current || rows.begun || rows.problem) shown.current = rows;

  useEffect(() => {
    rows.tell = () => redraw();
    if (!rows.begun) rows.see(0, 0);
    const back = left.get(key + of);
    if (back) {
      left.delete(key + of);
      scrollTo(0, back.top);
      rows.refresh();
    }
    let top = scrollY;
    const note = () => (top = scrollY);
    addEventListener("scroll", note, { passive: true });
    return () => {
      removeEventListener("scroll", note);
      rows.stop();
      if (!rows.begun) return;
      left.set(key + of, { rows, top });
      if (left.size > remembered) left.delete(left.keys().next().value!);
    };
  }, [rows]);

  const before = useRef(turn);
  useEffect(() => {
    if (before.current !== turn) rows.refresh();
    before.current = turn;
  }, [turn]);

  return { rows: shown.current, fresh: shown.current === rows };
}

/** Which rows are to be drawn, as the window scrolls and changes its size. */
function useSight<T>(body: { current: HTMLDivElement | null }, rows: Rows<T>) {
  const [sight, setSight] = useState({ first: 0, last: 60 });
  const before = useRef(rows);
  useLayoutEffect(() => {
    const hidden = body.current?.getBoundingClientRect().top ?? 0;
    if (before.current !== rows && hidden < 0) scrollBy(0, hidden - rowHeight(body.current!)); // another list is read from its start
    before.current = rows;
  }, [rows]);
  useLayoutEffect(() => {
    const look = () => {
      const element = body.current;
      if (!element) return;
      const height = rowHeight(element);
      const top = -element.getBoundingClientRect().top;
      const first = Math.max(0, Math.floor(top / height) - overscan);
      const last = Math.max(0, Math.ceil((top + innerHeight) / height) + overscan);
      setSight((was) => (was.first === first && was.last === last ? was : { first, last }));
      rows.see(first, last);
    };
    look();
    let due = 0;
    const soon = () => {
      due ||= requestAnimationFrame(() => {
        due = 0;
        look();
      });
    };
    addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", soon);
    return () => {
      cancelAnimationFrame(due);
      removeEventListener("scroll", soon);
      removeEventListener("resize", soon);
    };
  }, [rows, rows.known]);
  return sight;
}

const controls = "a[href], button, select, input";

/** From a control in a row the arrow keys, Home, End and the page keys lead to the same control in another row. */
function useArrows<T>(body: { current: HTMLDivElement | null }, rows: Rows<T>) {
  const going = useRef<{ index: number; nth: number } | undefined>(undefined);
  useLayoutEffect(() => {
    if (!going.current) return;
    const row = body.current?.querySelector(`[data-index="${going.current.index}"]`);
    const all = row?.querySelectorAll<HTMLElement>(controls);
    if (!all?.length) return; // it is not here yet
    all[Math.min(going.current.nth, all.length - 1)]!.focus({ preventScroll: true });
    going.current = undefined;
  });
  return (e: KeyboardEvent) => {
    const target = e.target as HTMLElement;
    const row = target.closest<HTMLElement>("[data-index]");
    if (!row || !body.current || target.tagName === "SELECT" || target.closest("dialog") || e.ctrlKey || e.metaKey || e.altKey) return;
    const height = rowHeight(body.current);
    const page = Math.max(1, Math.floor(innerHeight / height) - 3);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const step = steps[e.key];
    if (step === undefined) return;
    e.preventDefault();
    const index = Math.min(Math.max(0, Number(row.dataset.index) + step), rows.known - 1);
    going.current = { index, nth: [...row.querySelectorAll(controls)].indexOf(target) };
    const top = body.current.getBoundingClientRect().top + index * height;
    const room = 2 * height; // what stays free above, for the names of the columns, and below
    if (top < room) scrollBy(0, top - room);
    else if (top + height > innerHeight - room) scrollBy(0, top + height - innerHeight + room);
    rows.tell(); // draws anew, also where nothing had to scroll
  };
}

/** Height of a row in pixels: the style decides it, and makes it greater on narrow screens. */
function rowHeight(element: HTMLElement): number {
  return parseFloat(getComputedStyle(element).getPropertyValue("--row"));
}

/** The room of rows that are out of sight. Style attributes are forbidden by the policy, so the property is set by script. */
function Spacer({ rows }: { rows: number }) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    ref.current?.style.setProperty("--rows", String(rows));
  }, [rows]);
  return <div class="spacer" ref={ref} aria-hidden="true" />;
}

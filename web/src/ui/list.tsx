// A virtual list: only the visible rows are in the document, and only pages near them are in memory.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import type { Listing } from "../api";
import { pageSize } from "../api";
import { listen } from "../events";
import { useKey } from "../keyboard/keys";
import { count, plural } from "../format";
import { historyEntry } from "../router";
import { Button, ErrorMessage, Skeleton } from "./components";
import { usePrinting, usePrintKey } from "./print";
import { useRefreshOnFocus } from "./refresh";
import type { Order } from "./jump";
import { Lazy } from "./lazy";
import { Rows } from "./rows";

/** The number of rows rendered beyond the visible ones, so that no gap shows while scrolling. */
const overscan = 12;

const loadJump = () => import("./jump").then((m) => m.Jump<unknown>);

/** A column of a list. */
export interface Column<T> {
  head: ComponentChildren;
  /** The sort order of this column; unset if it cannot sort. */
  sort?: "ascending" | "descending" | "none";
  /** The width in a grid, if the style sheet does not define it. */
  width?: string;
  /** Classes of the header and the cells: "wide-only" hides them on narrow screens, "end" aligns them to the right. */
  class?: string;
  /** More classes of the cells. */
  cellClass?: string | ((item: T) => string);
  /** The tooltip of a cell. */
  title?: (item: T) => string;
  cell: (item: T) => ComponentChildren;
}

/** A header that only screen readers read. */
export const hiddenHead = (label: string) => <span class="visually-hidden">{label}</span>;

interface Props<T> {
  /** Creates the listing; called again when `id` changes. */
  create: () => Listing<T>;
  /** Identifies the listing with its filters. When it changes, the rows stay until the new ones arrive. */
  id: string;
  /** Changes when the list may have changed. It is then fetched again, and keeps its scroll position. */
  version?: number;
  keyOf: (item: T) => string;
  columns: Column<T>[];
  label: string;
  /** Decides the widths of the columns: a class of app.css. */
  kind: "containers" | "dataspaces" | "resources" | "selectable" | "trash" | "users" | "members" | "versions" | "hits";
  /** Singular and plural, for the number of rows below the list. */
  noun: [one: string, many: string];
  empty: ComponentChildren;
  /** The order. A long list with an outline then offers to go to a position. */
  order?: Order;
  /** Whether rows have more space. */
  comfortable?: boolean;
}

/** Lists of earlier pages with their scroll positions, by history entry, for the Back button. */
const earlier = new Map<string, { rows: Rows<unknown>; top: number }>();
const maxEarlier = 5;

export function VirtualList<T>({ create, id, version = 0, keyOf, columns, label, kind, noun, empty, order, comfortable }: Props<T>) {
  const { rows, fresh } = useRows(create, id, version);
  const body = useRef<HTMLDivElement>(null);
  const visible = useVisible(body, rows, comfortable);
  const { onKeyDown, goTo } = useArrowKeys(body, rows, kind === "selectable");
  useRefreshOnFocus(() => (rows.problem ? rows.retry() : rows.refresh()));
  const whole = useRef<HTMLDivElement>(null);
  const widths = columns.every((c) => c.width) ? columns.map((c) => c.width).join(" ") : "";
  useLayoutEffect(() => {
    if (widths) whole.current?.style.setProperty("--wide-columns", widths); // the policy forbids style attributes
  });
  const printing = usePrinting();
  const loadingAll = usePrintKey(() => rows.complete, () => rows.fetchAll());
  useEffect(() => (printing ? () => rows.release() : undefined), [printing]);
  if (!rows.known && rows.ended) return <>{empty}</>;
  if (!rows.known && !rows.problem) return <Skeleton lines={8} />;
  const last = printing ? rows.known : Math.min(visible.last, rows.known);
  const first = printing ? 0 : Math.min(visible.first, last);
  const keys = new Set<string | number>();
  const renderRow = (index: number) => {
    const item = rows.at(index);
    if (!item && printing) return null;
    // a row that moves between two pages can be in both
    const key = item && !keys.has(keyOf(item)) ? keyOf(item) : index;
    keys.add(key);
    return (
      <div class="row" role="row" aria-rowindex={index + 2} data-index={index} key={key}>
        {item ? (
          columns.map((c, i) => (
            <span role="cell" class={`${c.class ?? ""} ${typeof c.cellClass === "function" ? c.cellClass(item) : (c.cellClass ?? "")}`} title={c.title?.(item)} key={i}>
              {c.cell(item)}
            </span>
          ))
        ) : (
          <span role="cell">…</span>
        )}
      </div>
    );
  };
  return (
    <div class={`list ${kind} ${comfortable ? "comfortable" : ""}`} aria-busy={!fresh} ref={whole}>
      {order && rows.outline && rows.known > pageSize && !printing && <Lazy load={loadJump} props={{ rows: rows as Rows<unknown>, order, goTo }} lines={1} />}
      <div role="table" aria-label={label} aria-rowcount={rows.ended ? rows.known + 1 : -1}>
        <div role="rowgroup" class="head">
          <div class="row" role="row" aria-rowindex={1}>
            {columns.map(({ head, sort, class: classes }, i) => (
              <span role="columnheader" class={classes} aria-sort={sort} key={i}>
                {head}
              </span>
            ))}
          </div>
        </div>
        <div class="body" role="rowgroup" ref={body} data-count={printing ? rows.loaded : rows.known} data-ended={rows.ended} onKeyDown={onKeyDown}>
          <Spacer rows={first} />
          {Array.from({ length: last - first }, (_, i) => renderRow(first + i))}
          <Spacer rows={rows.known - last} />
        </div>
      </div>
      {rows.problem && <ErrorMessage problem={rows.problem} retry={() => rows.retry()} />}
      <p class="dim foot">
        {rows.known > 0 && plural(rows.known, noun[0], noun[1])}
        {rows.ended || (!rows.known && rows.problem) ? "" : printing ? " printed; the list is longer" : " so far; scroll for more"}
        {rows.ended && printing && rows.loaded < rows.known && `, of which ${count(rows.loaded)} are printed`}
        {printing && !rows.complete && ". To print all rows, press Ctrl+P or ⌘P on the page"}
        {loadingAll && <span role="status">. Loading all rows to print them …</span>}
      </p>
      {rows.stale && (
        <p class="stale" role="status">
          This list may have changed. <Button onClick={() => rows.refresh(true)}>Show the changes</Button>
        </p>
      )}
    </div>
  );
}

/** The rows to show. Until the first rows of a new listing arrive, these are the rows of the earlier listing, and `fresh` is false. */
function useRows<T>(create: () => Listing<T>, id: string, version: number): { rows: Rows<T>; fresh: boolean } {
  const [, redraw] = useReducer((n: number, _: void) => n + 1, 0);
  const entry = historyEntry();
  const key = entry + id;
  const shown = useRef<Rows<T> | undefined>(undefined);
  const wanted = useRef<{ id: string; entry: string; rows: Rows<T> } | undefined>(undefined);
  if (wanted.current?.id !== id) {
    const restored = wanted.current?.entry === entry ? undefined : (earlier.get(key)?.rows as Rows<T> | undefined);
    wanted.current?.rows.stop();
    wanted.current = { id, entry, rows: restored ?? new Rows(create()) };
  }
  const { rows } = wanted.current;
  if (!shown.current || rows.started || rows.problem) shown.current = rows;

  useEffect(() => {
    rows.onChange = () => redraw();
    if (!rows.started) rows.show(0, 0);
    const back = earlier.get(key);
    if (back?.rows === rows) {
      earlier.delete(key);
      scrollTo(0, back.top);
      rows.refresh();
    }
    let top = scrollY;
    // The router scrolls to the top of the next page before this list unmounts; that position does
    // not belong to this list.
    const remove = listen(window, "scroll", () => historyEntry() === entry && (top = scrollY), { passive: true });
    return () => {
      remove();
      rows.stop();
      if (!rows.started) return;
      earlier.set(key, { rows, top });
      if (earlier.size > maxEarlier) earlier.delete(earlier.keys().next().value!);
    };
  }, [rows]);

  const before = useRef(version);
  useEffect(() => {
    if (before.current !== version) rows.refresh();
    before.current = version;
  }, [version]);

  return { rows: shown.current, fresh: shown.current === rows };
}

/** The range of rows to render, which follows the scroll position and the size of the window. */
function useVisible<T>(body: { current: HTMLDivElement | null }, rows: Rows<T>, comfortable: boolean | undefined) {
  const [visible, setVisible] = useState({ first: 0, last: 60 });
  const before = useRef(rows);
  useLayoutEffect(() => {
    const hidden = body.current?.getBoundingClientRect().top ?? 0;
    if (before.current !== rows && hidden < 0) scrollBy(0, hidden - rowHeight(body.current!)); // a new listing is shown from its start
    before.current = rows;
  }, [rows]);
  useLayoutEffect(() => {
    const update = () => {
      const element = body.current;
      if (!element) return;
      const height = rowHeight(element);
      const top = -element.getBoundingClientRect().top;
      const first = Math.max(0, Math.floor(top / height) - overscan);
      const last = Math.max(0, Math.ceil((top + innerHeight) / height) + overscan);
      setVisible((was) => (was.first === first && was.last === last ? was : { first, last }));
      rows.show(first, last);
    };
    update();
    let due = 0;
    const schedule = () => {
      due ||= requestAnimationFrame(() => {
        due = 0;
        update();
      });
    };
    const remove = listen(window, "scroll resize", schedule, { passive: true });
    return () => {
      cancelAnimationFrame(due);
      remove();
    };
  }, [rows, rows.known, comfortable]);
  return visible;
}

const controls = "a[href], button, select, input";

/** Arrow keys, Home, End and the page keys move the focus from a control of a row to the same control of another row. */
function useArrowKeys<T>(body: { current: HTMLDivElement | null }, rows: Rows<T>, selectable: boolean) {
  const target = useRef<{ index: number; nth: number } | undefined>(undefined);
  useLayoutEffect(() => {
    if (!target.current) return;
    const row = body.current?.querySelector(`[data-index="${target.current.index}"]`);
    const all = row?.querySelectorAll<HTMLElement>(controls);
    if (!all?.length) return; // not rendered yet
    all[Math.min(target.current.nth, all.length - 1)]!.focus({ preventScroll: true });
    target.current = undefined;
  });
  const go = (from: HTMLElement, step: number) => {
    const row = from.closest<HTMLElement>("[data-index]")!;
    const height = rowHeight(body.current!);
    const index = Math.min(Math.max(0, Number(row.dataset.index) + step), rows.known - 1);
    target.current = { index, nth: [...row.querySelectorAll(controls)].indexOf(from) };
    const top = body.current!.getBoundingClientRect().top + index * height;
    const room = 2 * height; // the space that stays free above, for the header, and below
    if (top < room) scrollBy(0, top - room);
    else if (top + height > innerHeight - room) scrollBy(0, top + height - innerHeight + room);
    rows.onChange(); // renders even without scrolling
  };
  /** Starts at the focused row, or at the first rendered one. */
  const step = (by: number) => {
    const focused = document.activeElement as HTMLElement | null;
    if (focused && focused !== body.current && body.current?.contains(focused)) go(focused, by);
    else body.current?.querySelector<HTMLElement>("[data-index] a")?.focus();
  };
  const some = rows.known > 0;
  useKey("j", "go to the next row", some ? () => step(1) : undefined);
  useKey("k", "go to the previous row", some ? () => step(-1) : undefined);
  const select = () => {
    const focused = document.activeElement as HTMLElement | null;
    if (body.current?.contains(focused)) focused!.closest("[data-index]")?.querySelector<HTMLInputElement>('input[type="checkbox"]')?.click();
  };
  useKey("x", "select or deselect the row", some && selectable ? select : undefined);
  const goTo = (index: number) => {
    if (!body.current || index < 0) return;
    target.current = { index, nth: 1 }; // after the checkbox of the row
    const height = rowHeight(body.current);
    scrollBy(0, body.current.getBoundingClientRect().top + (index - 1) * height);
    rows.onChange();
  };
  const onKeyDown = (e: KeyboardEvent) => {
    const from = e.target as HTMLElement;
    if (!from.closest("[data-index]") || !body.current || from.tagName === "SELECT" || from.closest("dialog") || e.ctrlKey || e.metaKey || e.altKey) return;
    const page = Math.max(1, Math.floor(innerHeight / rowHeight(body.current)) - 3);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const step = steps[e.key];
    if (step === undefined) return;
    e.preventDefault();
    go(from, step);
  };
  return { onKeyDown, goTo };
}

/** The height of a row in px; the style sheet makes it larger on narrow screens. */
function rowHeight(element: HTMLElement): number {
  return parseFloat(getComputedStyle(element).getPropertyValue("--row"));
}

/** Takes the space of rows that are not rendered. The content security policy forbids style attributes, so a script sets the property. */
function Spacer({ rows }: { rows: number }) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    ref.current?.style.setProperty("--rows", String(rows));
  }, [rows]);
  return <div class="spacer" ref={ref} aria-hidden="true" />;
}

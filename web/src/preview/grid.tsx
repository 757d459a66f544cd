// The rows of a table, of which only those in sight are in the document.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { count } from "../human";
import { usePrinting } from "../ui/print";
import type { Dialect, Meaning, Rows } from "./csv";

const rowHeight = 26; // preview.css says the same
const overscan = 8;

/** Rows left below those in sight when more are fetched. */
const ahead = 60;

/** No browser scrolls through more pixels than it can count; longer tables are scrolled in greater steps. */
const tallest = 15_000_000;

/** Rows that are printed at most: more would be hundreds of sheets, and browsers give up. */
const mostPrinted = 20_000;

/** Rows that decide how wide a column is. */
const sample = 100;

/** More columns than this are not drawn. */
const widest = 200;

interface Props {
  rows: Rows;
  /** What has been loaded so far; another number draws anew. */
  loaded: number;
  dialect: Dialect;
  meanings: Meaning[];
  /** Called when the rows come near their end. */
  onEnd: () => void;
}

export function Grid({ rows, loaded, dialect, meanings, onEnd }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const layer = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const start = dialect.notes + (dialect.header ? 1 : 0);
  const total = Math.max(0, rows.count - start);

  useEffect(() => {
    const element = box.current!;
    let due = 0;
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const soon = () => {
      if (!due) due = requestAnimationFrame(() => ((due = 0), look()));
    };
    const sized = new ResizeObserver(soon);
    sized.observe(element);
    element.addEventListener("scroll", soon, { passive: true });
    return () => {
      cancelAnimationFrame(due);
      sized.disconnect();
      element.removeEventListener("scroll", soon);
    };
  }, []);

  const full = (total + 1) * rowHeight;
  const height = Math.min(full, tallest);
  const above = full > height ? (view.top * (full - view.height)) / (height - view.height) : view.top;
  const printing = usePrinting();
  const first = printing ? 0 : Math.max(0, Math.floor(above / rowHeight) - overscan);
  const last = printing ? Math.min(total, mostPrinted) : Math.min(total, Math.ceil((above + view.height) / rowHeight) + overscan);
  useEffect(() => {
    if (!printing && last + ahead >= total) onEnd();
  }, [last, total, loaded, printing]);

  useLayoutEffect(() => {
    canvas.current!.style.setProperty("--height", `${height}px`);
    layer.current!.style.setProperty("--top", `${view.top + first * rowHeight - above}px`);
  });
  const names = dialect.names.slice(0, widest);
  const widths = useMemo(() => columnWidths(rows, dialect, start, total), [rows, dialect, Math.min(sample, total)]);
  useLayoutEffect(() => canvas.current!.style.setProperty("--columns", widths), [widths]);

  const shown = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
  const kind = (column: number) => (meanings[column] === "number" ? "number" : "");
  return (
    <>
      <div class="grid" ref={box} tabIndex={0} role="region" aria-label="Table">
        <div class="canvas" ref={canvas} role="table" aria-rowcount={total + 1} aria-colcount={dialect.names.length} data-rows={total}>
          <div class="cells head" role="row" aria-rowindex={1}>
            <span role="columnheader" class="at" aria-label="Row" />
            {names.map((name, i) => (
              <span role="columnheader" key={i} class={kind(i)} title={name}>
                {name}
              </span>
            ))}
          </div>
          <div class="layer" ref={layer} role="rowgroup">
            {shown.map((row) => {
              const cells = rows.cells(start + row, dialect.separator);
              return (
                <div class="cells" role="row" aria-rowindex={row + 2} key={row}>
                  <span role="rowheader" class="at">
                    {count(row + 1)}
                  </span>
                  {names.map((_, i) => (
                    <span role="cell" key={i} class={kind(i)} title={(cells[i]?.length ?? 0) > 20 ? cells[i] : undefined}>
                      {cells[i]?.slice(0, 300)}
                    </span>
                  ))}
                </div>
              );
            })}
          </div>
        </div>
      </div>
      {printing && total > mostPrinted && <p class="hint">Printed are the first {count(mostPrinted)} of the {count(total)} rows that have been loaded.</p>}
      {dialect.names.length > widest && (
        <p class="hint">
          Shown are the first {widest} of {count(dialect.names.length)} columns.
        </p>
      )}
    </>
  );
}

/** Room for what the first rows hold, so that no column changes its width while one scrolls. */
function columnWidths(rows: Rows, dialect: Dialect, start: number, total: number): string {
  const table = Array.from({ length: Math.min(sample, total) }, (_, i) => rows.cells(start + i, dialect.separator));
  const longest = (column: number) => Math.max(dialect.names[column]!.length, ...table.map((r) => r[column]?.length ?? 0));
  const room = (n: number) => `calc(${Math.min(40, Math.max(5, n + 1))}ch + 20px)`;
  return ["72px", ...dialect.names.slice(0, widest).map((_, i) => room(longest(i))), "minmax(0, 1fr)"].join(" ");
}

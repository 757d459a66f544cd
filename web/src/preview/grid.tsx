// A virtual table: only the visible rows are in the document.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { listen } from "../events";
import { count } from "../format";
import { usePrinting } from "../ui/print";
import type { ColumnType, Dialect, Rows } from "./csv";

const rowHeight = 26; // preview.css says the same
const overscan = 8;

/** The number of rows below the visible ones at which more are fetched. */
const ahead = 60;

/** Browsers limit the height of an element, in px. The rows of longer tables scroll faster than the
    element. */
const maxHeight = 15_000_000;

/** The maximum number of printed rows: browsers fail with more. */
const maxPrinted = 20_000;

/** The number of rows that determine the column widths. */
const sample = 100;

/** The maximum number of displayed columns. */
const maxColumns = 200;

interface Props {
  rows: Rows;
  /** The number of loaded rows; the component renders when it changes. */
  loaded: number;
  dialect: Dialect;
  types: ColumnType[];
  /** Called when the last rows come near. */
  onEnd: () => void;
}

export function Grid({ rows, loaded, dialect, types, onEnd }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const layer = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const start = dialect.notes + (dialect.header ? 1 : 0);
  const total = Math.max(0, rows.count - start);

  useEffect(() => {
    const element = box.current!;
    let due = 0;
    const update = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const schedule = () => {
      if (!due) due = requestAnimationFrame(() => ((due = 0), update()));
    };
    const sized = new ResizeObserver(schedule);
    sized.observe(element);
    const remove = listen(element, "scroll", schedule, { passive: true });
    return () => {
      cancelAnimationFrame(due);
      sized.disconnect();
      remove();
    };
  }, []);

  const full = (total + 1) * rowHeight;
  const height = Math.min(full, maxHeight);
  const above = full > height ? (view.top * (full - view.height)) / (height - view.height) : view.top;
  const printing = usePrinting();
  const first = printing ? 0 : Math.max(0, Math.floor(above / rowHeight) - overscan);
  const last = printing ? Math.min(total, maxPrinted) : Math.min(total, Math.ceil((above + view.height) / rowHeight) + overscan);
  useEffect(() => {
    if (!printing && last + ahead >= total) onEnd();
  }, [last, total, loaded, printing]);

  useLayoutEffect(() => {
    canvas.current!.style.setProperty("--height", `${height}px`);
    layer.current!.style.setProperty("--top", `${view.top + first * rowHeight - above}px`);
  });
  const names = dialect.names.slice(0, maxColumns);
  const widths = useMemo(() => columnWidths(rows, dialect, start, total), [rows, dialect, Math.min(sample, total)]);
  useLayoutEffect(() => canvas.current!.style.setProperty("--columns", widths), [widths]);

  const shown = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
  const kind = (column: number) => (types[column] === "number" ? "number" : "");
  return (
    <>
      <div class="grid" ref={box} tabIndex={0} role="region" aria-label="Table">
        <div class="canvas" ref={canvas} role="table" aria-rowcount={total + 1} aria-colcount={dialect.names.length} data-rows={total}>
          <div class="cells head" role="row" aria-rowindex={1}>
            <span role="columnheader" class="at">
              <span class="visually-hidden">Row</span>
            </span>
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
      {printing && total > maxPrinted && <p class="hint">These are the first {count(maxPrinted)} of {count(total)} loaded rows.</p>}
      {dialect.names.length > maxColumns && (
        <p class="hint">
          These are the first {maxColumns} of {count(dialect.names.length)} columns.
        </p>
      )}
    </>
  );
}

/** Column widths for the content of the first rows. They do not change while the user scrolls. */
function columnWidths(rows: Rows, dialect: Dialect, start: number, total: number): string {
  const table = Array.from({ length: Math.min(sample, total) }, (_, i) => rows.cells(start + i, dialect.separator));
  const longest = (column: number) => Math.max(dialect.names[column]!.length, ...table.map((r) => r[column]?.length ?? 0));
  const width = (n: number) => `calc(${Math.min(40, Math.max(5, n + 1))}ch + 20px)`;
  return ["72px", ...dialect.names.slice(0, maxColumns).map((_, i) => width(longest(i))), "minmax(0, 1fr)"].join(" ");
}

// Columns of a table, drawn. What is drawn, and how, is in the address.
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { count, plural } from "../human";
import { setQuery, usePlace } from "../router";
import { Waiting } from "../ui/basics";
import { Chart } from "./chart";
import type { Dialect, Meaning, Rows } from "./csv";
import { Columns, type Drawn, type Series } from "./series";

export interface PlotProps {
  rows: Rows;
  /** What has been loaded so far; another number draws anew. */
  loaded: number;
  dialect: Dialect;
  meanings: Meaning[];
  name: string;
}

/** As many as can be told apart by colour. */
const mostSeries = 6;

/** What the address says, else what is likely meant: time or the first number as X, the next number as Y. */
function chosen(query: URLSearchParams, meanings: Meaning[]): { x: number; ys: number[]; log: string } {
  const drawable = (column: number, also?: Meaning) => meanings[column] === "number" || (also && meanings[column] === also);
  const numbers = meanings.flatMap((m, i) => (m === "number" ? [i] : []));
  const time = meanings.indexOf("time");
  const likely = time >= 0 ? time : numbers.length > 1 ? numbers[0]! : -1;
  const said = query.get("x");
  const x = said === "row" ? -1 : said && drawable(+said - 1, "time") ? +said - 1 : likely;
  const ys = (query.get("y") ?? "").split(".").map((y) => +y - 1).filter((y) => drawable(y)).slice(0, mostSeries);
  const log = query.get("log") ?? "";
  return { x, ys: ys.length || query.has("y") ? ys : numbers.filter((n) => n !== x).slice(0, 1), log };
}

export function Plot({ rows, loaded, dialect, meanings, name }: PlotProps) {
  const { query } = usePlace();
  const { x, ys, log } = chosen(query, meanings);
  const columns = useMemo(() => new Columns(rows, dialect, meanings), [rows, dialect, meanings]);
  const [series, setSeries] = useState<{ of: string; it: Series } | undefined>();
  const [drawn, setDrawn] = useState<Drawn | undefined>();
  const of = `${x}:${ys.join()}`;
  useEffect(() => {
    const control = new AbortController();
    columns.series(x, ys, control.signal).then((it) => setSeries({ of, it }), () => {}); // only ever ended by the next one
    return () => control.abort();
  }, [of, loaded, columns]);
  const isTime = meanings[x] === "time";
  const current = series?.of === of ? series.it : undefined;
  return (
    <div class="plot">
      <Controls x={x} ys={ys} log={log} isTime={isTime} dialect={dialect} meanings={meanings} />
      {!ys.length ? (
        <p class="dim">{meanings.includes("number") ? "Choose a column for Y." : "No column holds numbers, so there is nothing to plot."}</p>
      ) : current ? (
        <>
          <Chart
            series={current}
            names={ys.map((y) => dialect.names[y]!)}
            xLabel={x < 0 ? "row" : dialect.names[x]!}
            isTime={isTime}
            logX={log.includes("x") && !isTime}
            logY={log.includes("y")}
            title={name}
            onDrawn={setDrawn}
          />
          <Honesty series={current} drawn={drawn} logX={log.includes("x") && !isTime} logY={log.includes("y")} isTime={isTime} />
        </>
      ) : (
        <Waiting lines={10} />
      )}
    </div>
  );
}

interface ControlsProps {
  x: number;
  ys: number[];
  log: string;
  isTime: boolean;
  dialect: Dialect;
  meanings: Meaning[];
}

function Controls({ x, ys, log, isTime, dialect, meanings }: ControlsProps) {
  const id = useId();
  const candidates = meanings.flatMap((m, i) => (m === "text" ? [] : [i]));
  const numbers = meanings.flatMap((m, i) => (m === "number" ? [i] : []));
  const setX = (e: Event) => setQuery({ x: (e.currentTarget as HTMLSelectElement).value });
  const toggle = (y: number) => {
    const next = ys.includes(y) ? ys.filter((other) => other !== y) : [...ys, y];
    setQuery({ y: next.map((n) => n + 1).join(".") || "none" });
  };
  const toggleLog = (axis: "x" | "y") => setQuery({ log: log.includes(axis) ? log.replace(axis, "") : log + axis });
  return (
    <div class="plot-controls">
      <fieldset class="columns">
        <legend>Y</legend>
        {numbers.map((y) => (
          <label key={y}>
            <input type="checkbox" checked={ys.includes(y)} disabled={!ys.includes(y) && ys.length >= mostSeries} onChange={() => toggle(y)} />
            {dialect.names[y]}
          </label>
        ))}
      </fieldset>
      <div class="tools">
        <label for={id}>X</label>
        <select id={id} value={x < 0 ? "row" : String(x + 1)} onChange={setX}>
          <option value="row">row number</option>
          {candidates.map((i) => (
            <option key={i} value={String(i + 1)}>
              {dialect.names[i]}
            </option>
          ))}
        </select>
        <label>
          <input type="checkbox" checked={log.includes("y")} onChange={() => toggleLog("y")} />
          Log Y
        </label>
        {!isTime && (
          <label>
            <input type="checkbox" checked={log.includes("x")} onChange={() => toggleLog("x")} />
            Log X
          </label>
        )}
      </div>
    </div>
  );
}

interface HonestyProps {
  series: Series;
  drawn: Drawn | undefined;
  logX: boolean;
  logY: boolean;
  isTime: boolean;
}

/** What the picture leaves out. */
function Honesty({ series, drawn, logX, logY, isTime }: HonestyProps) {
  const notAbove = (values: Float64Array) => values.reduce((n, v) => n + (v <= 0 ? 1 : 0), 0);
  const lost = useMemo(
    () => (logX ? notAbove(series.x) : 0) + (logY ? series.ys.reduce((n, y) => n + notAbove(y), 0) : 0),
    [series, logX, logY],
  );
  const says = [
    drawn?.stretches
      ? `Of the ${count(drawn.rows)} rows in view, the lowest and highest values of each of ${count(drawn.stretches)} stretches are drawn; zoom in to see every row.`
      : "",
    series.without ? `${plural(series.without, "row")} without a value on the X axis ${series.without === 1 ? "is" : "are"} left out.` : "",
    series.ordered ? "" : "The values on the X axis go back and forth, so points are drawn without a line.",
    lost ? `${plural(lost, "value")} not above zero cannot be plotted on a logarithmic axis.` : "",
    isTime ? "Times are in UTC." : "",
  ].filter(Boolean);
  return says.length ? <p class="hint">{says.join(" ")}</p> : null;
}

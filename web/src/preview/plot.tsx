// A plot of columns of a table. The parameters of the address decide which columns, and how.
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { count, plural } from "../format";
import { setQuery, useLocation } from "../router";
import { Skeleton } from "../ui/components";
import { Chart } from "./chart";
import type { ColumnType, Dialect, Rows } from "./csv";
import { Columns, type Drawn, type Series } from "./series";

export interface PlotProps {
  rows: Rows;
  /** The number of loaded rows; the component renders when it changes. */
  loaded: number;
  dialect: Dialect;
  types: ColumnType[];
  name: string;
}

/** Series that are plotted at most, each in its own colour. */
const maxSeries = 6;

/** The columns and axes of the address. By default X is the time or the first number, and Y is the next number. */
function selected(query: URLSearchParams, types: ColumnType[]): { x: number; ys: number[]; log: string } {
  const drawable = (column: number, also?: ColumnType) => types[column] === "number" || (also && types[column] === also);
  const numbers = types.flatMap((m, i) => (m === "number" ? [i] : []));
  const time = types.indexOf("time");
  const defaultX = time >= 0 ? time : numbers.length > 1 ? numbers[0]! : -1;
  const given = query.get("x");
  const x = given === "row" ? -1 : given && drawable(+given - 1, "time") ? +given - 1 : defaultX;
  const ys = (query.get("y") ?? "").split(".").map((y) => +y - 1).filter((y) => drawable(y)).slice(0, maxSeries);
  const log = query.get("log") ?? "";
  return { x, ys: ys.length || query.has("y") ? ys : numbers.filter((n) => n !== x).slice(0, 1), log };
}

export function Plot({ rows, loaded, dialect, types, name }: PlotProps) {
  const { query } = useLocation();
  const { x, ys, log } = selected(query, types);
  const columns = useMemo(() => new Columns(rows, dialect, types), [rows, dialect, types]);
  const [loadedSeries, setLoadedSeries] = useState<{ key: string; series: Series } | undefined>();
  const [drawn, setDrawn] = useState<Drawn | undefined>();
  const key = `${x}:${ys.join()}`;
  useEffect(() => {
    const control = new AbortController();
    columns.series(x, ys, control.signal).then((series) => setLoadedSeries({ key, series }), () => {}); // fails only when it is superseded
    return () => control.abort();
  }, [key, loaded, columns]);
  const isTime = types[x] === "time";
  const current = loadedSeries?.key === key ? loadedSeries.series : undefined;
  return (
    <div class="plot">
      <Controls x={x} ys={ys} log={log} isTime={isTime} dialect={dialect} types={types} />
      {!ys.length ? (
        <p class="dim">{types.includes("number") ? "Select a column for Y." : "No column contains numbers, so there is nothing to plot."}</p>
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
          <PlotNotes series={current} drawn={drawn} logX={log.includes("x") && !isTime} logY={log.includes("y")} isTime={isTime} />
        </>
      ) : (
        <Skeleton lines={10} />
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
  types: ColumnType[];
}

function Controls({ x, ys, log, isTime, dialect, types }: ControlsProps) {
  const id = useId();
  const candidates = types.flatMap((m, i) => (m === "text" ? [] : [i]));
  const numbers = types.flatMap((m, i) => (m === "number" ? [i] : []));
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
            <input type="checkbox" checked={ys.includes(y)} disabled={!ys.includes(y) && ys.length >= maxSeries} onChange={() => toggle(y)} />
            {dialect.names[y]}
          </label>
        ))}
      </fieldset>
      <div class="filters">
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

interface PlotNotesProps {
  series: Series;
  drawn: Drawn | undefined;
  logX: boolean;
  logY: boolean;
  isTime: boolean;
}

/** What the plot leaves out. */
function PlotNotes({ series, drawn, logX, logY, isTime }: PlotNotesProps) {
  const countNotPositive = (values: Float64Array) => values.reduce((n, v) => n + (v <= 0 ? 1 : 0), 0);
  const omitted = useMemo(
    () => (logX ? countNotPositive(series.x) : 0) + (logY ? series.ys.reduce((n, y) => n + countNotPositive(y), 0) : 0),
    [series, logX, logY],
  );
  const notes = [
    drawn?.bins
      ? `The ${count(drawn.rows)} rows in view are drawn as the minimum and maximum of ${count(drawn.bins)} bins; zoom in to see every row.`
      : "",
    series.without ? `${plural(series.without, "row")} without a value on the X axis ${series.without === 1 ? "is" : "are"} left out.` : "",
    series.ordered ? "" : "The values on the X axis are not in order, so points are drawn without a line.",
    omitted ? `${plural(omitted, "value")} not above zero cannot be plotted on a logarithmic axis.` : "",
    isTime ? "Times are in UTC." : "",
  ].filter(Boolean);
  return notes.length ? <p class="hint">{notes.join(" ")}</p> : null;
}

// A plot of table columns. The address of the page contains its settings.
import { useMemo, useState } from "preact/hooks";
import { count, plural } from "../format";
import { ReadError, ShownPart } from "../preview/source";
import { setQuery, useLocation } from "../router";
import { Button, ErrorMessage, Skeleton } from "../ui/components";
import { AddFile } from "./addfile";
import { Chart, type Range } from "./chart";
import { alike, type Choice, maxCurves, readChoice, resolve, writeChoice } from "./choice";
import { Controls, Options } from "./controls";
import { csvOf } from "./csvout";
import { Bars } from "./bars";
import { FitTable, fitsOf, linesOf, Summary } from "./results";
import { saveFile } from "./save";
import type { Drawn, Group } from "./series";
import { maxBins } from "./statistics";
import { type Scanning, useScan } from "./scan";
import { axisOf, maxLoaded, nameAfter, type Shown, type Table, useGroups, useOthers } from "./tables";

export interface PlotProps {
  table: Table;
  /** The set whose files can be added, if it is known. */
  setId?: string | undefined;
}

const noun = (n: number) => (n === 1 ? "is" : "are");

export function Plot({ table, setId }: PlotProps) {
  const { query } = useLocation();
  const choice = useMemo(() => readChoice(query, maxBins), [query.toString()]);
  const change = (to: Partial<Choice>) => setQuery(writeChoice(to, choice), { step: !("view" in to) });
  const others = useOthers(choice.others);
  const own = useMemo(() => resolve(choice.own, table.names, table.types), [choice, table.names, table.types]);
  const shown: Shown[] = [{ table, chosen: own, id: "" }];
  others.forEach(({ id, table: other }, i) => {
    if (!other) return;
    const { x, ys } = choice.others[i]!;
    const chosen = x === undefined && !ys ? alike(own, table.names, other.names) : { ...(x !== undefined && { x }), ...(ys && { ys }) };
    shown.push({ table: other, chosen: resolve(chosen, other.names, other.types), id });
  });
  const named = shown.length > 1;
  const large = choice.whole && choice.bins === undefined && table.text !== undefined && table.text.file.bytes > maxLoaded;
  const scan = useScan(large, table, own, choice, named ? nameAfter(table) : "");
  const read = useGroups(large ? shown.slice(1) : shown, maxCurves - (large ? own.ys.length : 0), named);
  const groups = useMemo(() => (large ? scan.groups && read && [...scan.groups, ...read] : read), [large, scan.groups, read]);
  const curves = shown.reduce((n, s) => n + s.chosen.ys.length, 0);
  return (
    <div class="plot">
      <Controls shown={shown} choice={choice} change={change} full={curves >= maxCurves} />
      <Options choice={choice} change={change} time={axisOf(shown).time} reversed={table.reversed ?? false}>
        {setId && <AddFile setId={setId} shown={shown} add={(id) => change({ others: [...choice.others, { id }] })} />}
      </Options>
      {others.map(
        ({ id, problem }) =>
          problem && (
            <div key={id}>
              <ErrorMessage problem={problem} />
              <Button onClick={() => change({ others: choice.others.filter((o) => o.id !== id) })}>Plot without that file</Button>
            </div>
          ),
      )}
      {large && <Progress scan={scan} />}
      {!curves ? (
        <p class="dim">{shown.some((s) => s.table.types.includes("number")) ? "Select a column for Y." : "No column contains numbers, so there is nothing to plot."}</p>
      ) : !groups ? (
        <Skeleton lines={10} />
      ) : choice.bins !== undefined ? (
        <Bars groups={groups} bins={choice.bins} logY={choice.logY} title={table.name} />
      ) : (
        <Curves groups={groups} shown={shown} choice={choice} change={change} title={table.name} extent={large ? scan.extent : undefined} />
      )}
      <Said problems={[...problemsOf(shown), ...missing(choice, others)]} curves={curves} />
    </div>
  );
}

/** The progress of reading a large table, with a stop button. */
function Progress({ scan }: { scan: Scanning }) {
  if (scan.problem) return <ReadError problem={scan.problem} retry={scan.again} />;
  if (scan.busy || !scan.groups) {
    return (
      <p class="preview-foot">
        <progress max={scan.of || 1} value={scan.read} aria-label="Read" />
        <Button onClick={scan.stop}>Stop</Button>
      </p>
    );
  }
  if (scan.read >= scan.of) return null;
  return (
    <p class="preview-foot" role="status">
      <span class="dim">
        The plot shows <ShownPart shown={scan.read} of={scan.of} />.
      </span>
      <Button onClick={scan.again}>Read all of it</Button>
    </p>
  );
}

const problemsOf = (shown: Shown[]) => shown.flatMap(({ table, chosen, id }) => chosen.problems.map((p) => (id ? `${table.name}: ${p}` : p)));

const missing = (choice: Choice, others: { id: string }[]) => (choice.others.length > others.length ? ["Some files in the address are not shown."] : []);

/** The problems of the address. */
function Said({ problems, curves }: { problems: string[]; curves: number }) {
  const all = [...problems, ...(curves > maxCurves ? [`The first ${maxCurves} of ${count(curves)} columns are shown.`] : [])];
  return all.length ? (
    <p class="hint" role="status">
      {all.join(" ")}
    </p>
  ) : null;
}

interface CurvesProps {
  groups: Group[];
  shown: Shown[];
  choice: Choice;
  change: (to: Partial<Choice>) => void;
  title: string;
  extent: Range | undefined;
}

function Curves({ groups, shown, choice, change, title, extent }: CurvesProps) {
  const [drawn, setDrawn] = useState<{ of: Drawn; range: Range } | undefined>();
  const { time, label } = axisOf(shown);
  const logX = choice.logX && !time;
  const range = drawn?.range ?? [-Infinity, Infinity];
  const fits = useMemo(() => (choice.fit ? fitsOf(groups, choice.view ? range : [-Infinity, Infinity]) : []), [choice.fit, groups, ...range]);
  const lines = useMemo(() => linesOf(fits), [fits]);
  const reversed = choice.flip ?? shown[0]!.table.reversed ?? false;
  const save = () => saveFile(csvOf(groups, range, label, time), "text/csv", `${title.replace(/\.\w+$/, "")}-plot.csv`, "csv");
  return (
    <>
      <Chart
        groups={groups}
        xLabel={label}
        isTime={time}
        logX={logX}
        logY={choice.logY}
        marks={choice.marks}
        reversed={reversed}
        lines={lines}
        title={title}
        {...(extent && { extent })}
        view={choice.view}
        onView={(view) => change({ view })}
        onDrawn={(of, range) => setDrawn({ of, range })}
      >
        <Button kind="quiet" icon="download" onClick={save}>
          CSV
        </Button>
      </Chart>
      <Notes groups={groups} drawn={drawn?.of} logX={logX} logY={choice.logY} time={time} />
      {choice.fit && <FitTable groups={groups} fits={fits} part={!!choice.view} time={time} />}
      {drawn && <Summary groups={groups} range={drawn.range} xLabel={label} time={time} />}
    </>
  );
}

interface NotesProps {
  groups: Group[];
  drawn: Drawn | undefined;
  logX: boolean;
  logY: boolean;
  time: boolean;
}

const countNotPositive = (values: Float64Array) => values.reduce((n, v) => n + (v <= 0 ? 1 : 0), 0);

/** Describes what the plot leaves out. */
function Notes({ groups, drawn, logX, logY, time }: NotesProps) {
  const omitted = useMemo(
    () =>
      groups.reduce((n, { series: { x, ys }, curves, thinned }) => {
        if (thinned) return n + thinned.figures.omitted;
        const values = logY ? curves.reduce((m, c) => m + countNotPositive(ys[c.y]!), 0) : 0;
        return n + values + (logX ? countNotPositive(x) : 0);
      }, 0),
    [groups, logX, logY],
  );
  const without = groups.reduce((n, g) => n + g.series.without, 0);
  const errors = groups.some((g) => g.curves.some((c) => c.error !== undefined));
  const notes = [
    drawn?.bins ? `The ${count(drawn.rows)} rows in view are drawn as the minimum and maximum of ${count(drawn.bins)} bins; zoom in to see every row.` : "",
    drawn?.bins && errors ? "Zoom in to see error bars." : "",
    without ? `${plural(without, "row")} without a value on the X axis ${noun(without)} left out.` : "",
    groups.every((g) => g.series.ordered) ? "" : "The values on the X axis are not in order, so points are drawn without a line.",
    omitted ? `${plural(omitted, "value")} not above zero cannot be plotted on a logarithmic axis.` : "",
    time ? "Times are in UTC." : "",
  ].filter(Boolean);
  return notes.length ? <p class="hint">{notes.join(" ")}</p> : null;
}

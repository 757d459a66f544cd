// CSV and its like: as a table, or plotted. Parts are fetched as somebody scrolls to them.
import type { ComponentType } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Problem, Resource } from "../api";
import { plural, size } from "../human";
import { setQuery, usePlace } from "../router";
import { Button, Failed, Waiting } from "../ui/basics";
import { asProblem } from "../ui/load";
import { Choice, oneOf } from "../ui/state";
import { detect, meanings, Rows, type Separator } from "./csv";
import { Grid } from "./grid";
import type { PlotProps } from "./plot";
import type { ViewerProps } from "./preview";
import { isBinary, kB, MB, Part, Source, Unread, useControl } from "./source";
import { TextView } from "./text";

const first = 64 * kB;
const step = 256 * kB;

/** Of a larger file, only so much is loaded. */
const bound = 64 * MB;

/** A plot of up to this size takes the whole file without asking. */
const small = 4 * MB;

const bySign = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar" } as const;

const views = ["table", "plot", "text"] as const;

interface Loading {
  rows: Rows;
  source: Source;
  problem: Problem | undefined;
  busy: boolean;
  /** All that may be loaded has been. */
  full: boolean;
  /** Fetches the next part. */
  more: () => Promise<void>;
  /** Fetches everything, as far as that is allowed; stop ends it. */
  all: () => Promise<void>;
  stop: () => void;
  text: boolean;
}

function useRows(resource: Resource): Loading {
  const state = useRef<{ rows: Rows; source: Source; busy: boolean; stopped: boolean; text: boolean } | undefined>(undefined);
  state.current ??= { rows: new Rows(), source: new Source(resource), busy: false, stopped: false, text: true };
  const it = state.current;
  const control = useControl();
  const [problem, setProblem] = useState<Problem | undefined>();
  const [, draw] = useState(0);
  const full = () => it.source.ended || it.source.read >= bound;

  const load = async (lengths: () => number | undefined) => {
    if (it.busy) return;
    it.busy = true;
    it.stopped = false;
    setProblem(undefined);
    try {
      for (let length = lengths(); length && !full() && !it.stopped; length = lengths()) {
        const opening = !it.source.read;
        const part = await it.source.next(Math.min(length, bound - it.source.read), control.signal);
        if (opening) it.text = it.source.encoding.startsWith("UTF-16") || !isBinary(part);
        it.rows.append(part, it.source.ended);
        draw((n) => n + 1);
      }
    } catch (thrown) {
      if (!control.signal.aborted) setProblem(asProblem(thrown));
    } finally {
      it.busy = false;
      if (!control.signal.aborted) draw((n) => n + 1);
    }
  };
  const once = (length: number): (() => number | undefined) => {
    let left = 1;
    return () => (left-- > 0 ? length : undefined);
  };
  const begin = resource.bytes <= step ? step : first;
  useEffect(() => void load(once(begin)), []);
  return {
    rows: it.rows,
    source: it.source,
    text: it.text,
    problem,
    busy: it.busy,
    full: full(),
    more: () => load(once(it.source.read ? step : begin)),
    all: () => load(() => 4 * MB),
    stop: () => void (it.stopped = true),
  };
}

export function TablePreview({ resource }: ViewerProps) {
  const loading = useRows(resource);
  const { rows, source, problem, more } = loading;
  const { query } = usePlace();
  const separator = (["\t", ";", "|", ","] as const).find((s) => bySign[s] === query.get("separator")) as Separator | undefined;
  const header = query.get("names") ? query.get("names") === "first" : undefined;
  const sampled = Math.min(rows.count, 400); // how it is written does not change with what follows
  const dialect = useMemo(() => detect(rows, { separator, header }), [sampled, separator, header]);
  const means = useMemo(() => meanings(rows, dialect), [dialect]);
  const view = oneOf(query, "view", views);
  const plotted = view === "plot";

  if (!source.read) return problem ? <Unread problem={problem} retry={more} /> : <Waiting lines={10} />;
  if (!loading.text || !rows.count) return <TextView resource={resource} why="This is no table that can be read." />;
  const total = rows.count - dialect.notes - (dialect.header ? 1 : 0);
  return (
    <>
      <div class="preview-tools">
        <div class="either" role="group" aria-label="Show as">
          {views.map((v) => (
            <Button key={v} kind="quiet" aria-pressed={v === view} onClick={() => setQuery({ view: v === "table" ? "" : v })}>
              {v[0]!.toUpperCase() + v.slice(1)}
            </Button>
          ))}
        </div>
        <span class="dim" role="status">
          {plural(total, "row")}
          {source.ended ? "" : " so far"} · {plural(dialect.names.length, "column")}
          {source.encoding === "UTF-8" ? "" : ` · ${source.encoding}`}
        </span>
        <details class="import">
          <summary>Import options</summary>
          <Choice
            label="Separator"
            name="separator"
            options={[["detected", `detected: ${bySign[dialect.separator]}`], ...Object.values(bySign).map((s) => [s, s] as const)]}
          />
          <Choice
            label="First row"
            name="names"
            options={[
              ["detected", `detected: ${dialect.header ? "names" : "values"}`],
              ["first", "names"],
              ["none", "values"],
            ]}
          />
        </details>
      </div>
      {view !== "text" && dialect.notes > 0 && <Notes rows={rows} notes={dialect.notes} />}
      {view === "text" ? (
        <TextView resource={resource} />
      ) : plotted ? (
        <Plotted rows={rows} loaded={rows.count} dialect={dialect} meanings={means} name={resource.name} loading={loading} />
      ) : (
        <Grid key={`${separator}${header}`} rows={rows} loaded={rows.count} dialect={dialect} meanings={means} onEnd={() => void (problem || more())} />
      )}
      {view !== "text" && <Rest loading={loading} plotted={plotted} />}
    </>
  );
}

function Notes({ rows, notes }: { rows: Rows; notes: number }) {
  return (
    <details class="notes">
      <summary>{plural(notes, "line")} before the table</summary>
      <pre>{Array.from({ length: Math.min(notes, 50) }, (_, i) => rows.line(i)).join("\n")}</pre>
    </details>
  );
}

/** How much of the file has been loaded, and a way to the rest. */
function Rest({ loading, plotted }: { loading: Loading; plotted: boolean }) {
  const { source, problem, busy, full, more, all, stop } = loading;
  if (problem) return <Unread problem={problem} retry={more} />;
  if (source.ended) return null;
  if (plotted && busy) {
    return (
      <p class="preview-foot">
        <progress max={Math.min(source.bytes, bound)} value={source.read} aria-label="Loaded" />
        <Button onClick={stop}>Stop</Button>
      </p>
    );
  }
  return (
    <p class="preview-foot" role="status">
      <span class="dim">
        {plotted ? "Plotted is " : "Loaded is "}
        <Part shown={source.read} of={source.bytes} />
        {full ? "; download the file for the rest." : plotted ? "." : "; more follows as you scroll."}
      </span>
      {plotted && !full && <Button onClick={all}>{source.bytes <= bound ? `Load all ${size(source.bytes)}` : `Load the first ${size(bound)}`}</Button>}
    </p>
  );
}

/** The plot, whose script is fetched when somebody wants one. */
function Plotted({ loading, ...props }: PlotProps & { loading: Loading }) {
  const [Plot, setPlot] = useState<{ it: ComponentType<PlotProps> } | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const fetchPlot = () => {
    setProblem(undefined);
    import("./plot").then((m) => setPlot({ it: m.Plot }), (thrown) => setProblem(asProblem(thrown)));
  };
  useEffect(() => {
    fetchPlot();
    if (loading.source.bytes <= small) void loading.all();
  }, []);
  if (problem) return <Failed problem={problem} retry={fetchPlot} />;
  if (!Plot) return <Waiting lines={10} />;
  return <Plot.it {...props} />;
}

// CSV and similar formats, as a table or a plot. Chunks are fetched as the user scrolls.
import type { ComponentType } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Problem, StoredFile } from "../api";
import { plural, size } from "../format";
import { setQuery, useLocation } from "../router";
import { Button, ErrorMessage, Skeleton, ViewSwitch } from "../ui/components";
import { Choice, oneOf } from "../ui/filters";
import { asProblem } from "../ui/load";
import type { PlotProps } from "../plot/plot";
import { maxAutoLoad, maxLoaded as bound, useTextTable } from "../plot/tables";
import { columnTypes, detect, Rows, type Separator, typeSample } from "./csv";
import { EncodingChoice, useChosenEncoding } from "./encodingchoice";
import { Grid } from "./grid";
import type { ViewerProps } from "./props";
import { kB, MB, ReadError, ShownPart, Source, useAbortController } from "./source";
import { TextView } from "./text";

const first = 64 * kB;
const step = 256 * kB;

const separatorNames = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "spaces" } as const;

const views = ["table", "plot", "text"] as const;

interface Loading {
  rows: Rows;
  source: Source;
  problem: Problem | undefined;
  busy: boolean;
  /** Whether all bytes are loaded, or as many as the limit allows. */
  full: boolean;
  /** Fetches the next chunk. */
  more: () => Promise<void>;
  /** Fetches everything up to the bound; stop cancels it. */
  all: () => Promise<void>;
  stop: () => void;
  text: boolean;
}

function useRows(file: StoredFile, encoding: string | undefined): Loading {
  const state = useRef<{ rows: Rows; source: Source; busy: boolean; stopped: boolean; text: boolean } | undefined>(undefined);
  state.current ??= { rows: new Rows(), source: new Source(file, encoding), busy: false, stopped: false, text: true };
  const loading = state.current;
  const control = useAbortController();
  const [problem, setProblem] = useState<Problem | undefined>();
  const [, render] = useState(0);
  const full = () => loading.source.ended || loading.source.read >= bound;

  /** Fetches one chunk; with `all`, chunks until the end, the bound or a stop. */
  const load = async (length: number, all = false) => {
    if (loading.busy) return;
    loading.busy = true;
    loading.stopped = false;
    setProblem(undefined);
    try {
      for (let chunks = 0; (all || !chunks) && !full() && !loading.stopped; chunks++) {
        const opening = !loading.source.read;
        const chunk = await loading.source.next(Math.min(length, bound - loading.source.read), control.signal);
        if (opening) loading.text = loading.source.isText(chunk);
        loading.rows.append(chunk, loading.source.ended);
        render((n) => n + 1);
      }
    } catch (thrown) {
      if (!control.signal.aborted) setProblem(asProblem(thrown));
    } finally {
      loading.busy = false;
      if (!control.signal.aborted) render((n) => n + 1);
    }
  };
  const begin = file.bytes <= step ? step : first;
  useEffect(() => void load(begin), []);
  return {
    rows: loading.rows,
    source: loading.source,
    text: loading.text,
    problem,
    busy: loading.busy,
    full: full(),
    more: () => load(loading.source.read ? step : begin),
    all: () => load(4 * MB, true),
    stop: () => void (loading.stopped = true),
  };
}

export function TablePreview({ file }: ViewerProps) {
  const encoding = useChosenEncoding();
  const used = useRef(false);
  return <TableOf key={encoding} file={file} encoding={encoding} used={used} />;
}

function TableOf({ file, encoding, used }: { file: StoredFile; encoding: string | undefined; used: { current: boolean } }) {
  const loading = useRows(file, encoding);
  const { rows, source, problem, more } = loading;
  const { query } = useLocation();
  const separator = (["\t", ";", "|", ",", " "] as const).find((s) => separatorNames[s] === query.get("separator")) as Separator | undefined;
  const header = query.get("names") ? query.get("names") === "first" : undefined;
  const sampled = Math.min(rows.count, 400); // later rows do not change the dialect
  const dialect = useMemo(() => detect(rows, { separator, header }), [sampled, separator, header]);
  const types = useMemo(() => columnTypes(rows, dialect), [dialect, Math.min(rows.count, typeSample)]);
  const table = useTextTable(file, rows, rows.count, dialect, types, source);
  const view = oneOf(query, "view", views);
  const plotted = view === "plot";

  if (!source.read) return problem ? <ReadError problem={problem} retry={more} /> : <Skeleton lines={10} />;
  const isTable = rows.count > 0 && (dialect.names.length > 1 || types.includes("number") || !/\.(dat|xvg|xy|asc)$/i.test(file.filename || file.name));
  if (!loading.text || !isTable) return <TextView file={file} why="This is not a valid table." />;
  const total = rows.count - dialect.notes - (dialect.header ? 1 : 0);
  return (
    <>
      <div class="preview-tools">
        <ViewSwitch views={views} view={view} onChange={(v) => setQuery({ view: v === "table" ? "" : v })} />
        <span class="dim" role="status">
          {plural(total, "row")}
          {source.ended ? "" : " so far"} · {plural(dialect.names.length, "column")}
          {source.encoding === "UTF-8" ? "" : ` · ${source.encoding}`}
        </span>
        <details class="import" open={used.current}>
          <summary>Import options</summary>
          <Choice
            label="Separator"
            name="separator"
            options={[["detected", `detected: ${separatorNames[dialect.separator]}`], ...Object.values(separatorNames).map((s) => [s, s] as const)]}
          />
          <EncodingChoice detected={source.encoding} used={used} />
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
        <TextView file={file} />
      ) : plotted ? (
        <LazyPlot table={table} setId={"setId" in file && !file.content ? (file.setId as string) : undefined} loading={loading} />
      ) : (
        <Grid key={`${separator}${header}`} rows={rows} loaded={rows.count} dialect={dialect} types={types} onEnd={() => void (problem || more())} />
      )}
      {view !== "text" && <LoadMore loading={loading} plotted={plotted} />}
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

/** How much of the file is loaded, and the controls that load more. */
function LoadMore({ loading, plotted }: { loading: Loading; plotted: boolean }) {
  const { source, problem, busy, full, more, all, stop } = loading;
  const { query } = useLocation();
  const isLarge = source.bytes > bound;
  // the plot shows its own progress
  if (plotted && isLarge && query.get("whole") === "1" && !query.get("bins")) return null;
  if (problem) return <ReadError problem={problem} retry={more} />;
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
        {plotted ? "The plot shows " : "Loaded: "}
        <ShownPart shown={source.read} of={source.bytes} />
        {full && !(plotted && isLarge) ? "; download the file for the rest." : plotted ? "." : "; more is loaded as you scroll."}
      </span>
      {plotted && isLarge && !query.get("bins") && <Button onClick={() => setQuery({ whole: "1" }, { step: true })}>Plot all {size(source.bytes)}</Button>}
      {plotted && !full && (!isLarge || query.get("bins")) && (
        <Button onClick={() => (setQuery({ whole: "1" }), void all())}>{isLarge ? `Load the first ${size(bound)}` : `Load all ${size(source.bytes)}`}</Button>
      )}
    </p>
  );
}

/** The plot. Its script is loaded on demand. */
function LazyPlot({ loading, ...props }: PlotProps & { loading: Loading }) {
  const [Plot, setPlot] = useState<{ it: ComponentType<PlotProps> } | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const loadScript = () => {
    setProblem(undefined);
    import("../plot/plot").then((m) => setPlot({ it: m.Plot }), (thrown) => setProblem(asProblem(thrown)));
  };
  useEffect(() => {
    loadScript();
    const { bytes } = loading.source;
    if (bytes <= maxAutoLoad || (bytes <= bound && new URLSearchParams(location.search).get("whole") === "1")) void loading.all();
  }, []);
  if (problem) return <ErrorMessage problem={problem} retry={loadScript} />;
  if (!Plot) return <Skeleton lines={10} />;
  return <Plot.it {...props} />;
}

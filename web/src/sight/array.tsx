// An array as a picture, a table or a line: a slice with at most two dimensions, which the address names.
import { useMemo, useState } from "preact/hooks";
import { count } from "../format";
import { Chart } from "../plot/chart";
import type { Group } from "../plot/series";
import { setQuery, useLocation } from "../router";
import { Button, ErrorMessage, Skeleton, ViewSwitch } from "../ui/components";
import { useAnswer } from "./answers";
import type { Decoder } from "./decoder";
import type { Item, Part, Raster, Selection } from "./messages";
import { Picture } from "./picture";
import { isText, numbersOf, textOf } from "./values";

interface Props {
  decoder: Decoder;
  item: Item;
  name: string;
}

const views = ["picture", "line", "table"] as const;
type View = (typeof views)[number];

/** Pixels of a side, points of a line, and rows and columns of a table that are shown at most. */
const mostPixels = 2048;
const mostPoints = 200_000;
const tableRows = 50;
const tableColumns = 20;

/** What is shown of an array: an index of each dimension, and the dimensions of rows and columns. */
interface Slice {
  fixed: number[];
  rows: number;
  columns: number;
}

/** The views that suit an array: text has no picture. */
function viewsOf({ shape = [], columns, about }: Item): View[] {
  if (/^text/.test(about) || !shape.length) return ["table"];
  if (columns) return ["table", "line"];
  return shape.length === 1 || shape.at(-1) === 1 ? ["line", "table"] : [...views];
}

const numbersIn = (text: string | null) => (text ? text.split(".").map(Number) : []);

/** The slice of the address; by default the last two dimensions at the first index of the others. */
function sliceOf(query: URLSearchParams, shape: number[], view: View): Slice {
  const given = numbersIn(query.get("slice"));
  const fixed = shape.map((n, i) => Math.min(n - 1, Math.max(0, Math.floor(given[i] ?? 0) || 0)));
  const axes = numbersIn(query.get("axes"));
  const isAxis = (n: number | undefined) => n !== undefined && Number.isInteger(n) && n >= 0 && n < shape.length;
  const columns = isAxis(axes[1]) ? axes[1]! : view === "line" && isTable(shape) ? shape.length - 2 : shape.length - 1;
  if (view === "line") return { fixed, rows: -1, columns };
  if (shape.length < 2) return { fixed, rows: view === "table" ? columns : -1, columns: view === "table" ? -1 : columns };
  const rows = isAxis(axes[0]) && axes[0] !== columns ? axes[0]! : shape.length - 2 === columns ? shape.length - 1 : shape.length - 2;
  return { fixed, rows, columns };
}

/** A few columns with many rows: a line goes along the rows. */
const isTable = (shape: number[]) => shape.length > 1 && shape.at(-1)! <= 64 && shape.at(-1)! < shape.at(-2)!;

export function ArrayView({ decoder, item, name }: Props) {
  const { query } = useLocation();
  const offered = viewsOf(item);
  const view = offered.find((v) => v === query.get("view")) ?? offered[0]!;
  const shape = item.shape!;
  const slice = sliceOf(query, shape, view);
  if (shape.includes(0)) return <p class="hint">This array has no values.</p>;
  return (
    <>
      <div class="preview-tools">
        <ViewSwitch views={offered} view={view} onChange={(v) => setQuery({ view: v === offered[0] ? "" : v, axes: "" })} />
        <span class="dim">{shape.map(count).join(" × ")}</span>
      </div>
      <Indices item={item} slice={slice} view={view} />
      {view === "picture" ? (
        <PictureOf {...{ decoder, item, name, slice }} />
      ) : view === "line" ? (
        <LineOf {...{ decoder, item, name, slice }} />
      ) : (
        <TableOf {...{ decoder, item, name, slice }} />
      )}
    </>
  );
}

const labelOf = (item: Item, dimension: number) => item.dimensions?.[dimension] ?? `dimension ${dimension + 1}`;

/** An index for each dimension that is not shown, and which ones are. */
function Indices({ item, slice, view }: { item: Item; slice: Slice; view: View }) {
  const shape = item.shape!;
  const { fixed, rows, columns } = slice;
  if (shape.length < 2) return null;
  const set = (dimension: number, to: number) => setQuery({ slice: fixed.map((n, i) => (i === dimension ? Math.min(shape[i]! - 1, Math.max(0, to || 0)) : n)).join(".") });
  const setAxes = (r: number, c: number) => setQuery({ axes: `${r}.${c}` });
  const options = shape.map((_, i) => (
    <option key={i} value={i}>
      {labelOf(item, i)}
    </option>
  ));
  const hasColumns = item.columns !== undefined;
  return (
    <div class="filters slices">
      {view === "line" && !hasColumns && (
        <label>
          Along
          <select value={columns} onChange={(e) => setAxes(0, Number(e.currentTarget.value))}>
            {options}
          </select>
        </label>
      )}
      {view !== "line" && shape.length > 2 && (
        <>
          <label>
            Rows
            <select value={rows} onChange={(e) => setAxes(Number(e.currentTarget.value), Number(e.currentTarget.value) === columns ? rows : columns)}>
              {options}
            </select>
          </label>
          <label>
            Columns
            <select value={columns} onChange={(e) => setAxes(Number(e.currentTarget.value) === rows ? columns : rows, Number(e.currentTarget.value))}>
              {options}
            </select>
          </label>
        </>
      )}
      {shape.map((n, i) =>
        i === rows || i === columns ? null : hasColumns && i === shape.length - 1 ? (
          <label key={i}>
            Column
            <select value={fixed[i]} onChange={(e) => set(i, Number(e.currentTarget.value))}>
              {item.columns!.map((c, at) => (
                <option key={at} value={at}>
                  {c}
                </option>
              ))}
            </select>
          </label>
        ) : (
          <label key={i}>
            {labelOf(item, i)}
            <input type="number" min={0} max={n - 1} value={fixed[i]} onChange={(e) => set(i, Math.floor(Number(e.currentTarget.value)))} />
            <span class="dim">of {count(n)}</span>
          </label>
        ),
      )}
    </div>
  );
}

type ViewProps = Props & { slice: Slice };

const lengthOf = ({ shape }: Item, dimension: number) => (dimension < 0 ? 1 : shape![dimension]!);

function PictureOf({ decoder, item, name, slice }: ViewProps) {
  const [height, width] = [lengthOf(item, slice.rows), lengthOf(item, slice.columns)];
  const selection: Selection = { id: item.id!, ...slice, from: [0, 0], count: [height, width], most: [mostPixels, mostPixels] };
  const { answer, problem, busy } = useAnswer(decoder, "slice", selection);
  const raster = useMemo<Raster | undefined>(
    () => answer && { width: answer.width, height: answer.height, channels: 1, values: numbersOf(answer), step: answer.step, upwards: item.upwards ?? false },
    [answer],
  );
  if (problem) return <ErrorMessage problem={problem} />;
  if (!raster || !answer) return <Skeleton lines={10} />;
  return (
    <div class={busy ? "busy" : ""} aria-busy={busy}>
      <Picture raster={raster} name={name} about={`${count(height)} rows, ${count(width)} columns; row 0 is at the ${item.upwards ? "bottom" : "top"}`} />
    </div>
  );
}

function LineOf({ decoder, item, name, slice }: ViewProps) {
  const length = lengthOf(item, slice.columns);
  const selection: Selection = { id: item.id!, ...slice, from: [0, 0], count: [1, length], most: [1, mostPoints] };
  const { answer, problem } = useAnswer(decoder, "slice", selection);
  const label = item.columns?.[slice.fixed.at(-1)!] ?? item.name;
  const groups = useMemo(() => answer && groupsOf(answer, label), [answer, label]);
  if (problem) return <ErrorMessage problem={problem} />;
  if (!groups || !answer) return <Skeleton lines={10} />;
  if (groups[0]!.series.ys[0]!.every(Number.isNaN)) return <p class="hint">There are no numbers here.</p>;
  return (
    <>
      <Chart groups={groups} xLabel={item.columns ? "row" : labelOf(item, slice.columns)} title={name} />
      {answer.step[1] > 1 && <p class="hint">One value in {count(answer.step[1])} is drawn.</p>}
      {answer.width * answer.step[1] < length && <p class="hint">These are the first {count(answer.width * answer.step[1])} of {count(length)} values.</p>}
    </>
  );
}

function groupsOf(part: Part, name: string): Group[] {
  const y = Float64Array.from(numbersOf(part));
  return [{ series: { x: Float64Array.from(y, (_, i) => i * part.step[1]), ys: [y], ordered: true, without: 0 }, curves: [{ name, y: 0 }] }];
}

/** Rows and columns of an array as text, some at a time. */
export function TableOf({ decoder, item, name, slice }: ViewProps) {
  const [from, setFrom] = useState<[number, number]>([0, 0]);
  const [height, width] = [lengthOf(item, slice.rows), lengthOf(item, slice.columns)];
  const at: [number, number] = [Math.min(from[0], height - 1), Math.min(from[1], width - 1)];
  const most: [number, number] = [tableRows, tableColumns];
  const { answer, problem } = useAnswer(decoder, "slice", { id: item.id!, ...slice, from: at, count: [Math.min(tableRows, height - at[0]), tableColumns], most });
  if (problem) return <ErrorMessage problem={problem} />;
  if (!answer) return <Skeleton lines={10} />;
  const columnName = (c: number) => item.columns?.[at[1] + c] ?? (slice.columns < 0 ? "value" : count(at[1] + c));
  const text = isText(answer.values);
  return (
    <>
      <div class="wide sheet-table" tabIndex={0} role="region" aria-label={name}>
        <table>
          <thead>
            <tr>
              <th scope="col" class="at">
                <span class="dim">row</span>
              </th>
              {Array.from({ length: answer.width }, (_, c) => (
                <th scope="col" key={c} class={text ? "" : "number"}>
                  {columnName(c)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: answer.height }, (_, r) => (
              <tr key={r}>
                <th scope="row" class="at">
                  {count(at[0] + r)}
                </th>
                {Array.from({ length: answer.width }, (_, c) => (
                  <Cell key={c} text={textOf(answer.values, r * answer.width + c)} kind={text ? "" : "number"} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="preview-foot">
        <Steps what="rows" at={at[0]} step={tableRows} of={height} go={(r) => setFrom([r, at[1]])} />
        <Steps what="columns" at={at[1]} step={tableColumns} of={width} go={(c) => setFrom([at[0], c])} />
      </p>
    </>
  );
}

/** Characters of a cell that are shown before the pointer rests on it. */
const shortCell = 300;

const Cell = ({ text, kind }: { text: string; kind: string }) =>
  text.length > shortCell ? (
    <td class={kind} title={text}>
      {text.slice(0, shortCell)}…
    </td>
  ) : (
    <td class={kind}>{text}</td>
  );

/** Which rows or columns are shown, and controls that show others. */
export function Steps({ what, at, step, of, go }: { what: string; at: number; step: number; of: number; go: (to: number) => void }) {
  if (of <= step) return null;
  const clipped = (to: number) => go(Math.max(0, Math.min(of - 1, to)));
  return (
    <span class="filters" role="group" aria-label={what}>
      <Button kind="quiet" disabled={at === 0} onClick={() => clipped(at - step)}>
        Previous
      </Button>
      <label>
        {what} from
        <input type="number" min={0} max={of - 1} value={at} onChange={(e) => clipped(Math.floor(Number(e.currentTarget.value)) || 0)} />
      </label>
      <span class="dim num">
        to {count(Math.min(of, at + step) - 1)} of {count(of)}
      </span>
      <Button kind="quiet" disabled={at + step >= of} onClick={() => clipped(at + step)}>
        Next
      </Button>
    </span>
  );
}

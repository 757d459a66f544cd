// An array as a picture, a table or a line: a slice with at most two dimensions, selected by the
// address.
import { useMemo, useState } from "preact/hooks";
import { count } from "../format";
import { cell } from "../plot/csvout";
import { saveFile } from "../plot/save";
import { setQuery, useLocation } from "../router";
import { Button, ErrorMessage, Skeleton, ViewSwitch } from "../ui/components";
import { useAnswer } from "./answers";
import { type Axis, isUpwards, useAxis } from "./axis";
import type { Decoder } from "./decoder";
import { LinesOf } from "./lines";
import type { Item, Raster, Selection } from "./messages";
import { Picture } from "./picture";
import { labelOf, lengthOf, type Slice, sliceOf, type View, viewsOf } from "./slice";
import { isText, named, numbersOf, savedTitle, shownText, withUnit } from "./values";

interface Props {
  decoder: Decoder;
  item: Item;
  /** All items of the file; some are coordinates of others. */
  items: Item[];
  name: string;
}

/** Limits: pixels of a side, and rows and columns of a table. */
const mostPixels = 2048;
const tableRows = 50;
const tableColumns = 20;

export function ArrayView({ decoder, item, items, name }: Props) {
  const { query } = useLocation();
  const offered = viewsOf(item);
  const view = offered.find((v) => v === query.get("view")) ?? offered[0]!;
  const shape = item.shape!;
  const slice = sliceOf(query, item, view);
  const stored = query.get("stored") === "1";
  if (shape.includes(0)) return <p class="hint">This array has no values.</p>;
  const shown = { decoder, item, items, name, slice, stored };
  return (
    <>
      <div class="preview-tools">
        <ViewSwitch views={offered} view={view} onChange={(v) => setQuery({ view: v === offered[0] ? "" : v, axes: "" })} />
        {(item.packed || item.time || item.axes?.some((id) => id !== undefined && id !== item.id)) && (
          <label>
            <input type="checkbox" checked={stored} onChange={() => setQuery({ stored: stored ? "" : "1" })} />
            As stored
          </label>
        )}
        <span class="dim">{shape.map(count).join(" × ")}</span>
      </div>
      {item.packed && !stored && <p class="hint">{item.packed}</p>}
      <Indices {...shown} view={view} />
      {view === "picture" ? <PictureOf {...shown} /> : view === "line" ? <LinesOf {...shown} /> : <TableOf {...shown} />}
    </>
  );
}

/** The index of each hidden dimension, and the selection of the shown ones. */
function Indices({ decoder, item, items = [], slice, stored = false, view }: ViewProps & { view: View }) {
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
        i === columns || (i === rows && view !== "line") ? null : hasColumns && i === shape.length - 1 ? (
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
            {i === rows && " from"}
            <input type="number" min={0} max={n - 1} value={fixed[i]} onChange={(e) => set(i, Math.floor(Number(e.currentTarget.value)))} />
            <span class="dim">
              of {count(n)}
              <Place {...{ decoder, item, items, stored }} dimension={i} at={fixed[i]!} />
            </span>
          </label>
        ),
      )}
    </div>
  );
}

/** The coordinate at an index. */
function Place({ decoder, item, items, stored, dimension, at }: { decoder: Decoder; item: Item; items: Item[]; stored: boolean; dimension: number; at: number }) {
  const axis = useAxis(decoder, item, items, dimension, stored);
  const text = axis?.text(at);
  return text === undefined ? null : <>: {withUnit(text, axis!.item)}</>;
}

type ViewProps = Omit<Props, "items"> & { items?: Item[]; slice: Slice; stored?: boolean };

function PictureOf({ decoder, item, items = [], name, slice, stored = false }: ViewProps) {
  const [height, width] = [lengthOf(item, slice.rows), lengthOf(item, slice.columns)];
  const selection: Selection = { id: item.id!, ...slice, from: [0, 0], count: [height, width], most: [mostPixels, mostPixels], stored };
  const { answer, problem, busy } = useAnswer(decoder, "slice", selection);
  const [down, across] = [useAxis(decoder, item, items, slice.rows, stored), useAxis(decoder, item, items, slice.columns, stored)];
  const upwards = item.upwards ?? (down !== undefined && isUpwards(down));
  const raster = useMemo<Raster | undefined>(
    () => answer && { width: answer.width, height: answer.height, channels: 1, values: numbersOf(answer), step: answer.step, upwards, masked: answer.masked ?? false },
    [answer, upwards],
  );
  if (problem) return <ErrorMessage problem={problem} />;
  if (!raster || !answer) return <Skeleton lines={10} />;
  const at = (axis: Axis | undefined, index: number) => {
    const text = axis?.text(index);
    return text === undefined ? [] : [`${axis!.item.name} ${withUnit(text, axis!.item)}`];
  };
  const places = (row: number, column: number) => [...at(down, row), ...at(across, column)].join(", ");
  return (
    <div class={busy ? "busy" : ""} aria-busy={busy}>
      <Picture
        raster={raster}
        name={name}
        about={`${count(height)} rows, ${count(width)} columns; row 0 is at the ${upwards ? "bottom" : "top"}`}
        unit={stored || item.time ? undefined : item.unit}
        places={places}
      />
    </div>
  );
}

/** Rows and columns of an array as text, in pages. */
export function TableOf({ decoder, item, items = [], name, slice, stored = false }: ViewProps) {
  const [from, setFrom] = useState<[number, number]>([0, 0]);
  const [height, width] = [lengthOf(item, slice.rows), lengthOf(item, slice.columns)];
  const at: [number, number] = [Math.min(from[0], height - 1), Math.min(from[1], width - 1)];
  const most: [number, number] = [tableRows, tableColumns];
  const { answer, problem } = useAnswer(decoder, "slice", { id: item.id!, ...slice, from: at, count: [Math.min(tableRows, height - at[0]), tableColumns], most, stored });
  const [down, across] = [useAxis(decoder, item, items, slice.rows, stored), useAxis(decoder, item, items, slice.columns, stored)];
  if (problem) return <ErrorMessage problem={problem} />;
  if (!answer) return <Skeleton lines={10} />;
  const columnName = (c: number) => item.columns?.[at[1] + c] ?? (slice.columns < 0 ? named("value", stored ? { name: "", about: "" } : item) : across?.text(at[1] + c) ?? count(at[1] + c));
  const text = isText(answer.values) && !answer.masked;
  const cells = (row: number) => Array.from({ length: answer.width }, (_, c) => shownText(item, answer, row * answer.width + c, stored));
  const csv = () => {
    const rows = Array.from({ length: answer.height }, (_, r) => [down?.text(at[0] + r) ?? String(at[0] + r), ...cells(r).map((t) => (answer.masked && t === "missing" ? "" : t))]);
    const head = [down?.label ?? "row", ...Array.from({ length: answer.width }, (_, c) => columnName(c))];
    saveFile(`${[head, ...rows].map((row) => row.map(text ? cell : (t) => (Number.isNaN(Number(t)) ? cell(t) : t)).join(",")).join("\n")}\n`, "text/csv", savedTitle(name), "csv");
  };
  return (
    <>
      <div class="wide sheet-table" tabIndex={0} role="region" aria-label={name}>
        <table>
          <thead>
            <tr>
              <th scope="col" class="at">
                <span class="dim">{down?.label ?? "row"}</span>
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
                  {down?.text(at[0] + r) ?? count(at[0] + r)}
                </th>
                {cells(r).map((value, c) => (
                  <Cell key={c} text={value} kind={text ? "" : "number"} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="preview-foot">
        <Steps what="rows" at={at[0]} step={tableRows} of={height} go={(r) => setFrom([r, at[1]])} />
        <Steps what="columns" at={at[1]} step={tableColumns} of={width} go={(c) => setFrom([at[0], c])} />
        <Button kind="quiet" icon="download" onClick={csv}>
          CSV of this part
        </Button>
      </p>
    </>
  );
}

/** The number of characters of a cell that are shown without hovering. */
const shortCell = 300;

const Cell = ({ text, kind }: { text: string; kind: string }) =>
  text.length > shortCell ? (
    <td class={kind} title={text}>
      {text.slice(0, shortCell)}…
    </td>
  ) : (
    <td class={kind}>{text}</td>
  );

/** The range of shown rows or columns, and controls that change it. */
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

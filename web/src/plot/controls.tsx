// The controls of a plot: the columns of each table, and how they are drawn.
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Button } from "../ui/components";
import { type Choice, marks, proposedError, type Y } from "./choice";
import { Swatch } from "./results";
import type { Shown } from "./tables";

interface ControlsProps {
  shown: Shown[];
  choice: Choice;
  change: (to: Partial<Choice>) => void;
  /** Whether the limit of plotted columns is reached. */
  full: boolean;
}

export function Controls({ shown, choice, change, full }: ControlsProps) {
  let before = 0;
  return (
    <>
      {shown.map((one, i) => {
        const set = (to: { x?: number; ys?: Y[] }) => {
          const now = { x: one.chosen.x, ys: one.chosen.ys, ...to };
          if (!one.id) return change({ own: to.ys ? now : { x: now.x } });
          change({ others: choice.others.map((o) => (o.id === one.id ? { id: o.id, ...now } : o)) });
        };
        const remove = one.id ? () => change({ others: choice.others.filter((o) => o.id !== one.id) }) : undefined;
        const first = before;
        before += one.chosen.ys.length;
        return <TableControls key={one.id} of={one} first={first} named={shown.length > 1} full={full} set={set} remove={remove} at={i} />;
      })}
    </>
  );
}

interface TableControlsProps {
  of: Shown;
  at: number;
  /** The index of its first curve. */
  first: number;
  named: boolean;
  full: boolean;
  set: (to: { x?: number; ys?: Y[] }) => void;
  remove: (() => void) | undefined;
}

function TableControls({ of: { table, chosen }, first, named, full, set, remove }: TableControlsProps) {
  const id = useId();
  const { names, types } = table;
  const { x, ys } = chosen;
  const candidates = types.flatMap((m, i) => (m === "text" ? [] : [i]));
  const numbers = types.flatMap((m, i) => (m === "number" ? [i] : []));
  const toggle = (column: number) => {
    if (ys.some((y) => y.column === column)) return set({ ys: ys.filter((y) => y.column !== column) });
    const error = proposedError(column, names, types);
    set({ ys: [...ys, { column, ...(error !== undefined && error !== x && { error }) }] });
  };
  const fieldset = (
    <div class="plot-controls">
      <fieldset class="columns">
        <legend>Y</legend>
        {numbers.map((column) => {
          const at = ys.findIndex((y) => y.column === column);
          return (
            <label key={column}>
              <input type="checkbox" checked={at >= 0} disabled={at < 0 && full} onChange={() => toggle(column)} />
              {at >= 0 && <Swatch of={first + at} />}
              {names[column]}
            </label>
          );
        })}
      </fieldset>
      <div class="filters">
        <label for={id}>X</label>
        <select id={id} value={x < 0 ? "row" : String(x + 1)} onChange={(e) => set({ x: e.currentTarget.value === "row" ? -1 : Number(e.currentTarget.value) - 1 })}>
          <option value="row">row number</option>
          {candidates.map((i) => (
            <option key={i} value={String(i + 1)}>
              {names[i]}
            </option>
          ))}
        </select>
      </div>
      {ys.length > 0 && <Curves ys={ys} first={first} names={names} numbers={numbers} set={(next) => set({ ys: next })} />}
    </div>
  );
  if (!named) return fieldset;
  return (
    <section class="plot-table" aria-label={table.name}>
      <p class="plot-file">
        <strong class="preserve">{table.name}</strong>
        {table.text && !table.text.complete && <span class="dim"> (its first part)</span>}
        {remove && (
          <Button kind="quiet" icon="cross" onClick={remove} aria-label={`Remove ${table.name} from the plot`}>
            Remove
          </Button>
        )}
      </p>
      {fieldset}
    </section>
  );
}

interface CurvesProps {
  ys: Y[];
  first: number;
  names: string[];
  numbers: number[];
  set: (ys: Y[]) => void;
}

/** The errors and the axis of each curve. */
function Curves({ ys, first, names, numbers, set }: CurvesProps) {
  const put = (at: number, y: Y) => set(ys.map((other, i) => (i === at ? y : other)));
  return (
    <details class="curves">
      <summary>Errors and axes</summary>
      {ys.map((y, i) => (
        <div class="filters" role="group" aria-label={names[y.column]} key={y.column}>
          <span>
            <Swatch of={first + i} /> {names[y.column]}
          </span>
          <label>
            Errors
            <select
              value={y.error === undefined ? "" : String(y.error)}
              onChange={(e) => put(i, { column: y.column, ...(e.currentTarget.value && { error: Number(e.currentTarget.value) }), ...(y.right && { right: true }) })}
            >
              <option value="">none</option>
              {numbers.filter((n) => n !== y.column).map((n) => (
                <option key={n} value={String(n)}>
                  {names[n]}
                </option>
              ))}
            </select>
          </label>
          <label>
            <input
              type="checkbox"
              checked={y.right ?? false}
              onChange={() => put(i, { column: y.column, ...(y.error !== undefined && { error: y.error }), ...(!y.right && { right: true }) })}
            />
            Axis at the right
          </label>
        </div>
      ))}
    </details>
  );
}

interface OptionsProps {
  choice: Choice;
  change: (to: Partial<Choice>) => void;
  time: boolean;
  reversed: boolean;
  children: ComponentChildren;
}

const markNames = { lines: "lines", points: "points", both: "lines and points" };

export function Options({ choice, change, time, reversed, children }: OptionsProps) {
  const isHistogram = choice.bins !== undefined;
  const flipped = choice.flip ?? reversed;
  const box = (label: string, checked: boolean, to: () => void) => (
    <label>
      <input type="checkbox" checked={checked} onChange={to} />
      {label}
    </label>
  );
  return (
    <div class="filters plot-options" role="group" aria-label="Plot">
      {!isHistogram && (
        <label>
          Draw
          <select value={choice.marks} onChange={(e) => change({ marks: e.currentTarget.value as Choice["marks"] })}>
            {marks.map((m) => (
              <option key={m} value={m}>
                {markNames[m]}
              </option>
            ))}
          </select>
        </label>
      )}
      {box("Log Y", choice.logY, () => change({ logY: !choice.logY }))}
      {!isHistogram && !time && box("Log X", choice.logX, () => change({ logX: !choice.logX }))}
      {!isHistogram && box("Reverse X", flipped, () => change({ flip: !flipped }))}
      {!isHistogram && box("Fit line", choice.fit, () => change({ fit: !choice.fit }))}
      {box("Histogram", isHistogram, () => change({ bins: isHistogram ? undefined : "auto" }))}
      {isHistogram && (
        <label>
          Bins
          <input
            type="number"
            min={1}
            max={5000}
            placeholder="by rule"
            value={choice.bins === "auto" ? "" : choice.bins}
            onChange={(e) => change({ bins: Math.floor(Number(e.currentTarget.value)) > 0 ? Math.floor(Number(e.currentTarget.value)) : "auto" })}
          />
        </label>
      )}
      {children}
    </div>
  );
}

// An array as lines along one dimension; several lines if the other dimension is short.
import { useMemo } from "preact/hooks";
import { count } from "../format";
import { Chart } from "../plot/chart";
import { csvOf } from "../plot/csvout";
import { saveFile } from "../plot/save";
import type { Group } from "../plot/series";
import { Button, ErrorMessage, Skeleton } from "../ui/components";
import { useAnswer } from "./answers";
import { type Axis, useAxis } from "./axis";
import type { Decoder } from "./decoder";
import type { Item, Part, Selection } from "./messages";
import { lengthOf, labelOf, type Slice } from "./slice";
import { numbersOf, savedTitle } from "./values";

/** Limits: drawn points of a line, and lines. */
const mostPoints = 200_000;
const mostLines = 6;

interface Props {
  decoder: Decoder;
  item: Item;
  items: Item[];
  name: string;
  slice: Slice;
  stored: boolean;
}

export function LinesOf({ decoder, item, items, name, slice, stored }: Props) {
  const length = lengthOf(item, slice.columns);
  const first = slice.rows < 0 ? 0 : Math.min(slice.fixed[slice.rows]!, lengthOf(item, slice.rows) - 1);
  const lines = slice.rows < 0 ? 1 : Math.min(mostLines, lengthOf(item, slice.rows) - first);
  const most = Math.floor(mostPoints / lines);
  const selection: Selection = { id: item.id!, ...slice, from: [first, 0], count: [lines, length], most: [lines, most], stored };
  const { answer, problem } = useAnswer(decoder, "slice", selection);
  const found = useAxis(decoder, item, items, slice.columns, stored);
  const axis = found && Array.prototype.some.call(found.numbers, Number.isFinite) ? found : undefined; // all of them can be missing
  const across = useAxis(decoder, item, items, slice.rows, stored);
  const own = stored || !item.unit ? item.name : `${item.name} (${item.unit})`;
  const label = (line: number) => item.columns?.[slice.fixed.at(-1)!] ?? (slice.rows < 0 ? own : `${labelOf(item, slice.rows)} ${across?.text(first + line) ?? count(first + line)}`);
  const groups = useMemo(() => answer && groupsOf(answer, axis, label), [answer, axis?.numbers, across?.numbers, item, stored]);
  if (problem) return <ErrorMessage problem={problem} />;
  if (!groups || !answer) return <Skeleton lines={10} />;
  if (groups[0]!.series.ys.every((y) => y.every(Number.isNaN))) return <p class="hint">No numbers to count.</p>;
  const isTime = axis?.item.time !== undefined;
  const xLabel = item.columns ? "row" : axis?.label ?? labelOf(item, slice.columns);
  const csv = () => saveFile(csvOf(groups, [-Infinity, Infinity], xLabel, isTime), "text/csv", savedTitle(name), "csv");
  return (
    <>
      <Chart groups={groups} xLabel={xLabel} isTime={isTime} title={name} {...(!item.columns && { yLabel: own })}>
        <Button kind="quiet" icon="download" onClick={csv}>
          CSV
        </Button>
      </Chart>
      {lines < lengthOf(item, slice.rows) && <p class="hint">These are {count(lines)} of {count(lengthOf(item, slice.rows))} lines.</p>}
      {answer.step[1] > 1 && <p class="hint">One value in {count(answer.step[1])} is drawn.</p>}
      {answer.width * answer.step[1] < length && <p class="hint">These are the first {count(answer.width * answer.step[1])} of {count(length)} values.</p>}
    </>
  );
}

function groupsOf(part: Part, axis: Axis | undefined, label: (line: number) => string): Group[] {
  const all = Float64Array.from(numbersOf(part));
  const { width, height, step } = part;
  const time = axis?.item.time;
  const given = Float64Array.from({ length: width }, (_, i) => {
    const x = axis ? axis.numbers[i * step[1]] ?? NaN : i * step[1];
    return time ? time.from + x * time.step : x;
  });
  const valid = [...given.keys()].filter((i) => Number.isFinite(given[i]!));
  const isOrdered = valid.every((at, i) => i === 0 || given[at]! >= given[valid[i - 1]!]!);
  const isReversed = !isOrdered && valid.every((at, i) => i === 0 || given[at]! <= given[valid[i - 1]!]!);
  const order = isOrdered ? valid : isReversed ? valid.reverse() : valid.sort((a, b) => given[a]! - given[b]!);
  const pick = (of: Float64Array) => (order.length === width && isOrdered ? of : Float64Array.from(order, (i) => of[i]!));
  const ys = Array.from({ length: height }, (_, line) => pick(all.subarray(line * width, (line + 1) * width)));
  return [{ series: { x: pick(given), ys, ordered: isOrdered || isReversed, without: width - order.length }, curves: ys.map((_, y) => ({ name: label(y), y })) }];
}

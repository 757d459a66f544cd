import { useEffect, useRef, useState } from "preact/hooks";
import type { Measure, Point, Series } from "./series";
import { dates, dayLength, dayOf, described, pointAt, short, ticks } from "./series";

const height = 240;
const margin = { top: 10, right: 14, bottom: 26, left: 64 };

/** The width of an element, updated when it changes. */
function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
    observer.observe(ref.current!);
    return () => observer.disconnect();
  }, []);
  return [ref, width] as const;
}

/** A stacked step chart over time. The mouse or the arrow keys select a day, whose exact values are shown. */
export function Chart({ series, measure }: { series: Series; measure: Measure }) {
  const [ref, width] = useWidth();
  const [selected, setSelected] = useState<number | undefined>();
  const { from, to, points } = series;
  const last = to - dayLength;
  const at = Math.min(Math.max(selected ?? last, from), last);
  const current = pointAt(series, at);

  const inner = Math.max(width - margin.left - margin.right, 1);
  const xOf = (t: number) => margin.left + (inner * (t - from)) / (to - from);
  const marks = ticks(Math.max(...points.map((p) => p.active + p.deleted + p.old)), measure);
  const yOf = (n: number) => height - margin.bottom - ((height - margin.top - margin.bottom) * n) / marks.at(-1)!;

  // Values within a day are unknown, so each value is drawn as a step until the next one.
  const steps = (value: (p: Point) => number): Corner[] =>
    points.flatMap((p, i) => [p.at, points[i + 1]?.at ?? to].map((t) => [xOf(t), yOf(value(p))] as const));
  const active = steps((p) => p.active);
  const kept = steps((p) => p.active + p.deleted);
  const all = steps((p) => p.active + p.deleted + p.old);
  const zero = ([x]: Corner): Corner => [x, yOf(0)];

  const point = (e: PointerEvent) => {
    const x = e.clientX - ref.current!.getBoundingClientRect().left;
    const t = from + ((x - margin.left) / inner) * (to - from);
    setSelected(Math.floor(t / dayLength) * dayLength);
  };
  const press = (e: KeyboardEvent) => {
    const to = { ArrowLeft: at - dayLength, ArrowRight: at + dayLength, PageUp: at - 30 * dayLength, PageDown: at + 30 * dayLength, Home: from, End: last }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    setSelected(Math.min(Math.max(to, from), last));
  };
  const text = `${dayOf(at)}: ${described(current, measure)}`;
  return (
    <>
      <p class="readout num">
        <span class="swatch active" /> active <span class="swatch deleted" /> deleted, in the trash <span class="swatch old" /> old versions
        <output>{text}</output>
      </p>
      <div
        class="usage-chart"
        ref={ref}
        role="slider"
        tabIndex={0}
        aria-label="Day of the chart"
        aria-valuemin={from / dayLength}
        aria-valuemax={last / dayLength}
        aria-valuenow={at / dayLength}
        aria-valuetext={text}
        onPointerMove={point}
        onPointerLeave={() => setSelected(undefined)}
        onKeyDown={press}
      >
        {width > 0 && (
          <svg width={width} height={height} aria-hidden="true">
            {marks.map((n) => (
              <g key={n}>
                <line class="level" x1={margin.left} x2={width - margin.right} y1={yOf(n)} y2={yOf(n)} />
                <text class="side" x={margin.left - 8} y={yOf(n) + 4}>
                  {short(n, measure).replace(/\.0+ /, " ")}
                </text>
              </g>
            ))}
            {dates(series, inner / 90).map(({ at, label }) => (
              <text key={at} class="below" x={xOf(at)} y={height - 8}>
                {label}
              </text>
            ))}
            <path class="area active" d={area(active, active.map(zero))} />
            <path class="area deleted" d={area(kept, active)} />
            <path class="area old" d={area(all, kept)} />
            <path class="edge old" d={line(all)} />
            <path class="edge deleted" d={line(kept)} />
            <path class="edge active" d={line(active)} />
            <line class="selected" x1={xOf(at + dayLength / 2)} x2={xOf(at + dayLength / 2)} y1={margin.top} y2={height - margin.bottom} />
            <circle class="dot" cx={xOf(at + dayLength / 2)} cy={yOf(current.active)} r="4" />
          </svg>
        )}
      </div>
    </>
  );
}

type Corner = readonly [x: number, y: number];

const line = (corners: Corner[]) => `M${corners.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
const area = (upper: Corner[], lower: Corner[]) => `${line(upper)}L${line(lower.toReversed()).slice(1)}Z`;

// The chart, by uPlot. It receives only the range in view, downsampled to the screen resolution.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { listen } from "../events";
import { Button } from "../ui/components";
import type { Figure, Line } from "./figure";
import { overlay } from "./overlay";
import { colour, saveFile, savePNG } from "./save";
import { aligned, draw, type Drawn, extentOf, type Group } from "./series";

/** The maximum number of drawn points of a series: two per pixel of a wide screen. */
const maxPoints = 5000;

/** The delay before the address follows a zoom, in ms. */
const settle = 300;

export type Range = [min: number, max: number];

export interface ChartProps {
  groups: Group[];
  xLabel: string;
  /** The label of the left axis; by default the name of the only curve. */
  yLabel?: string;
  isTime?: boolean;
  logX?: boolean;
  logY?: boolean;
  marks?: Figure["marks"];
  /** X ascends to the left. */
  reversed?: boolean;
  /** Straight lines over the curves with these indices. */
  lines?: Line[];
  title: string;
  /** The whole range of X, if the groups contain only a part of it. */
  extent?: Range;
  /** The requested range in view. */
  view?: Range | undefined;
  /** Called when the user has selected another range; undefined: all. */
  onView?: (range: Range | undefined) => void;
  onDrawn?: (drawn: Drawn, range: Range) => void;
  children?: ComponentChildren;
}

/** The full range of X. */
function extent(groups: Group[], logX: boolean): Range {
  let [from, to] = [Infinity, -Infinity];
  for (const { series: { x } } of groups) {
    from = Math.min(from, (logX ? x.find((v) => v > 0) : x[0]) ?? Infinity);
    to = Math.max(to, x[x.length - 1] ?? -Infinity);
  }
  if (from === Infinity) [from, to] = [1, 1];
  return to > from ? [from, to] : logX ? [from / 2, from * 2] : [from - 0.5, from + 0.5];
}

export function Chart(props: ChartProps) {
  const { groups, xLabel, isTime = false, logX = false, logY = false, marks = "lines", reversed = false, lines = [], title, children } = props;
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<{ plot: uPlot; show: (range: Range | undefined, byUser?: boolean) => void; range: () => Range; figure: () => Figure } | undefined>(undefined);
  const current = useRef(props);
  current.current = props;
  const [zoomed, setZoomed] = useState(false);
  const scheme = useScheme();
  const curves = groups.flatMap((g) => g.curves);
  const names = curves.map((c) => c.name);
  const key = JSON.stringify(curves);
  useEffect(() => {
    const element = box.current!;
    const whole = props.extent ?? extent(groups, logX);
    let range = whole;
    let drawn: Drawn;
    let due = 0;
    const show = (wanted: Range | undefined, byUser = true) => {
      range = wanted ? [Math.max(whole[0], Math.min(...wanted)), Math.min(whole[1], Math.max(...wanted))] : whole;
      if (!(range[1] > range[0])) range = whole;
      const part = range[0] > whole[0] || range[1] < whole[1];
      setZoomed(part);
      drawn = draw(groups, range, maxPoints, { x: logX, y: logY });
      const data = aligned(drawn.points);
      plot.batch(() => {
        plot.setData(data as uPlot.AlignedData, false);
        plot.setScale("x", { min: range[0], max: range[1] });
        for (const [scale, [min, max]] of Object.entries(rangesOf(drawn, logY))) plot.setScale(scale, { min, max });
      });
      element.dataset.points = String(data[0].length);
      current.current.onDrawn?.(drawn, range);
      clearTimeout(due);
      if (byUser) due = setTimeout(() => current.current.onView?.(part ? range : undefined), settle) as unknown as number;
    };
    const figure = (): Figure => ({
      ...{ title, marks, points: drawn.points, lines: current.current.lines ?? [] },
      x: { label: xLabel, range, log: logX, time: isTime, reversed },
      ...figureAxes(drawn, logY, current.current.yLabel),
    });
    const options = optionsOf(props, element);
    options.hooks = {
      draw: [(u) => overlay(u, figure(), (i) => colour(element, `series-${i + 1}`))],
      setSelect: [
        (u) => {
          if (u.select.width < 4) return;
          show([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")]);
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    };
    options.cursor!.bind = { dblclick: () => () => (show(undefined), null) };
    drawn = draw(groups, range, maxPoints, { x: logX, y: logY });
    const plot = new uPlot(options, [[], ...names.map(() => [])] as unknown as uPlot.AlignedData, element);
    chart.current = { plot, show, range: () => range, figure };
    show(props.view, false);
    const sized = new ResizeObserver(() => plot.setSize(sizeOf(element)));
    sized.observe(element);
    return () => {
      clearTimeout(due);
      sized.disconnect();
      plot.destroy();
      chart.current = undefined;
    };
  }, [groups, key, xLabel, isTime, logX, logY, marks, reversed, scheme, props.extent?.join()]);
  useEffect(() => chart.current!.show(props.view, false), [props.view?.join()]);
  useEffect(() => chart.current!.plot.redraw(false), [JSON.stringify(lines)]);

  /** Zooms or pans; on a logarithmic axis in its logarithmic scale. */
  const move = (by: (min: number, max: number) => Range) => {
    const { show, range } = chart.current!;
    const [a, b] = range();
    show(logX ? (by(Math.log(a), Math.log(b)).map(Math.exp) as Range) : by(a, b));
  };
  const scale = (f: number) => move((a, b) => [(a + b) / 2 - ((b - a) / 2) * f, (a + b) / 2 + ((b - a) / 2) * f]);
  const shift = (f: number) => move((a, b) => [a + (b - a) * f, b + (b - a) * f]);
  const keys: Record<string, () => void> = {
    "+": () => scale(0.5),
    "=": () => scale(0.5),
    "-": () => scale(2),
    "0": () => chart.current!.show(undefined),
    ArrowLeft: () => shift(reversed ? 0.2 : -0.2),
    ArrowRight: () => shift(reversed ? -0.2 : 0.2),
  };
  const onKey = (e: KeyboardEvent) => {
    const act = !e.ctrlKey && !e.metaKey && !e.altKey && keys[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  };
  return (
    <>
      <div class="preview-tools">
        <span class="dim">To zoom, drag across the chart or press + and −.</span>
        <span class="zoom">
          <Button kind="quiet" onClick={() => scale(2)} disabled={!zoomed} aria-label="Zoom out">
            −
          </Button>
          <Button kind="quiet" onClick={() => chart.current!.show(undefined)} disabled={!zoomed}>
            Show all
          </Button>
          <Button kind="quiet" onClick={() => scale(0.5)} aria-label="Zoom in">
            +
          </Button>
          <Button kind="quiet" icon="download" onClick={() => savePNG(chart.current!.plot, names, title)}>
            Save as PNG
          </Button>
          <Button kind="quiet" icon="download" onClick={() => saveSVG(chart.current!.figure(), box.current!)}>
            SVG
          </Button>
          {children}
        </span>
      </div>
      <div class="chart" ref={box} tabIndex={0} role="application" aria-label={`${names.join(", ")} by ${xLabel}`} onKeyDown={onKey} />
    </>
  );
}

const sizeOf = (element: HTMLElement) => ({ width: Math.max(200, element.clientWidth), height: Math.max(240, Math.min(460, element.clientWidth * 0.6)) });

const date = "{D} {MMM} {YYYY}";

/** The labels of a time axis by the minimum step in seconds; the second line shows a new year, day or minute. See uPlot, axis values. */
const times: uPlot.Axis.Values = [
  [31_536_000, "{YYYY}", null, null, null, null, null, null, 1],
  [2_419_200, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [86_400, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [60, "{HH}:{mm}", `\n${date}`, null, `\n${date}`, null, null, null, 1],
  [1, ":{ss}", `\n${date} {HH}:{mm}`, null, `\n${date} {HH}:{mm}`, null, "\n{HH}:{mm}", null, 1],
  [0.001, ":{ss}.{fff}", `\n${date} {HH}:{mm}`, null, `\n${date} {HH}:{mm}`, null, "\n{HH}:{mm}", null, 1],
];

/** The extents of the Y axes. */
function rangesOf(drawn: Drawn, logY: boolean): Record<string, Range> {
  const ranges: Record<string, Range> = {};
  for (const [scale, right] of [["y", false], ["right", true]] as const) {
    const found = extentOf(drawn.points, right, logY);
    if (found) ranges[scale] = found;
  }
  return ranges;
}

/** The Y axes of a saved figure: named after their only curve. */
function figureAxes(drawn: Drawn, log: boolean, label: string | undefined): Pick<Figure, "y" | "right"> {
  const ranges = rangesOf(drawn, log);
  const nameOf = (right: boolean) => {
    const named = drawn.points.filter((p) => !!p.curve.right === right).map((p) => p.curve.name);
    return named.length === 1 ? named[0]! : "";
  };
  return {
    ...(ranges.y && { y: { label: label ?? nameOf(false), range: ranges.y, log } }),
    ...(ranges.right && { right: { label: nameOf(true), range: ranges.right, log } }),
  };
}

function optionsOf({ groups, xLabel, yLabel, isTime, logX, logY, marks, reversed }: ChartProps, element: HTMLElement): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: colour(element, "dim"),
    grid: { stroke: colour(element, "line"), width: 1 },
    ticks: { stroke: colour(element, "line"), width: 1 },
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    labelSize: 20,
  };
  const stroke = (i: number) => colour(element, `series-${i + 1}`);
  const curves = groups.flatMap((g) => g.curves.map((curve) => ({ curve, ordered: g.series.ordered })));
  // Wide enough for the longest label.
  const size: uPlot.Axis.Size = (_, values) => 18 + 7 * Math.max(3, ...(values ?? []).map((v) => v?.length ?? 0));
  const sideOf = (right: boolean) => curves.filter(({ curve }) => !!curve.right === right);
  const labelOf = (right: boolean) => (yLabel && !right ? { label: yLabel } : sideOf(right).length === 1 ? { label: sideOf(right)[0]!.curve.name } : {});
  const y: uPlot.Scale = { auto: false, ...(logY ? { distr: 3 as const } : {}) };
  return {
    ...sizeOf(element),
    tzDate: (t) => uPlot.tzDate(new Date(t * 1000), "Etc/UTC"),
    scales: { x: { time: isTime ?? false, auto: false, ...(logX ? { distr: 3 } : {}), ...(reversed ? { dir: -1 } : {}) }, y, right: y },
    axes: [
      { ...axis, label: xLabel, ...(isTime ? { values: times } : {}) },
      { ...axis, ...labelOf(false), size, show: sideOf(false).length > 0 },
      { ...axis, ...labelOf(true), size, scale: "right", side: 1, grid: { show: sideOf(false).length === 0 }, show: sideOf(true).length > 0 },
    ],
    series: [
      { label: xLabel, ...(isTime ? { value: "{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}" } : {}) },
      ...curves.map(({ curve, ordered }, i) => ({
        label: curve.right ? `${curve.name} (right)` : curve.name,
        scale: curve.right ? "right" : "y",
        stroke: stroke(i),
        width: 1.5,
        ...(marks === "steps" ? { paths: uPlot.paths.stepped!({ align: 1 }), fill: `${stroke(i)}`.replace(/^rgb\((.*)\)$/, "rgba($1, 0.2)"), points: { show: false } } : {}),
        ...(marks === "both" ? { points: { show: true, size: 5, fill: stroke(i) } } : {}),
        ...(ordered && marks !== "points" ? {} : { paths: () => null, points: { show: true, size: 4, fill: stroke(i) } }),
      })),
    ],
    cursor: { drag: { x: true, y: false, setScale: false } },
  };
}

/** The colour scheme in use, which follows the theme switch and the system. */
function useScheme(): string {
  const [scheme, setScheme] = useState(currentScheme);
  useEffect(() => {
    const update = () => setScheme(currentScheme());
    const themeObserver = new MutationObserver(update);
    themeObserver.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const remove = listen(matchMedia("(prefers-color-scheme: dark)"), "change", update);
    return () => {
      themeObserver.disconnect();
      remove();
    };
  }, []);
  return scheme;
}

const currentScheme = () => document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");


/** Saves the figure in the colours of the light theme, because it is for documents. */
function saveSVG(figure: Figure, element: HTMLElement) {
  const colours = figure.points.map((_, i) => colour(element, `series-${i + 1}`, "light"));
  void import("./svg").then(({ svg }) => saveFile(svg(figure, colours), "image/svg+xml", figure.title, "svg"));
}

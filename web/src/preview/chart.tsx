// The chart, by uPlot. It gets only the range in view, downsampled to the resolution of the screen.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { listen } from "../events";
import { Button } from "../ui/components";
import { draw, type Drawn, type Series } from "./series";

/** Points of a series that are drawn at most: two for each pixel of a wide screen. */
const maxPoints = 5000;

interface Props {
  series: Series;
  names: string[];
  xLabel: string;
  isTime: boolean;
  logX: boolean;
  logY: boolean;
  title: string;
  onDrawn: (drawn: Drawn) => void;
}

type Range = [min: number, max: number];

/** The full range of X. */
function extent(x: Float64Array, logX: boolean): Range {
  const from = logX ? x.find((v) => v > 0) ?? 1 : x[0] ?? 0;
  const to = x[x.length - 1] ?? 1;
  return to > from ? [from, to] : logX ? [from / 2, from * 2] : [from - 0.5, from + 0.5];
}

export function Chart(props: Props) {
  const { series, names, xLabel, isTime, logX, logY, title, onDrawn } = props;
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<{ plot: uPlot; show: (range: Range | undefined) => void; range: () => Range } | undefined>(undefined);
  const [zoomed, setZoomed] = useState(false);
  const scheme = useScheme();
  useEffect(() => {
    const element = box.current!;
    const whole = extent(series.x, logX);
    let range = whole;
    const show = (wanted: Range | undefined) => {
      range = wanted ? [Math.max(whole[0], wanted[0]), Math.min(whole[1], wanted[1])] : whole;
      if (!(range[1] > range[0])) range = whole;
      setZoomed(range !== whole && (range[0] > whole[0] || range[1] < whole[1]));
      const drawn = draw(series, range[0], range[1], maxPoints, (v) => !logY || v > 0);
      plot.batch(() => {
        plot.setData([drawn.x, ...drawn.ys] as uPlot.AlignedData, false);
        plot.setScale("x", { min: range[0], max: range[1] });
      });
      element.dataset.points = String(drawn.x.length);
      onDrawn(drawn);
    };
    const options = optionsOf(props, element);
    options.hooks = {
      setSelect: [
        (u) => {
          if (u.select.width < 4) return;
          show([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")]);
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    };
    options.cursor!.bind = { dblclick: () => () => (show(undefined), null) };
    const plot = new uPlot(options, [[], ...names.map(() => [])] as unknown as uPlot.AlignedData, element);
    chart.current = { plot, show, range: () => range };
    show(undefined);
    const sized = new ResizeObserver(() => plot.setSize(sizeOf(element)));
    sized.observe(element);
    return () => {
      sized.disconnect();
      plot.destroy();
      chart.current = undefined;
    };
  }, [series, names.join("\n"), xLabel, isTime, logX, logY, scheme]);

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
    ArrowLeft: () => shift(-0.2),
    ArrowRight: () => shift(0.2),
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
        <span class="dim">Drag across, or press + and −, to zoom.</span>
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
          <Button kind="quiet" icon="download" onClick={() => save(chart.current!.plot, names, title)}>
            Save as PNG
          </Button>
        </span>
      </div>
      <div class="chart" ref={box} tabIndex={0} role="application" aria-label={`${names.join(", ")} by ${xLabel}`} onKeyDown={onKey} />
    </>
  );
}

const sizeOf = (element: HTMLElement) => ({ width: Math.max(200, element.clientWidth), height: Math.max(240, Math.min(460, element.clientWidth * 0.6)) });

/** The current value of a colour of the style sheet: a canvas does not resolve custom properties. */
function colour(element: HTMLElement, name: string): string {
  const probe = document.createElement("i");
  probe.style.setProperty("color", `var(--${name})`);
  element.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

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

function optionsOf({ series, names, xLabel, isTime, logX, logY }: Props, element: HTMLElement): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: colour(element, "dim"),
    grid: { stroke: colour(element, "line"), width: 1 },
    ticks: { stroke: colour(element, "line"), width: 1 },
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    labelSize: 20,
  };
  const stroke = (i: number) => colour(element, `series-${i + 1}`);
  return {
    ...sizeOf(element),
    tzDate: (t) => uPlot.tzDate(new Date(t * 1000), "Etc/UTC"),
    scales: { x: { time: isTime, auto: false, ...(logX ? { distr: 3 } : {}) }, y: logY ? { distr: 3 } : {} },
    axes: [
      { ...axis, label: xLabel, ...(isTime ? { values: times } : {}) },
      // Wide enough for the longest label.
      { ...axis, ...(names.length === 1 ? { label: names[0]! } : {}), size: (_, values) => 18 + 7 * Math.max(3, ...(values ?? []).map((v) => v?.length ?? 0)) },
    ],
    series: [
      { label: xLabel, ...(isTime ? { value: "{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}" } : {}) },
      ...names.map((label, i) => ({
        label,
        stroke: stroke(i),
        width: 1.5,
        ...(series.ordered ? {} : { paths: () => null, points: { show: true, size: 4, fill: stroke(i) } }),
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

/** Saves the chart with its background and a legend as PNG. */
function save(chart: uPlot, names: string[], title: string) {
  const from = chart.ctx.canvas;
  const scale = from.width / chart.width;
  const head = 44 * scale;
  const canvas = document.createElement("canvas");
  canvas.width = from.width;
  canvas.height = from.height + head;
  const context = canvas.getContext("2d")!;
  context.fillStyle = colour(chart.root, "sheet");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(from, 0, head);
  context.textBaseline = "top";
  context.fillStyle = colour(chart.root, "ink");
  context.font = `600 ${14 * scale}px system-ui, sans-serif`;
  context.fillText(title, 10 * scale, 6 * scale);
  context.font = `${12 * scale}px system-ui, sans-serif`;
  let at = 10 * scale;
  names.forEach((name, i) => {
    context.fillStyle = colour(chart.root, `series-${i + 1}`);
    context.fillRect(at, 29 * scale, 12 * scale, 3 * scale);
    context.fillText(name, at + 16 * scale, 24 * scale);
    at += context.measureText(name).width + 32 * scale;
  });
  canvas.toBlob((blob) => {
    if (!blob) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${title.replace(/^.*[/\\]/, "").replace(/\.\w+$/, "")}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  });
}

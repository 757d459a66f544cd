// A plot as an SVG document. This module is independent of the page.
import { type Axis, type Figure, pointsOfLine } from "./figure";
import { ticksOf } from "./ticks";

const width = 960;
const height = 600;
const left = 86;
const bottom = height - 62;
const ink = "#1c2024";
const grid = "#dfe3e6";

/** Escapes text for XML, and removes characters that XML does not allow. */
export const escaped = (text: string) =>
  text
    .replace(/\p{Cs}/gu, "\ufffd")
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]/g, "\ufffd")
    .replace(/[\t\r\n]+/g, " ")
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const short = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** A coordinate with a precision of a hundredth of a pixel. */
const n = (v: number) => String(Math.round(v * 100) / 100);

type Attributes = Record<string, string | number>;

const tag = (name: string, attributes: Attributes, content?: string) => {
  const list = Object.entries(attributes).map(([k, v]) => ` ${k}="${typeof v === "number" ? n(v) : escaped(v)}"`);
  return `<${name}${list.join("")}${content === undefined ? "/>" : `>${content}</${name}>`}\n`;
};

const label = (x: number, y: number, content: string, more: Attributes = {}) => tag("text", { x, y, fill: ink, ...more }, escaped(content));

/** Maps a value of an axis to a coordinate. */
function scaleOf({ range, log, reversed }: Axis, from: number, to: number): (v: number) => number {
  const [a, b] = log ? [Math.log(range[0]), Math.log(range[1])] : range;
  const share = (v: number) => ((log ? Math.log(v) : v) - a) / (b - a);
  return (v) => from + (to - from) * (reversed ? 1 - share(v) : share(v));
}

interface Frame {
  right: number;
  top: number;
  x: (v: number) => number;
  y: (v: number) => number;
  /** The scale of the right axis. */
  y2: (v: number) => number;
}

export function svg(figure: Figure, colours: string[]): string {
  const { title, points, lines, x, y, right } = figure;
  const legend = points.map((p, i) => ({ text: short(p.curve.name + (p.curve.right ? " (right)" : ""), 60), colour: colours[i]! }));
  const rows = legendRows(legend);
  const top = 44 + 20 * rows.length;
  const edge = right ? width - 86 : width - 24;
  const nothing: Axis = { label: "", range: [0, 1], log: false };
  const frame: Frame = { right: edge, top, x: scaleOf(x, left, edge), y: scaleOf(y ?? nothing, bottom, top), y2: scaleOf(right ?? nothing, bottom, top) };
  const drawn = points.map((p, i) => curve(p, figure, frame, colours[i]!)).join("");
  const straight = lines.map((line) => {
    const to = points[line.curve]?.curve.right ? frame.y2 : frame.y;
    const at = pointsOfLine(line, x).flatMap(([px, py]) => (Number.isFinite(to(py)) ? [`${n(frame.x(px))},${n(to(py))}`] : []));
    return tag("polyline", { points: at.join(" "), fill: "none", stroke: colours[line.curve]!, "stroke-width": 2, "stroke-dasharray": "8 5" });
  });
  const body = [
    tag("rect", { width, height, fill: "#ffffff" }),
    tag("clipPath", { id: "plot" }, tag("rect", { x: left, y: top, width: edge - left, height: bottom - top })),
    label(left, 26, short(title, 100), { "font-size": 16, "font-weight": "600" }),
    ...rows.map((row, i) => row.map((l) => tag("rect", { x: l.at, y: 42 + 20 * i, width: 14, height: 4, fill: l.colour }) + label(l.at + 19, 49 + 20 * i, l.text)).join("")),
    axes(figure, frame),
    tag("g", { "clip-path": "url(#plot)" }, `\n${drawn}${straight.join("")}`),
    tag("rect", { x: left, y: top, width: edge - left, height: bottom - top, fill: "none", stroke: ink }),
  ];
  const root = { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, "font-family": "system-ui, sans-serif", "font-size": 13, role: "img" };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${tag("svg", root, `\n<title>${escaped(title)}</title>\n${body.join("")}`)}`;
}

/** The legend, split into rows by estimated text widths. */
function legendRows(legend: { text: string; colour: string }[]) {
  const rows: { text: string; colour: string; at: number }[][] = [];
  let at = Infinity;
  for (const one of legend) {
    const wide = 40 + 7.5 * one.text.length;
    if (at + wide > width) {
      rows.push([]);
      at = left;
    }
    rows.at(-1)!.push({ ...one, at });
    at += wide;
  }
  return rows;
}

function axes({ x, y, right }: Figure, frame: Frame): string {
  const { top, right: edge } = frame;
  const out: string[] = [];
  for (const { at, label: text } of ticksOf(x, 9)) {
    const px = frame.x(at);
    out.push(tag("line", { x1: px, x2: px, y1: top, y2: bottom, stroke: grid }), tag("line", { x1: px, x2: px, y1: bottom, y2: bottom + 5, stroke: ink }));
    if (text) out.push(label(px, bottom + 20, text, { "text-anchor": "middle" }));
  }
  for (const [axis, to, side, outward] of [[y, frame.y, left, -1], [right, frame.y2, edge, 1]] as const) {
    if (!axis) continue;
    for (const { at, label: text } of ticksOf(axis, 8)) {
      const py = to(at);
      if (axis === y || !y) out.push(tag("line", { x1: left, x2: edge, y1: py, y2: py, stroke: grid }));
      out.push(tag("line", { x1: side, x2: side + 5 * outward, y1: py, y2: py, stroke: ink }));
      if (text) out.push(label(side + 9 * outward, py + 4, text, { "text-anchor": outward < 0 ? "end" : "start" }));
    }
    const [tx, ty] = [outward < 0 ? 18 : width - 12, (top + bottom) / 2];
    out.push(label(tx, ty, short(axis.label, 70), { "text-anchor": "middle", transform: `rotate(-90 ${n(tx)} ${n(ty)})` }));
  }
  out.push(label((left + edge) / 2, bottom + 46, short(x.label, 100) + (x.time ? " (UTC)" : ""), { "text-anchor": "middle" }));
  return out.join("");
}

/** The coordinates of a point; NaN for a missing value, or one that a logarithmic axis cannot show.
 */
type At = [x: number, y: number];

const isThere = ([x, y]: At) => Number.isFinite(x) && Number.isFinite(y);

function curve({ curve, x, y, errors, loose }: Figure["points"][number], { marks }: Figure, frame: Frame, colour: string): string {
  const to = curve.right ? frame.y2 : frame.y;
  const at: At[] = y.map((v, i) => [frame.x(x[i]!), v === null ? NaN : to(v)]);
  if (marks === "steps") return steps(at, colour);
  let path = "";
  let pen = "M";
  for (const p of at) {
    path += isThere(p) ? `${pen}${n(p[0])} ${n(p[1])}` : "";
    pen = isThere(p) ? "L" : "M";
  }
  const out: string[] = [];
  if (errors) out.push(tag("path", { d: bars(at, y, errors, to), fill: "none", stroke: colour, "stroke-width": 1.2 }));
  if (marks !== "points" && !loose) out.push(tag("path", { d: path, fill: "none", stroke: colour, "stroke-width": 1.5, "stroke-linejoin": "round" }));
  const circles = () => at.map((p) => (isThere(p) ? tag("circle", { cx: p[0], cy: p[1], r: 2.5 }) : "")).join("");
  if (marks !== "lines" || loose) out.push(tag("g", { fill: colour }, `\n${circles()}`));
  return out.join("");
}

function bars(at: At[], y: (number | null)[], errors: ArrayLike<number>, to: (v: number) => number): string {
  return at
    .map((p, i) => {
      const e = errors[i]!;
      if (!isThere(p) || !(e > 0 && e < Infinity)) return "";
      const ends = [to(y[i]! - e), to(y[i]! + e)].map((v) => (Number.isFinite(v) ? v : bottom + 10));
      return ends.map((v) => `M${n(p[0] - 3)} ${n(v)}h6`).join("") + `M${n(p[0])} ${n(ends[0]!)}V${n(ends[1]!)}`;
    })
    .join("");
}

/** The outline of bars: each value holds until the next one. On a logarithmic axis a count of zero
    is at the bottom. */
function steps(at: At[], colour: string): string {
  if (!at.length) return "";
  let path = `M${n(at[0]![0])} ${bottom}`;
  at.forEach((p, i) => (path += `V${n(isThere(p) ? p[1] : bottom)}H${n((at[i + 1] ?? p)[0])}`));
  return tag("path", { d: `${path}V${bottom}Z`, fill: colour, "fill-opacity": "0.2", stroke: colour, "stroke-width": 1.5 });
}

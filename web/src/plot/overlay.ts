// Draws error bars and straight lines, which uPlot does not support.
import type uPlot from "uplot";
import { type Figure, pointsOfLine } from "./figure";

export function overlay(u: uPlot, { points, lines, x, marks }: Figure, colourOf: (curve: number) => string) {
  const { ctx, bbox } = u;
  const ratio = bbox.width / u.over.clientWidth || 1;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = 1.2 * ratio;
  if (marks !== "steps") points.forEach((p, i) => bars(u, p, colourOf(i), 3 * ratio));
  for (const line of lines) {
    const curve = points[line.curve]?.curve;
    if (!curve) continue;
    const scale = curve.right ? "right" : "y";
    ctx.strokeStyle = colourOf(line.curve);
    ctx.setLineDash([7 * ratio, 4 * ratio]);
    ctx.lineWidth = 2 * ratio;
    ctx.beginPath();
    for (const [px, py] of pointsOfLine(line, x)) ctx.lineTo(u.valToPos(px, "x", true), u.valToPos(py, scale, true));
    ctx.stroke();
  }
  ctx.restore();
}

function bars(u: uPlot, { curve, x, y, errors }: Figure["points"][number], colour: string, cap: number) {
  if (!errors) return;
  const { ctx } = u;
  const scale = curve.right ? "right" : "y";
  const { min, max } = u.scales[scale]!;
  const isLog = u.scales[scale]!.distr === 3;
  ctx.strokeStyle = colour;
  ctx.beginPath();
  y.forEach((v, i) => {
    const e = errors[i]!;
    if (v === null || !(e > 0 && e < Infinity)) return;
    const at = u.valToPos(x[i]!, "x", true);
    const low = isLog && v - e <= 0 ? min! : Math.max(min!, v - e);
    const [bottom, top] = [u.valToPos(low, scale, true), u.valToPos(Math.min(max!, v + e), scale, true)];
    for (const end of [bottom, top]) {
      ctx.moveTo(at - cap, end);
      ctx.lineTo(at + cap, end);
    }
    ctx.moveTo(at, bottom);
    ctx.lineTo(at, top);
  });
  ctx.stroke();
}

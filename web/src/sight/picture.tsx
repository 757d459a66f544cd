// A picture of samples of any type: colour map, zoom, and the value under the pointer.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count } from "../format";
import { Button } from "../ui/components";
import { coloursOf } from "./colours";
import type { Limits, RangeName } from "./contrast";
import { Contrast, statisticsOf, typeLimits } from "./contrast";
import type { Raster } from "./messages";
import { ScaleBar } from "./scalebar";
import type { Steering } from "./steering";
import { textOf } from "./values";

const zooms = [0.25, 0.5, 1, 2, 4, 8, 16];

/** Draws samples; NaN is transparent. */
function draw(canvas: HTMLCanvasElement, raster: Raster, [low, high]: Limits, map: string) {
  const { width, height, channels, values, inverted, upwards } = raster;
  canvas.width = width;
  canvas.height = height;
  const image = new ImageData(width, height);
  const colours = coloursOf(map);
  const scale = high > low ? 255 / (high - low) : 0;
  const level = (v: number) => {
    const at = scale ? Math.round((v - low) * scale) : v > low ? 255 : 0;
    return at < 0 ? 0 : at > 255 ? 255 : at;
  };
  for (let i = 0; i < width * height; i++) {
    const first = values[i * channels]!;
    if (Number.isNaN(first)) continue;
    const at = inverted ? 255 - level(first) : level(first);
    const to = 4 * (upwards ? (height - 1 - Math.floor(i / width)) * width + (i % width) : i);
    for (let c = 0; c < 3; c++) image.data[to + c] = channels > 2 ? level(values[i * channels + c]!) : colours[3 * at + c]!;
    image.data[to + 3] = channels === 4 ? level(values[i * channels + 3]!) : 255;
  }
  canvas.getContext("2d")!.putImageData(image, 0, 0);
}

interface Props {
  raster: Raster;
  name: string;
  /** The text about the picture. */
  about?: ComponentChildren;
  /** Whether 8-bit values are shown without scaling, as in other programs. */
  natural?: boolean;
  /** The side of a pixel in metres. */
  pixel?: number | undefined;
  /** The controls that move to other parts, if this is a part of the picture. */
  steering?: Steering | undefined;
  /** The position of the raster in the picture. */
  origin?: [row: number, column: number] | undefined;
  unit?: string | undefined;
  /** The coordinates of a row and a column. */
  places?: (row: number, column: number) => string;
}

export function Picture({ raster, name, about, natural = false, pixel, steering, origin: [top, left] = [0, 0], unit, places }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const statistics = useMemo(() => statisticsOf(raster), [raster]);
  const whole = typeLimits(raster);
  const [range, setRange] = useState<RangeName>(natural && raster.values instanceof Uint8Array ? "whole type" : "percentiles 0.5 to 99.5");
  const [own, setOwn] = useState<Limits | undefined>();
  const [map, setMap] = useState("grey");
  const [zoom, setZoom] = useState(0); // 0: fits the box
  const [pointed, setPointed] = useState("");
  const limits = (range === "own" && own) || (range === "whole type" && whole) || (range === "percentiles 0.5 to 99.5" && statistics.percentiles) || statistics.all;
  const { channels } = raster;
  const of = unit ? ` ${unit}` : "";
  const [rowStep, columnStep] = raster.step;
  const isEven = rowStep === columnStep;
  useEffect(() => draw(canvas.current!, raster, limits, map), [raster, limits[0], limits[1], map]);
  useEffect(() => {
    const { style } = canvas.current!;
    style.setProperty("--width", `${raster.width * columnStep * zoom}px`);
    style.aspectRatio = isEven ? "" : `${raster.width * columnStep} / ${raster.height * rowStep}`;
    style.objectFit = isEven ? "" : "fill";
  }, [raster, zoom]);
  const point = (e: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const column = Math.floor(((e.clientX - box.left) / box.width) * raster.width);
    const down = Math.floor(((e.clientY - box.top) / box.height) * raster.height);
    const row = raster.upwards ? raster.height - 1 - down : down;
    if (column < 0 || row < 0 || column >= raster.width || row >= raster.height) return setPointed("");
    const at = (row * raster.width + column) * channels;
    const isMissing = raster.masked && Number.isNaN(raster.values[at]);
    const values = isMissing ? "missing" : Array.from({ length: channels }, (_, c) => textOf(raster.values, at + c)).join(", ") + of;
    const [r, c] = [top + Math.round(row * rowStep), left + Math.round(column * columnStep)];
    const place = places?.(r, c);
    setPointed(`row ${r}, column ${c}${place ? ` (${place})` : ""}: ${values}`);
  };
  const resize = (direction: 1 | -1) => setZoom(zooms[Math.min(zooms.length - 1, Math.max(0, zooms.indexOf(zoom || 1) + direction))]!);
  return (
    <>
      <div class="preview-tools">
        <span class="dim">{about}</span>
        <span class="zoom" role="group" aria-label="Zoom">
          {steering ? (
            <>
              <Button kind="quiet" onClick={() => steering.out?.()} disabled={!steering.out} aria-label="Smaller">
                −
              </Button>
              <Button kind="quiet" aria-pressed={!steering.out} onClick={steering.all}>
                All of it
              </Button>
              <Button kind="quiet" onClick={() => steering.in?.()} disabled={!steering.in} aria-label="Larger">
                +
              </Button>
            </>
          ) : (
            <>
              <Button kind="quiet" onClick={() => resize(-1)} disabled={zoom === zooms[0]} aria-label="Smaller">
                −
              </Button>
              <Button kind="quiet" aria-pressed={zoom === 0} onClick={() => setZoom(0)}>
                Fit
              </Button>
              <Button kind="quiet" aria-pressed={zoom === 1} onClick={() => setZoom(1)}>
                100 %
              </Button>
              <Button kind="quiet" onClick={() => resize(1)} disabled={zoom === zooms.at(-1)} aria-label="Larger">
                +
              </Button>
            </>
          )}
        </span>
      </div>
      <div class={`picture ${zoom ? "zoomed" : ""} ${steering?.out ? "steered" : ""}`} tabIndex={0} role="region" aria-label="Picture" {...(steering && steers(steering, canvas))}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={name}
          class={zoom > 1 || (zoom === 0 && isEven && raster.width < 400) ? "crisp" : ""}
          data-limits={limits.join(" ")}
          onPointerMove={point}
          onPointerLeave={() => setPointed("")}
        />
        {pixel && <ScaleBar canvas={canvas} width={raster.width * columnStep * pixel} />}
      </div>
      {steering && <p class="hint">Double-click or press + to zoom in. Drag or use the arrow keys to move.</p>}
      <Contrast {...{ range, setRange, own, setOwn, map, setMap, limits, whole: whole !== undefined, coloured: channels > 2 }} />
      <p class="dim pointed num" aria-live="off">
        {pointed || `${leftOut(raster)}${statistics.empty ? "No values in this part." : `Values are from ${count2(statistics.all[0])} to ${count2(statistics.all[1])}${of}.`}`}
      </p>
    </>
  );
}

/** The pointer position relative to a picture, from 0 to 1. */
function placeOf({ clientX, clientY }: MouseEvent, canvas: HTMLCanvasElement): [x: number, y: number] {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  return [(clientX - left) / width, (clientY - top) / height];
}

const arrows: Record<string, [x: number, y: number]> = { ArrowLeft: [-0.5, 0], ArrowRight: [0.5, 0], ArrowUp: [0, -0.5], ArrowDown: [0, 0.5] };

/** The pointer and key handlers of a partly visible picture. */
function steers(steering: Steering, canvas: { current: HTMLCanvasElement | null }) {
  const keys: Record<string, (() => void) | undefined> = { "+": steering.in && (() => steering.in!()), "-": steering.out, Home: steering.all };
  return {
    onKeyDown: (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const arrow = arrows[e.key];
      if (!arrow && !(e.key in keys)) return;
      e.preventDefault();
      e.stopPropagation();
      if (arrow) steering.move(...arrow);
      else keys[e.key]?.();
    },
    onDblClick: (e: MouseEvent) => steering.in?.(...placeOf(e, canvas.current!)),
    onPointerDown: (e: PointerEvent) => {
      if (e.button || !steering.out) return;
      const from = placeOf(e, canvas.current!);
      const box = e.currentTarget as HTMLElement;
      box.setPointerCapture(e.pointerId);
      const drop = (end: PointerEvent) => {
        const [x, y] = placeOf(end, canvas.current!);
        if (end.type === "pointerup" && Math.hypot(x - from[0], y - from[1]) > 0.01) steering.move(from[0] - x, from[1] - y);
        for (const type of ["pointerup", "pointercancel"] as const) box.removeEventListener(type, drop);
      };
      for (const type of ["pointerup", "pointercancel"] as const) box.addEventListener(type, drop);
    },
  };
}

/** Reports that rows and columns are skipped. */
function leftOut({ step, copied }: Raster): string {
  if (copied) return `A smaller copy is shown: one pixel stands for ${Number(step[1].toPrecision(3))} in each direction. `;
  const said = ["row", "column"].flatMap((what, i) => (step[i]! > 1 ? `one ${what} in ${count(step[i]!)}` : []));
  return said.length ? `Only ${said.join(" and ")} is shown. ` : "";
}

const count2 = (n: number) => (Number.isInteger(n) && Math.abs(n) < 1e15 ? count(n) : String(Number(n.toPrecision(6))));

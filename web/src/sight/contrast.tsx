// The contrast of a picture of samples: which values are black and white, and the controls to choose them.
import { DecimalInput, typedNumber } from "../ui/decimal";
import { colourMaps } from "./colours";
import type { Raster } from "./messages";

/** The number of values from which percentiles are estimated. */
const sampled = 200_000;

export type Limits = [low: number, high: number];

interface Statistics {
  /** The range of all finite values; without any, 0 and 1. */
  all: Limits;
  /** The percentiles 0.5 and 99.5. */
  percentiles: Limits;
  /** Whether there are no finite values. */
  empty?: boolean;
}

/** The maximum values of unsigned types, with which detectors mark invalid pixels. */
const marks = new Set([65_535, 4_294_967_295, 2 ** 64]);

export function statisticsOf({ values, channels }: Raster): Statistics {
  let [low, high] = [Infinity, -Infinity];
  const colours = channels === 4 ? 3 : channels; // opacity does not count as brightness
  const take = Math.max(1, Math.floor(values.length / sampled)) | 1;
  const sample: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const v = values[i]!;
    if (!Number.isFinite(v) || i % channels >= colours) continue;
    if (v < low) low = v;
    if (v > high) high = v;
    if (i % take === 0 && !marks.has(v)) sample.push(v);
  }
  if (low > high) return { all: [0, 1], percentiles: [0, 1], empty: true };
  return { all: [low, high], percentiles: percentilesOf(Float64Array.from(sample).sort()) ?? [low, high] };
}

/** The limits without the lowest and highest values. If nearly all values are equal, they come
    from the higher ones. */
function percentilesOf(sorted: Float64Array): Limits | undefined {
  const at = (of: Float64Array, share: number) => of[Math.round(share * (of.length - 1))]!;
  if (!sorted.length) return undefined;
  const [low, high] = [at(sorted, 0.005), at(sorted, 0.995)];
  if (high > low) return [low, high];
  const above = sorted.filter((v) => v > high);
  if (above.length) return [low, at(above, 0.95)];
  return sorted[0]! < low ? [at(sorted.filter((v) => v < low), 0.05), high] : undefined;
}

const ranges = ["percentiles 0.5 to 99.5", "lowest to highest", "whole type", "own"] as const;
export type RangeName = (typeof ranges)[number];

/** The range of a type with 8 or 16 bits. */
export function typeLimits({ values }: Raster): Limits | undefined {
  if (values instanceof Uint8Array) return [0, 255];
  return values instanceof Uint16Array ? [0, 65535] : undefined;
}

interface ContrastProps {
  range: RangeName;
  setRange: (range: RangeName) => void;
  own: Limits | undefined;
  setOwn: (own: Limits) => void;
  map: string;
  setMap: (map: string) => void;
  limits: Limits;
  whole: boolean;
  coloured: boolean;
}

export function Contrast({ range, setRange, setOwn, map, setMap, limits, whole, coloured }: ContrastProps) {
  const value = (e: Event) => (e.currentTarget as HTMLSelectElement).value;
  const limit = (at: 0 | 1) => (e: Event) => {
    const field = e.currentTarget as HTMLInputElement;
    const given = typedNumber(field.value);
    if (Number.isNaN(given)) return void field.reportValidity();
    setOwn(at ? [limits[0], given] : [given, limits[1]]);
    setRange("own");
  };
  return (
    <div class="filters contrast">
      <label>
        Contrast
        <select value={range} onChange={(e) => (setOwn(limits), setRange(value(e) as RangeName))}>
          {ranges.filter((r) => whole || r !== "whole type").map((r) => (
            <option key={r} value={r}>
              {r}
            </option>
          ))}
        </select>
      </label>
      <label>
        from <DecimalInput size={8} value={String(Number(limits[0].toPrecision(9)))} onChange={limit(0)} />
      </label>
      <label>
        to <DecimalInput size={8} value={String(Number(limits[1].toPrecision(9)))} onChange={limit(1)} />
      </label>
      {!coloured && (
        <label>
          Colours
          <select value={map} onChange={(e) => setMap(value(e))}>
            {colourMaps.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}

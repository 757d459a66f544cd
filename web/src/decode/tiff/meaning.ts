// The meaning of TIFF values according to GDAL tags: no-data value, scale, offset and unit.
import type { Raster, Sheet } from "../../sight/messages";
import { scaling } from "../lib/cf";
import type { Directory } from "./tags";

export interface Meaning {
  missing?: number;
  scale: number;
  offset: number;
  unit?: string;
}

const metadata = 42112;
const noData = 42113;

/** The meaning of the first sample; undefined without tags. */
export async function meaningOf(d: Directory): Promise<Meaning | undefined> {
  const given = d.has(noData) ? (await d.text(noData)).trim() : "";
  const text = d.has(metadata) ? await d.text(metadata) : "";
  const items = [...text.matchAll(/<Item\b([^>]*)>([^<]*)<\/Item>/g)].filter(([, names]) => !/sample="[1-9]/.test(names!));
  const of = (role: string) => items.find(([, names]) => new RegExp(`\\brole="${role}"`).test(names!))?.[2]?.trim();
  const [scale, offset, unit] = [Number(of("scale") ?? 1), Number(of("offset") ?? 0), of("unittype")];
  const isNumber = given !== "" && !Number.isNaN(Number(given));
  if (!isNumber && scale === 1 && offset === 0 && !unit) return undefined;
  if (!Number.isFinite(scale) || !Number.isFinite(offset) || scale === 0) return undefined;
  return { ...(isNumber && { missing: Number(given) }), scale, offset, ...(unit && { unit }) };
}

const isPacked = ({ scale, offset, missing }: Meaning) => scale !== 1 || offset !== 0 || missing !== undefined;

/** The unit and the packing of a picture, as the page shows them. */
export function saidOf(meaning: Meaning | undefined): Pick<Sheet, "unit" | "packed"> {
  if (!meaning) return {};
  const { scale, offset, missing, unit } = meaning;
  const said = [(scale !== 1 || offset !== 0) && scaling(scale, offset), missing !== undefined && `${missing} is missing`];
  return { ...(unit && { unit }), ...(isPacked(meaning) && { packed: said.filter(Boolean).join("; ") }) };
}

/** A picture with physical values; NaN stands for a missing value. Colours do not change. */
export function meant(raster: Raster, meaning: Meaning | undefined): Raster {
  if (!meaning || !isPacked(meaning) || raster.channels > 1) return raster;
  const { scale, offset } = meaning;
  const missing = raster.values instanceof Float32Array && meaning.missing !== undefined ? Math.fround(meaning.missing) : meaning.missing;
  return { ...raster, values: Float64Array.from(raster.values, (v) => (v === missing ? NaN : v * scale + offset)), masked: missing !== undefined };
}

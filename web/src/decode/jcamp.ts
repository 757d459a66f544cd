// Spectra in JCAMP-DX (.jdx, .dx, .jcm): blocks of points, of equidistant ordinates, and NTUPLES.
import type { Spectrum } from "../sight/messages";
import { maxValues, numbersOf, Ordinates } from "./jcamp/asdf";
import { attributesOf, type Block, blocksOf, numberOf, textOf } from "./jcamp/labels";
import { Refused, serve, whole } from "./lib/serve";

/** Labels whose text is data. */
const data = /^(XYDATA|XYPOINTS|PEAKTABLE|PEAKASSIGNMENTS|RADATA|DATATABLE|PAGE)$/;

interface Axis {
  name: string;
  factor: number;
  first?: number | undefined;
  last?: number | undefined;
  points?: number | undefined;
}

interface Table {
  x: Float64Array;
  y: Float64Array;
  problems: string[];
}

/** Equidistant ordinates. */
function evenly(text: string, x: Axis, y: Axis, budget: { left: number }): Table {
  const ordinates = new Ordinates(budget);
  const seen: { x: number; digit: number; at: number }[] = [];
  for (const line of text.split("\n").slice(1)) {
    const found = line.trim() && ordinates.line(line);
    if (found) seen.push(found);
  }
  const n = ordinates.count;
  const problems: string[] = [];
  const lines = seen.at(-1);
  const spaced = lines && lines.at > 0 ? ((lines.x - seen[0]!.x) * x.factor) / lines.at : 0;
  const first = x.first ?? (seen[0]?.x ?? 0) * x.factor;
  const whole = x.points === undefined || x.points === n;
  const step = x.last !== undefined && whole && n > 1 ? (x.last - first) / (n - 1) : x.last !== undefined && x.points! > 1 ? (x.last - first) / (x.points! - 1) : spaced;
  if (!whole) problems.push(`It declares ${x.points} points, but contains ${n}.`);
  if (ordinates.failedChecks) problems.push(`Lines that do not continue the previous line: ${ordinates.failedChecks}.`);
  const off = seen.filter((s) => Math.abs(s.x * x.factor - (first + s.at * step)) > Math.max(1.5 * Math.abs(step), 1e-6 * Math.abs(first), Math.abs(s.digit * x.factor)));
  if (off.length) problems.push(`Lines whose X value does not match their position: ${off.length}.`);
  return { x: Float64Array.from({ length: n }, (_, i) => (i === n - 1 && whole ? (x.last ?? first + i * step) : first + i * step)), y: ordinates.all.map((v) => v * y.factor), problems };
}

/** Points with x and y. A third number, such as a width, is ignored. */
function pairs(text: string, x: Axis, y: Axis, budget: { left: number }): Table {
  const [form = "", ...lines] = text.split("\n");
  const width = /\(([A-Z]+)\.\./i.exec(form)?.[1]?.length ?? 2;
  if (/A\.\./i.test(form)) throw new Refused("Its peaks have assignments as text, which is not supported.");
  const numbers = numbersOf(lines.join("\n"), budget);
  const n = Math.floor(numbers.length / width);
  const column = (at: number, factor: number) => Float64Array.from({ length: n }, (_, i) => numbers[i * width + at]! * factor);
  const problems = x.points === undefined || x.points === n ? [] : [`It declares ${x.points} points, but contains ${n}.`];
  return { x: column(0, x.factor), y: column(1, y.factor), problems };
}

const tableOf = (text: string, x: Axis, y: Axis, budget: { left: number }) => (/\+\+/.test(text.split("\n")[0]!) ? evenly : pairs)(text, x, y, budget);

const unitNames: Record<string, string> = { "1/CM": "wavenumber (1/cm)", PPM: "chemical shift (ppm)", "M/Z": "m/z" };
const unitName = (text: string | undefined, otherwise: string) => (text ? (unitNames[text.toUpperCase()] ?? text) : otherwise);

/** Whether X ascends to the left, as is usual in a field. */
function isReversed(type: string, unit: string): boolean {
  return (/INFRARED/i.test(type) && /1\/CM/i.test(unit)) || (/NMR/i.test(type) && /^(PPM|HZ)$/i.test(unit) && !/FID/i.test(type));
}

function spectrumOf(block: Block, tables: { name: string; table: Table }[], xName: string, xUnit: string): Spectrum {
  const type = textOf(block, "DATATYPE") ?? "";
  const problems = [...new Set(tables.flatMap(({ table }) => table.problems))];
  const n = tables[0]!.table.x.length;
  return {
    name: textOf(block, "TITLE") || "spectrum",
    about: [type.toLowerCase(), `${n} points`].filter(Boolean).join(", "),
    attributes: attributesOf(block, data),
    columns: [xName, ...tables.map((t) => t.name)],
    values: [tables[0]!.table.x, ...tables.map((t) => t.table.y)],
    reversed: isReversed(type, xUnit),
    peaks: !!textOf(block, "PEAKTABLE") || /MASS/i.test(type),
    problems,
  };
}

/** The spectra of a block, without its nested blocks. */
function own(block: Block, budget: { left: number }): Spectrum[] {
  if (textOf(block, "NTUPLES") !== undefined) return ntuples(block, budget);
  const found = block.labels.find((l) => /^(XYDATA|XYPOINTS|PEAKTABLE|RADATA)$/.test(l.key));
  if (!found) return [];
  const [a, b] = found.key === "RADATA" ? ["R", "A"] : ["X", "Y"];
  const number = (key: string) => numberOf(block, key);
  const unit = textOf(block, `${a}UNITS`) ?? "";
  const x: Axis = { name: unitName(unit, "x"), factor: number(`${a}FACTOR`) || 1, first: number(`FIRST${a}`), last: number(`LAST${a}`), points: number("NPOINTS") };
  const y: Axis = { name: unitName(textOf(block, `${b}UNITS`), "y"), factor: number(`${b}FACTOR`) || 1 };
  return [spectrumOf(block, [{ name: y.name, table: tableOf(found.text, x, y, budget) }], x.name, unit)];
}

/** Pages of tables with shared column descriptions, such as the real and the imaginary part of a
    spectrum. */
function ntuples(block: Block, budget: { left: number }): Spectrum[] {
  const list = (key: string) => (textOf(block, key) ?? "").split(",").map((one) => one.trim());
  const [symbols, names, units] = [list("SYMBOL"), list("VARNAME"), list("UNITS")];
  const numbers = (key: string) => list(key).map((one) => (one === "" || Number.isNaN(Number(one)) ? undefined : Number(one)));
  const [factors, firsts, lasts, sizes] = [numbers("FACTOR"), numbers("FIRST"), numbers("LAST"), numbers("VARDIM")];
  const axis = (symbol: string): Axis => {
    const at = symbols.indexOf(symbol);
    if (at < 0) throw new Refused(`It has no variable ${JSON.stringify(symbol.slice(0, 20))}.`);
    const unit = units[at] ? ` (${units[at]})` : "";
    return { name: (names[at] ?? symbol).toLowerCase() + unit.toLowerCase(), factor: factors[at] || 1, first: firsts[at], last: lasts[at], points: sizes[at] };
  };
  const spectra: Spectrum[] = [];
  let page = "";
  let form = "";
  let tables: { name: string; table: Table }[] = [];
  let x: Axis | undefined;
  let unit = "";
  const end = (of: string) => {
    if (tables.length && x) spectra.push({ ...spectrumOf(block, tables, x.name, unit), ...(of && { name: `${textOf(block, "TITLE")}, ${of}` }) });
    tables = [];
  };
  for (const label of block.labels) {
    if (label.key === "PAGE") page = label.text.trim();
    if (label.key !== "DATATABLE") continue;
    const [, a = "", b = ""] = /\(\s*([A-Za-z0-9]+?)\s*(?:\+\+\s*\(\s*)?([A-Za-z0-9])\s*\.\./.exec(label.text.split("\n")[0]!) ?? [];
    const even = /\+\+/.test(label.text.split("\n")[0]!);
    const [sx, sy] = even ? [a, b] : [symbols.find((s) => s !== "" && a.startsWith(s)) ?? a, b];
    const [ax, ay] = [axis(sx), axis(sy)];
    const table = tableOf(label.text, even ? ax : { ...ax, points: undefined }, ay, budget);
    const fits = tables.length > 0 && form === sx && tables[0]!.table.x.length === table.x.length && !tables.some((t) => t.name === ay.name) && even;
    if (!fits) end(spectra.length || tables.some((t) => t.name === ay.name) ? page : "");
    [x, form, unit] = [ax, sx, units[symbols.indexOf(sx)] ?? ""];
    tables.push({ name: ay.name, table });
  }
  end(spectra.length ? page : "");
  return spectra;
}

const walk = (blocks: Block[], budget: { left: number }): Spectrum[] => blocks.flatMap((b) => [...own(b, budget), ...walk(b.blocks, budget)]);

serve(async (input) => {
  const text = new TextDecoder("latin1").decode(await whole(input));
  const blocks = blocksOf(text);
  const spectra = walk(blocks, { left: maxValues });
  if (!spectra.length) throw new Refused("It has no block with supported data.");
  const outer = blocks[0]!;
  const about = `JCAMP-DX ${textOf(outer, "JCAMPDX") ?? textOf(outer.blocks[0] ?? outer, "JCAMPDX") ?? ""}`.trim();
  return { content: { view: "spectra", about, attributes: outer.blocks.length ? attributesOf(outer, data) : [], spectra } };
});

// The settings of a plot in the address of the page: short, checked and bounded.
import { count } from "../format";
import type { ColumnType } from "../preview/csv";
import { maxFiles } from "./files";

/** A column on the Y axis. Columns are numbered from 0 here, from 1 in the address. */
export interface Y {
  column: number;
  /** The column with its standard errors. */
  error?: number;
  /** Whether it uses the right axis. */
  right?: true;
}

/** The columns of one file; unset ones are chosen by the types of its columns. */
export interface Columns {
  /** -1: the row number */
  x?: number;
  ys?: Y[];
}

export const marks = ["lines", "points", "both"] as const;

export interface Choice {
  own: Columns;
  /** Other files, by the ids of their resources. */
  others: (Columns & { id: string })[];
  logX: boolean;
  logY: boolean;
  marks: (typeof marks)[number];
  fit: boolean;
  /** The number of bins of a histogram; "auto": chosen by a rule; undefined: no histogram. */
  bins: number | "auto" | undefined;
  /** X ascends to the left; undefined: according to the file. */
  flip: boolean | undefined;
  /** Whether the whole of a large file is read. */
  whole: boolean;
  /** The range of X in view. */
  view: [number, number] | undefined;
}

/** The maximum number of plotted columns, each in its own colour. */
export const maxCurves = 6;

const columnOf = (text: string | undefined) => (text && /^[1-9]\d{0,4}$/.test(text) ? Number(text) - 1 : undefined);

function readX(text: string | null | undefined): number | undefined {
  return text === "row" ? -1 : columnOf(text ?? undefined);
}

/** Such as 2.3e4.5r: column 2; column 3 with errors in column 4; column 5 on the axis at the right. */
function readYs(text: string): Y[] {
  return text
    .split(".")
    .slice(0, maxCurves)
    .flatMap((one) => {
      const [, y, e, r] = /^(\d+)(?:e(\d+))?(r)?$/.exec(one) ?? [];
      const column = columnOf(y);
      const error = columnOf(e);
      return column === undefined ? [] : [{ column, ...(error !== undefined && { error }), ...(r && { right: true as const }) }];
    });
}

const writeX = (x: number) => (x < 0 ? "row" : String(x + 1));
const writeYs = (ys: Y[]) => ys.map((y) => `${y.column + 1}${y.error === undefined ? "" : `e${y.error + 1}`}${y.right ? "r" : ""}`).join(".") || "none";

/** Such as ID*1*2.3 for each file, with an underscore between them. */
function readOthers(text: string): Choice["others"] {
  const others = text.split("_").flatMap((one) => {
    const [id = "", x, y] = one.split("*");
    if (!/^[A-Za-z0-9-]{1,64}$/.test(id)) return [];
    const column = readX(x);
    return [{ id, ...(column !== undefined && { x: column }), ...(y && { ys: readYs(y) }) }];
  });
  return others.filter((o, i) => others.findIndex((p) => p.id === o.id) === i).slice(0, maxFiles - 1);
}

const writeOthers = (others: Choice["others"]) =>
  others.map(({ id, x, ys }) => [id, ...(x === undefined && !ys ? [] : [x === undefined ? "" : writeX(x), ...(ys ? [writeYs(ys)] : [])])].join("*")).join("_");

function numberIn(text: string | null): number | undefined {
  const n = text ? Number(text) : NaN;
  return Number.isFinite(n) ? n : undefined;
}

export function readChoice(query: URLSearchParams, maxBins: number): Choice {
  const log = query.get("log") ?? "";
  const x = readX(query.get("x"));
  const y = query.get("y");
  const bins = query.get("bins");
  const from = numberIn(query.get("from"));
  const to = numberIn(query.get("to"));
  const flip = query.get("flip");
  return {
    own: { ...(x !== undefined && { x }), ...(y && { ys: readYs(y) }) },
    others: readOthers(query.get("with") ?? ""),
    logX: log.includes("x"),
    logY: log.includes("y"),
    marks: marks.find((m) => m === query.get("marks")) ?? "lines",
    fit: query.get("fit") === "line",
    bins: bins === "auto" ? "auto" : bins && /^\d{1,4}$/.test(bins) && Number(bins) > 0 ? Math.min(maxBins, Number(bins)) : undefined,
    flip: flip === "x" ? true : flip === "none" ? false : undefined,
    whole: query.get("whole") === "1",
    view: from !== undefined && to !== undefined && from < to ? [from, to] : undefined,
  };
}

/** The address parameters of a changed choice. */
export function writeChoice(change: Partial<Choice>, now: Choice): Record<string, string> {
  const { own, others, bins, view } = change;
  return {
    ...(own?.x !== undefined && { x: writeX(own.x) }),
    ...(own?.ys && { y: writeYs(own.ys) }),
    ...(others && { with: writeOthers(others) }),
    ...(("logX" in change || "logY" in change) && { log: ((change.logX ?? now.logX) ? "x" : "") + ((change.logY ?? now.logY) ? "y" : "") }),
    ...(change.marks && { marks: change.marks === "lines" ? "" : change.marks }),
    ...("fit" in change && { fit: change.fit ? "line" : "" }),
    ...("bins" in change && { bins: bins === undefined ? "" : String(bins), from: "", to: "" }),
    ...("flip" in change && { flip: change.flip ? "x" : "none" }),
    ...("whole" in change && { whole: change.whole ? "1" : "" }),
    ...("view" in change && { from: view ? String(view[0]) : "", to: view ? String(view[1]) : "" }),
  };
}

/** The columns of a choice in a table. */
export interface Resolved {
  x: number;
  ys: Y[];
  /** Problems: columns in the address that the table lacks. */
  problems: string[];
}

/** Names of columns that are suggested as errors of the previous column. */
const errorName = /(^|[^a-z])(err(or)?s?|sigma|std(ev|dev|err)?|sd|sem|unc(ertainty)?|δ|σ)([^a-z]|$)|^[δσ]|±/i;

export const isErrorName = (name: string) => errorName.test(name);

/** The likely error column of another column: the next one, or one whose name begins with its name.
 */
export function proposedError(y: number, names: string[], types: ColumnType[]): number | undefined {
  const is = (at: number) => at !== y && types[at] === "number" && isErrorName(names[at] ?? "");
  const named = names.findIndex((name, i) => is(i) && name.toLowerCase().includes(names[y]!.toLowerCase().replace(/\s*[[(].*$/, "")));
  return named >= 0 ? named : is(y + 1) ? y + 1 : undefined;
}

/** The existing columns of a choice. By default X is the time or the first number, and Y the next
    number that is not an error. */
export function resolve({ x, ys }: Columns, names: string[], types: ColumnType[]): Resolved {
  const problems: string[] = [];
  const usable = (column: number, also?: ColumnType) => {
    if (types[column] === "number" || (also && types[column] === also)) return true;
    const what = `Column ${count(column + 1)}, which the address names,`;
    problems.push(column < types.length ? `${what} has no numbers.` : `${what} does not exist: the table has ${count(types.length)}.`);
    return false;
  };
  const numbers = types.flatMap((t, i) => (t === "number" ? [i] : []));
  const time = types.indexOf("time");
  const chosenX = x !== undefined && (x < 0 || usable(x, "time")) ? x : time >= 0 ? time : numbers.length > 1 ? numbers[0]! : -1;
  const valid = (ys ?? []).filter((y) => usable(y.column)).map((y) => (y.error === undefined || usable(y.error) ? y : { ...y, error: undefined! }));
  const others = numbers.filter((n) => n !== chosenX);
  const first = others.find((n) => !isErrorName(names[n] ?? "")) ?? others[0];
  const proposed = first === undefined ? undefined : proposedError(first, names, types);
  const byDefault = first === undefined ? [] : [{ column: first, ...(proposed !== undefined && proposed !== chosenX && { error: proposed }) }];
  return { x: chosenX, ys: ys ? valid.map(({ column, error, right }) => ({ column, ...(error !== undefined && { error }), ...(right && { right }) })) : byDefault, problems };
}

/** The columns of another table that have the same names as the shown columns of the first table.
    */
export function alike(of: Resolved, names: string[], other: string[]): Columns {
  const find = (column: number) => (column < 0 ? -1 : other.indexOf(names[column]!));
  const x = find(of.x);
  const ys = of.ys.map((y) => find(y.column)).filter((y) => y >= 0);
  return { ...((x >= 0 || of.x < 0) && { x }), ...(ys.length > 0 && { ys: ys.map((column) => ({ column })) }) };
}

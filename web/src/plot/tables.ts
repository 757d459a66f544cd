// The tables of a plot: the table of the page, and tables of other files.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { StoredFile } from "../api";
import { Problem, resources } from "../api";
import { columnTypes, type ColumnType, detect, type Dialect, Rows } from "../preview/csv";
import { MB, Source } from "../preview/source";
import { asProblem } from "../ui/load";
import type { Choice, Resolved } from "./choice";
import { Columns, type Curve, type Group, type Series } from "./series";

/** Files up to this size are loaded in full without a request, and this much of larger files. */
export const maxAutoLoad = 4 * MB;

/** Larger tables are thinned by a worker instead of loaded. */
export const maxLoaded = 64 * MB;

/** A table whose columns can be plotted. */
export interface Table {
  name: string;
  names: string[];
  types: ColumnType[];
  /** Changes when rows are added. */
  loaded: number;
  series: (x: number, ys: number[], signal: AbortSignal) => Promise<Series>;
  /** Whether X ascends to the left by default. */
  reversed?: boolean;
  /** For a table in a text file. */
  text?: { file: StoredFile; dialect: Dialect; /** Its label. */ encoding: string; complete: boolean };
}

/** The view of the plot on the rows of a text file. */
export function useTextTable(file: StoredFile, rows: Rows, loaded: number, dialect: Dialect, types: ColumnType[], source: Source): Table {
  const columns = useMemo(() => new Columns(rows, dialect, types), [rows, dialect, types]);
  return useMemo(() => tableOf(file, columns, loaded, dialect, types, source), [file, columns, loaded, source.ended, source.label]);
}

const tableOf = (file: StoredFile, columns: Columns, loaded: number, dialect: Dialect, types: ColumnType[], { label, ended }: Source): Table => ({
  name: file.name, names: dialect.names, types, loaded, series: (x, ys, signal) => columns.series(x, ys, signal), text: { file, dialect, encoding: label, complete: ended },
});

/** Loads the first part of another file. */
async function load(id: string, signal: AbortSignal): Promise<Table> {
  const file = await resources.get(id);
  const rows = new Rows();
  const source = new Source(file);
  while (!source.ended && source.read < maxAutoLoad) {
    const chunk = await source.next(Math.min(MB, maxAutoLoad - source.read), signal);
    if (!source.isText(chunk)) throw new Problem(0, "no_table", "This is not a table.");
    rows.append(chunk, source.ended);
  }
  const dialect = detect(rows);
  const types = columnTypes(rows, dialect);
  if (!types.includes("number")) throw new Problem(0, "no_table", "No column of this file contains numbers.");
  return tableOf(file, new Columns(rows, dialect, types), rows.count, dialect, types, source);
}

export interface Other {
  id: string;
  table?: Table;
  problem?: Problem;
}

/** The tables of other files, each loaded once. */
export function useOthers(wanted: Choice["others"]): Other[] {
  const found = useRef(new Map<string, Other>());
  const [, render] = useState(0);
  const ids = wanted.map((o) => o.id);
  useEffect(() => {
    const control = new AbortController();
    for (const id of ids) {
      if (found.current.get(id)?.table) continue;
      const end = (other: Other) => {
        if (control.signal.aborted) return;
        found.current.set(id, other);
        render((n) => n + 1);
      };
      load(id, control.signal).then((table) => end({ id, table }), (thrown) => end({ id, problem: asProblem(thrown) }));
    }
    return () => control.abort();
  }, [ids.join()]);
  return ids.map((id) => found.current.get(id) ?? { id });
}

/** A table with its shown columns. */
export interface Shown {
  table: Table;
  chosen: Resolved;
  /** "" for the table of the page. */
  id: string;
}

const isTime = ({ table, chosen }: Shown) => table.types[chosen.x] === "time";

/** Whether the X axis shows time, and its label. */
export function axisOf(shown: Shown[]): { time: boolean; label: string } {
  const labels = shown.map(({ table, chosen }) => (chosen.x < 0 ? "row" : table.names[chosen.x]!));
  return { time: shown.length > 0 && shown.every(isTime), label: [...new Set(labels)].join(", ") };
}

/** Reads the shown columns, one group per table. Undefined until all of them are read. */
export function useGroups(shown: Shown[], maxCurves: number, named: boolean): Group[] | undefined {
  const [state, setState] = useState<{ key: string; groups: Group[] } | undefined>();
  const key = JSON.stringify(shown.map(({ id, chosen }) => [id, chosen.x, chosen.ys]));
  const versions = shown.map(({ table }) => table.loaded);
  const series = shown.map(({ table }) => table.series);
  useEffect(() => {
    const control = new AbortController();
    // fails only when superseded
    readGroups(shown, maxCurves, named, control.signal).then((groups) => setState({ key, groups }), () => {});
    return () => control.abort();
  }, [key, named, versions.join(), series[0]]);
  return state?.key === key ? state.groups : undefined;
}

/** The suffixes that distinguish the curves of tables. */
export const nameAfter = ({ name }: Table) => ` (${name.replace(/^.*\//, "")})`;

async function readGroups(shown: Shown[], maxCurves: number, named: boolean, signal: AbortSignal): Promise<Group[]> {
  const groups: Group[] = [];
  let left = maxCurves;
  for (const { table, chosen } of shown) {
    const ys = chosen.ys.slice(0, left);
    left -= ys.length;
    if (!ys.length) continue;
    const columns = [...new Set(ys.flatMap((y) => [y.column, ...(y.error === undefined ? [] : [y.error])]))];
    const series = await table.series(chosen.x, columns, signal);
    const of = named ? nameAfter(table) : "";
    const curves = ys.map<Curve>((y) => ({
      name: table.names[y.column]! + of,
      y: columns.indexOf(y.column),
      ...(y.error !== undefined && { error: columns.indexOf(y.error) }),
      ...(y.right && { right: true }),
    }));
    groups.push({ series, curves });
  }
  return groups;
}

// The whole of a large table, thinned by a worker in one pass; a zoom reads its part again.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../api";
import { Decoder } from "../sight/decoder";
import type { Scan, Scanned } from "../sight/messages";
import { asProblem } from "../ui/load";
import type { Choice, Resolved } from "./choice";
import type { Group } from "./series";
import type { Table } from "./tables";

/** The number of parts of a file for which the minimum and maximum are drawn. */
const parts = 2000;

export interface Scanning {
  groups: Group[] | undefined;
  /** The whole range of X. */
  extent: [number, number] | undefined;
  /** The number of read bytes, and of all bytes. */
  read: number;
  of: number;
  busy: boolean;
  problem: Problem | undefined;
  stop: () => void;
  again: () => void;
}

/** Tells the worker how to read a table. */
function scanOf({ text, types }: Table, { x, ys }: Resolved, { logX, logY }: Choice): Scan {
  const { file, dialect, encoding } = text!;
  const time = types[x] === "time";
  return {
    separator: dialect.separator, decimal: dialect.decimal, encoding, x, time,
    curves: ys.map(({ column, error }) => ({ y: column, ...(error !== undefined && { error }) })),
    from: 0, to: file.bytes, skip: dialect.notes + (dialect.header ? 1 : 0), row: 0, parts, log: { x: logX && !time, y: logY },
  };
}

/** The bytes of the parts with points in a range. */
function partOf(scan: Scan, whole: Scanned, [min, max]: [number, number]): Scan {
  let [first, last] = [parts - 1, 0];
  for (let p = 0; p < parts; p++) {
    const [low, high] = [whole.extents[2 * p]!, whole.extents[2 * p + 1]!];
    if (!(high >= min && low <= max)) continue;
    first = Math.min(first, p);
    last = Math.max(last, p);
  }
  first = Math.max(0, first - 1);
  last = Math.min(parts - 1, Math.max(first, last) + 1);
  const at = (p: number) => Math.round((scan.to * p) / parts / 4) * 4;
  const row = Math.max(0, (whole.extents[2 * first] ?? 1) - 1);
  return { ...scan, from: at(first), to: last === parts - 1 ? scan.to : at(last + 1), row: scan.x < 0 ? row : 0, skip: first === 0 ? scan.skip : 0, range: [min, max] };
}

function groupsOf(scanned: Scanned, table: Table, { ys }: Resolved, named: string): Group[] {
  return scanned.curves.map(({ x, y, fit, figures }, i) => {
    const order = scanned.ordered ? undefined : [...x.keys()].sort((a, b) => x[a]! - x[b]!);
    const pick = (v: Float64Array) => (order ? Float64Array.from(order, (at) => v[at]!) : v);
    return {
      series: { x: pick(x), ys: [pick(y)], ordered: scanned.ordered, without: i ? 0 : scanned.without },
      curves: [{ name: table.names[ys[i]!.column]! + named, y: 0, ...(ys[i]!.right && { right: true }) }],
      thinned: { rows: i ? 0 : scanned.rows, bins: parts, fit, figures },
    };
  });
}

const extentOf = ({ extents }: Scanned): [number, number] | undefined => {
  const seen = extents.filter(Number.isFinite);
  return seen.length ? [seen.reduce((a, b) => Math.min(a, b)), seen.reduce((a, b) => Math.max(a, b))] : undefined;
};

/** Reads a table on request, and then the part in view; both show their progress. */
export function useScan(wanted: boolean, table: Table, chosen: Resolved, choice: Choice, named: string): Scanning {
  type State = { groups?: Group[]; read: number; of: number; busy: boolean; problem?: Problem; whole?: Scanned };
  const [state, setState] = useState<State>({ read: 0, of: 0, busy: false });
  const decoder = useRef<Decoder | undefined>(undefined);
  const whole = useRef<{ key: string; scanned: Scanned } | undefined>(undefined);
  const [attempt, setAttempt] = useState(0);
  const stopped = useRef(false);
  const scan = wanted ? scanOf(table, chosen, choice) : undefined;
  const key = JSON.stringify(scan);
  const view = choice.view;
  useEffect(() => () => decoder.current?.close(), []);
  useEffect(() => {
    if (!scan || !scan.curves.length) return;
    let current = true;
    stopped.current = false;
    const show = (scanned: Scanned, busy: boolean) => current && setState({ groups: groupsOf(scanned, table, chosen, named), read: scanned.read, of: scanned.of, busy, whole: whole.current?.scanned ?? scanned });
    const run = async (of: Scan): Promise<Scanned | undefined> => {
      const open = decoder.current ?? (await begin(table, (why) => current && setState({ read: 0, of: 0, busy: false, problem: asProblem(why) })));
      decoder.current = open;
      open.allow(of.to - of.from + (16 << 20));
      let scanned = await open.call("scan", of);
      for (; current && !stopped.current && scanned.read < scanned.of; scanned = await open.call("scan", undefined)) show(scanned, true);
      show(scanned, false);
      return current && scanned.read >= scanned.of ? scanned : undefined;
    };
    const all = async () => {
      if (whole.current?.key !== key) {
        whole.current = undefined;
        const scanned = await run(scan);
        if (!scanned) return;
        whole.current = { key, scanned };
      }
      const { scanned } = whole.current!;
      if (view && scanned.ordered) await run(partOf(scan, scanned, view));
      else show(scanned, false);
    };
    all().catch((thrown) => {
      if (!current) return;
      decoder.current = undefined;
      setState({ read: 0, of: 0, busy: false, problem: asProblem(thrown) });
    });
    return () => void (current = false);
  }, [key, view?.join(), attempt]);
  return {
    groups: wanted ? state.groups : undefined, read: state.read, of: state.of, busy: state.busy, problem: state.problem,
    extent: state.whole && extentOf(state.whole),
    stop: () => void (stopped.current = true),
    again: () => setAttempt((n) => n + 1),
  };
}

async function begin(table: Table, onEnd: (why: unknown) => void): Promise<Decoder> {
  const { file } = table.text!;
  const decoder = new Decoder("lines", file, onEnd);
  await decoder.call("open", { name: file.name, bytes: file.bytes });
  return decoder;
}

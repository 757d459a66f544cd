// The differences of two versions of a file: in their records, and, if both are text, line by line.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Version } from "../api";
import { versions } from "../api";
import { count, plural } from "../format";
import { MB, ReadError, Source } from "../preview/source";
import { Button, Empty, ErrorMessage, Size, Skeleton } from "../ui/components";
import { useLoad } from "../ui/load";
import type { Block } from "./lines";
import { compareLines, differingPart, linesOf } from "./lines";
import { Removed } from "./removed";

/** Larger files are not compared line by line. */
const bound = 4 * MB;

/** The number of rows per step: browsers become slow with more. */
const step = 2000;

/** The number of equal lines shown around a change. */
const context = 3;

/** Compares a version with another one; the older one comes first. */
export function Comparison({ version, other: number }: { version: Version; other: number }) {
  const { value: other, problem, reload } = useLoad(() => versions.get(version.resourceId, number), [number]);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!other) return <Skeleton lines={10} />;
  const [before, after] = number < version.version ? [other, version] : [version, other];
  return (
    <>
      <h2>
        From version {before.version} to version {after.version}
      </h2>
      <Fields before={before} after={after} />
      <Content before={before} after={after} />
    </>
  );
}

/** The fields that differ. */
function Fields({ before, after }: Both) {
  const fields: [name: string, value: (v: Version) => ComponentChildren, key: keyof Version][] = [
    ["Name", (v) => v.name, "name"],
    ["Description", (v) => v.description, "description"],
    ["Format", (v) => v.format, "format"],
    ["Type", (v) => v.mimetype, "mimetype"],
    ["File name", (v) => v.filename, "filename"],
    ["Size", (v) => <Size bytes={v.bytes} />, "bytes"],
  ];
  const differing = fields.filter(([, , key]) => before[key] !== after[key]);
  if (!differing.length) return null;
  return (
    <table class="plain">
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Version {before.version}</th>
          <th scope="col">Version {after.version}</th>
        </tr>
      </thead>
      <tbody>
        {differing.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{value(before)}</td>
            <td>{value(after)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface Both {
  before: Version;
  after: Version;
}

function Content({ before, after }: Both) {
  const removed = [before, after].filter((v) => v.removed);
  if (before.sha256 === after.sha256) return <Empty icon="check" title="Both versions have the same content" />;
  if (removed.length) return <>{removed.map((v) => <Removed key={v.version} version={v} />)}</>;
  if (Math.max(before.bytes, after.bytes) > bound) return <p class="dim">Only files of up to 4 MB are compared line by line.</p>;
  return <Lines before={before} after={after} />;
}

/** Reads a text; undefined if the file is not text. */
async function textOf(version: Version, signal: AbortSignal): Promise<string | undefined> {
  if (!version.bytes) return "";
  const source = new Source(version);
  const text = await source.next(bound, signal);
  return source.isText(text) ? text : undefined;
}

function Lines({ before, after }: Both) {
  const { value, problem, reload } = useLoad((signal) => Promise.all([textOf(before, signal), textOf(after, signal)]), [before.dataUrl, after.dataUrl]);
  if (problem) return <ReadError problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={10} />;
  const [old, now] = value;
  if (old === undefined || now === undefined) return <p class="dim">Only text is compared line by line. Open each version, or download both.</p>;
  return <Differences old={old} now={now} />;
}

function Differences({ old, now }: { old: string; now: string }) {
  const compared = useMemo(() => {
    const [before, after] = [linesOf(old), linesOf(now)];
    return { before, after, ...compareLines(before, after) };
  }, [old, now]);
  const { before, after, blocks, complete } = compared;
  const [opened, setOpened] = useState<ReadonlySet<Block>>(new Set());
  const [shown, setShown] = useState(step);
  const [rows, more] = useMemo(() => firstOf(rowsOf(before, after, blocks, opened), shown), [compared, opened, shown]);
  const changes = blocks.filter((b) => !b.same);
  const length = (side: "before" | "after") => changes.reduce((sum, b) => sum + b[side][1] - b[side][0], 0);
  if (!changes.length) return <p>All lines are the same. The files differ in their encoding, or in the end of the last line.</p>;
  return (
    <>
      <p class="preview-tools dim" role="status">
        {plural(length("before"), "line")} removed, {count(length("after"))} added
        {!complete && ". The versions differ too much to match all lines: everything between the first and the last difference counts as changed"}
      </p>
      <div class="differences" tabIndex={0} role="region" aria-label="Differences">
        <table>
          <thead class="visually-hidden">
            <tr>
              <th scope="col">Line before</th>
              <th scope="col">Line after</th>
              <th scope="col">Change</th>
              <th scope="col">Text</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) =>
              "hidden" in row ? (
                <tr key={i} class="unchanged">
                  <td colSpan={4}>
                    <Button kind="quiet" onClick={() => setOpened(new Set(opened).add(row.hidden))}>
                      Show {plural(row.count, "unchanged line")}
                    </Button>
                  </td>
                </tr>
              ) : (
                <Line key={i} row={row} />
              ),
            )}
          </tbody>
        </table>
      </div>
      {more && (
        <p class="preview-foot">
          <Button onClick={() => setShown(shown + step)}>Show more</Button>
        </p>
      )}
    </>
  );
}

/** A line of one or both texts, or a number of omitted lines. */
type Row = LineRow | { hidden: Block; count: number };

interface LineRow {
  /** Line numbers, from 1. */
  before?: number;
  after?: number;
  text: string;
  /** The characters that differ from the replaced line. */
  part?: [from: number, to: number] | undefined;
}

/** The first items, and whether there are more. */
function firstOf<T>(items: Iterable<T>, most: number): [T[], boolean] {
  const first: T[] = [];
  for (const item of items) {
    if (first.length === most) return [first, true];
    first.push(item);
  }
  return [first, false];
}

/** The rows to show: unchanged lines only around changes, unless they were expanded. */
function* rowsOf(before: string[], after: string[], blocks: Block[], opened: ReadonlySet<Block>): Generator<Row> {
  for (const [at, block] of blocks.entries()) {
    if (!block.same) {
      yield* changedRows(before, after, block);
      continue;
    }
    const [from, to] = block.before;
    const ahead = block.after[0] - from;
    const head = at === 0 ? 0 : context;
    const tail = at === blocks.length - 1 ? 0 : context;
    const hidden = to - from - head - tail;
    const all = hidden <= 1 || opened.has(block);
    for (let i = from; i < to; i++) {
      if (all || i < from + head || i >= to - tail) yield { before: i + 1, after: i + ahead + 1, text: before[i]! };
      else if (i === from + head) yield { hidden: block, count: hidden };
    }
  }
}

/** Removed lines, then added ones. If both counts are equal, the differing part of each is marked.
 */
function* changedRows(before: string[], after: string[], { before: [from, to], after: [start, end] }: Block): Generator<LineRow> {
  const part = (n: number) => (to - from === end - start ? differingPart(before[from + n]!, after[start + n]!) : undefined);
  for (let n = 0; from + n < to; n++) yield { before: from + n + 1, text: before[from + n]!, part: part(n)?.before };
  for (let n = 0; start + n < end; n++) yield { after: start + n + 1, text: after[start + n]!, part: part(n)?.after };
}

/** Shows a carriage return at the end of a line: it can be the only difference. */
const visible = (text: string) => text.replace(/\r$/, "␍");

function Line({ row: { before, after, text, part } }: { row: LineRow }) {
  const kind = !after ? "removed" : !before ? "added" : "";
  const [from, to] = part ?? [0, 0];
  return (
    <tr class={kind}>
      <td class="at">{before}</td>
      <td class="at">{after}</td>
      <td class="sign">
        {kind && <span aria-hidden="true">{after ? "+" : "−"}</span>}
        <span class="visually-hidden">{kind || "unchanged"}</span>
      </td>
      <td class="text">
        {to > from ? (
          <>
            {text.slice(0, from)}
            <mark>{visible(text.slice(from, to))}</mark>
            {visible(text.slice(to))}
          </>
        ) : (
          visible(text)
        )}
      </td>
    </tr>
  );
}

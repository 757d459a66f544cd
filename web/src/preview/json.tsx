// JSON as a tree that opens where somebody looks.
import { useMemo, useState } from "preact/hooks";
import { plural, size } from "../human";
import { Button, Waiting } from "../ui/basics";
import type { ViewerProps } from "./preview";
import { MB, Unread, useText } from "./source";
import { Lines, TextView } from "./text";

/** A tree needs the whole file; larger ones are shown as text. */
const bound = 8 * MB;

/** Entries of one object or array that are drawn at a time. */
const at_a_time = 200;

/** A number as the file has it: those of JSON may have more digits than a double. */
class Exact {
  constructor(readonly text: string) {}
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;
const exact: Reviver = (_, value, context) => (typeof value === "number" && context?.source ? new Exact(context.source) : value);

export function JsonPreview({ resource }: ViewerProps) {
  if (resource.bytes > bound) return <TextView resource={resource} why={`A tree would need all ${size(resource.bytes)} of it, so it is shown as text.`} />;
  return <Whole resource={resource} />;
}

function Whole({ resource }: ViewerProps) {
  const { value, problem, reload } = useText(resource, bound);
  const parsed = useMemo(() => value && parse(value.text), [value]);
  const [raw, setRaw] = useState(false);
  if (problem) return <Unread problem={problem} retry={reload} />;
  if (!value || !parsed) return <Waiting lines={10} />;
  if ("wrong" in parsed) {
    return (
      <>
        <p class="hint">This is no JSON that can be read ({parsed.wrong}), so it is shown as text.</p>
        <Lines text={value.text} />
      </>
    );
  }
  return (
    <>
      <div class="preview-tools">
        <div class="either" role="group" aria-label="Show as">
          <Button kind="quiet" aria-pressed={!raw} onClick={() => setRaw(false)}>
            Tree
          </Button>
          <Button kind="quiet" aria-pressed={raw} onClick={() => setRaw(true)}>
            Text
          </Button>
        </div>
        <span class="dim">{describe(parsed.tree)}</span>
      </div>
      {raw ? (
        <Lines text={value.text} />
      ) : (
        <div class="tree" tabIndex={0} role="region" aria-label="Tree">
          <Node value={parsed.tree} depth={0} />
        </div>
      )}
    </>
  );
}

function parse(text: string): { tree: unknown } | { wrong: string } {
  try {
    return { tree: JSON.parse(text.replace(/^\uFEFF/, ""), exact) };
  } catch (thrown) {
    return { wrong: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null && !(value instanceof Exact);

function describe(value: unknown): string {
  if (Array.isArray(value)) return plural(value.length, "entry", "entries");
  if (isContainer(value)) return plural(Object.keys(value).length, "name");
  return "";
}

/** The first levels are open, as long as they are short. */
const opensAlone = (value: object, depth: number) => depth === 0 || (depth < 3 && Object.keys(value).length <= 12);

function Node({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  const container = isContainer(value);
  const [open, setOpen] = useState(() => container && opensAlone(value, depth));
  const [shown, setShown] = useState(at_a_time);
  const label = name !== undefined && (
    <>
      <span class="key">{name}</span>
      {": "}
    </>
  );
  if (!container) {
    return (
      <div class="leaf">
        {label}
        <Leaf value={value} />
      </div>
    );
  }
  const names = open ? Object.keys(value) : [];
  const brackets = Array.isArray(value) ? "[ ]" : "{ }";
  return (
    <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        {label}
        <span class="dim">
          {brackets} {describe(value)}
        </span>
      </summary>
      {names.slice(0, shown).map((n) => (
        <Node key={n} name={n} value={(value as Record<string, unknown>)[n]} depth={depth + 1} />
      ))}
      {names.length > shown && (
        <Button kind="quiet" onClick={() => setShown(shown + at_a_time)}>
          {plural(names.length - shown, "more entry", "more entries")}
        </Button>
      )}
    </details>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (value instanceof Exact) return <span class="value number">{value.text}</span>;
  if (typeof value === "string") return <Text text={value} />;
  return <span class="value word">{String(value)}</span>;
}

const longest = 400;

function Text({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  return (
    <>
      <span class="value text">{JSON.stringify(all ? text : text.slice(0, longest))}</span>
      {!all && text.length > longest && (
        <Button kind="quiet" onClick={() => setAll(true)}>
          {plural(text.length - longest, "more character")}
        </Button>
      )}
    </>
  );
}

// JSON as a tree with collapsible nodes.
import { useMemo, useState } from "preact/hooks";
import { plural, size } from "../format";
import { Button, ViewSwitch } from "../ui/components";
import { addressedLines, Lines } from "./lines";
import type { ViewerProps } from "./props";
import { MB } from "./source";
import { WholeText } from "./wholetext";

/** A tree needs the whole file; larger files are shown as text. */
const bound = 8 * MB;

/** The number of displayed entries of an object or array per step. */
const batch = 200;

/** A number in its own notation: JSON numbers can have more digits than a double. */
class ExactNumber {
  constructor(readonly text: string) {}
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;
const exact: Reviver = (_, value, context) => (typeof value === "number" && context?.source ? new ExactNumber(context.source) : value);

export function JsonPreview({ file }: ViewerProps) {
  return (
    <WholeText file={file} bound={bound} tooLarge={`A tree would require reading all ${size(file.bytes)}, so the file is shown as text.`}>
      {(text) => <TreeOrText text={text} />}
    </WholeText>
  );
}

function TreeOrText({ text }: { text: string }) {
  const parsed = useMemo(() => parse(text), [text]);
  const [view, setView] = useState<"tree" | "text">(addressedLines() ? "text" : "tree");
  if ("error" in parsed) {
    return (
      <>
        <p class="hint">This is not valid JSON ({parsed.error}), so it is shown as text.</p>
        <Lines text={text} language="json" />
      </>
    );
  }
  return (
    <>
      <div class="preview-tools">
        <ViewSwitch views={["tree", "text"] as const} view={view} onChange={setView} />
        <span class="dim">{describe(parsed.tree)}</span>
      </div>
      {view === "text" ? (
        <Lines text={text} language="json" />
      ) : (
        <div class="tree" tabIndex={0} role="region" aria-label="Tree">
          <Node value={parsed.tree} depth={0} />
        </div>
      )}
    </>
  );
}

function parse(text: string): { tree: unknown } | { error: string } {
  try {
    return { tree: JSON.parse(text.replace(/^\uFEFF/, ""), exact) };
  } catch (thrown) {
    return { error: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null && !(value instanceof ExactNumber);

function describe(value: unknown): string {
  if (Array.isArray(value)) return plural(value.length, "entry", "entries");
  if (isContainer(value)) return plural(Object.keys(value).length, "name");
  return "";
}

/** The first levels are open if they are short. */
const isOpenAtFirst = (value: object, depth: number) => depth === 0 || (depth < 3 && Object.keys(value).length <= 12);

function Node({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  const container = isContainer(value);
  const [open, setOpen] = useState(() => container && isOpenAtFirst(value, depth));
  const [shown, setShown] = useState(batch);
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
        <Button kind="quiet" onClick={() => setShown(shown + batch)}>
          {plural(names.length - shown, "more entry", "more entries")}
        </Button>
      )}
    </details>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (value instanceof ExactNumber) return <span class="value number">{value.text}</span>;
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

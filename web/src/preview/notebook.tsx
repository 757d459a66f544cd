// Jupyter notebooks: what was written, and what came out. Nothing in them is run; HTML and SVG are not drawn.
import { useEffect, useMemo, useState } from "preact/hooks";
import { plural, size } from "../human";
import { Waiting } from "../ui/basics";
import { Markdown } from "./markdown";
import type { ViewerProps } from "./preview";
import { MB, Unread, useText } from "./source";
import { Lines, TextView } from "./text";

/** A notebook is one JSON text, so that it is read as a whole or not at all. */
const bound = 16 * MB;

/** Cells that are drawn at a time. */
const atATime = 100;

type Lined = string | string[];

interface Output {
  output_type: string;
  name?: string;
  text?: Lined;
  data?: Record<string, Lined>;
  traceback?: string[];
  ename?: string;
  evalue?: string;
}

interface Cell {
  cell_type: string;
  source?: Lined;
  execution_count?: number | null;
  outputs?: Output[];
}

interface Notebook {
  cells: Cell[];
  language: string;
}

export function NotebookPreview({ resource }: ViewerProps) {
  if (resource.bytes > bound) return <TextView resource={resource} why={`A notebook of ${size(resource.bytes)} is too large to be laid out, so it is shown as text.`} />;
  return <Whole resource={resource} />;
}

function Whole({ resource }: ViewerProps) {
  const { value, problem, reload } = useText(resource, bound);
  const notebook = useMemo(() => value && parse(value.text), [value]);
  const [shown, setShown] = useState(atATime);
  if (problem) return <Unread problem={problem} retry={reload} />;
  if (!value) return <Waiting lines={10} />;
  if (!notebook) {
    return (
      <>
        <p class="hint">This is no notebook that can be read, so it is shown as text.</p>
        <Lines text={value.text} />
      </>
    );
  }
  return (
    <>
      <p class="dim preview-tools">
        {plural(notebook.cells.length, "cell")}
        {notebook.language && ` · ${notebook.language}`} · as it was saved; nothing runs here
      </p>
      <div class="notebook">
        {notebook.cells.slice(0, shown).map((cell, i) => (
          <CellView key={i} cell={cell} />
        ))}
      </div>
      {notebook.cells.length > shown && (
        <p class="preview-foot">
          <button type="button" class="button" onClick={() => setShown(shown + atATime)}>
            Show more cells
          </button>
        </p>
      )}
    </>
  );
}

const isObject = (value: unknown) => typeof value === "object" && value !== null;

/** The cells of a notebook of format 3 or 4; nothing if that is not what it is. */
function parse(text: string): Notebook | undefined {
  try {
    const book = JSON.parse(text);
    const cells: Cell[] = book.cells ?? book.worksheets?.[0]?.cells?.map((c: Cell & { input?: Lined }) => ({ ...c, source: c.source ?? c.input }));
    if (!Array.isArray(cells)) return undefined;
    return { cells: cells.filter(isObject), language: String(book.metadata?.kernelspec?.display_name ?? book.metadata?.language_info?.name ?? "").slice(0, 60) };
  } catch {
    return undefined;
  }
}

const joined = (text: unknown): string => (Array.isArray(text) ? text.join("") : typeof text === "string" ? text : text === undefined ? "" : JSON.stringify(text));

/** Without what tells terminals about colours. */
const plain = (text: string) => text.replace(/\x1b\[[\d;?]*[A-Za-z]/g, "");

function CellView({ cell }: { cell: Cell }) {
  const source = joined(cell.source);
  if (cell.cell_type === "markdown") {
    return (
      <div class="cell">
        <Markdown text={source} />
      </div>
    );
  }
  const code = cell.cell_type === "code";
  const outputs = Array.isArray(cell.outputs) ? cell.outputs.filter(isObject) : [];
  return (
    <div class="cell">
      {code && <div class="count">In [{String(cell.execution_count ?? " ")}]</div>}
      <pre class="block" tabIndex={0}>
        {source}
      </pre>
      {outputs.map((output, i) => (
        <OutputView key={i} output={output} />
      ))}
    </div>
  );
}

/** Output is shown up to here; the rest is in the file. */
const longest = 20_000;

function Printed({ text, bad = false }: { text: string; bad?: boolean }) {
  const cut = text.length > longest;
  return (
    <>
      <pre class={`output ${bad ? "bad" : ""}`} tabIndex={0}>
        {cut ? text.slice(0, longest) : text}
      </pre>
      {cut && <p class="hint">These are the first {longest} characters of this output; the file has all of it.</p>}
    </>
  );
}

const pictures = ["image/png", "image/jpeg"] as const;

function OutputView({ output }: { output: Output }) {
  if (output.output_type === "error" || output.output_type === "pyerr") {
    const trace = plain(Array.isArray(output.traceback) ? output.traceback.join("\n") : "") || `${output.ename}: ${output.evalue}`;
    return <Printed text={trace} bad />;
  }
  if (output.output_type === "stream") return <Printed text={plain(joined(output.text))} bad={output.name === "stderr"} />;
  const data = output.data ?? {};
  const picture = pictures.find((type) => data[type] !== undefined);
  if (picture) return <Picture type={picture} base64={joined(data[picture])} says={joined(data["text/plain"])} />;
  if (data["text/plain"] !== undefined) {
    const other = Object.keys(data).filter((type) => type !== "text/plain");
    return (
      <>
        <Printed text={plain(joined(data["text/plain"]))} />
        {other.length > 0 && <p class="hint">Also there, but not drawn here: {other.join(", ")}.</p>}
      </>
    );
  }
  const [type, text] = Object.entries(data)[0] ?? [];
  if (!type) return null;
  return (
    <>
      <p class="hint">{type}, as it is written:</p>
      <Printed text={joined(text)} />
    </>
  );
}

function Picture({ type, base64, says }: { type: string; base64: string; says: string }) {
  const [address, setAddress] = useState("");
  const [wrong, setWrong] = useState(false);
  useEffect(() => {
    try {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      const made = URL.createObjectURL(new Blob([bytes], { type }));
      setAddress(made);
      return () => URL.revokeObjectURL(made);
    } catch {
      setWrong(true);
    }
  }, [type, base64]);
  if (wrong) return <p class="hint">A picture that cannot be read.</p>;
  return address ? <img src={address} alt={says || "Output of the cell"} onError={() => setWrong(true)} /> : null;
}

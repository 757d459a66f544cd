// Jupyter notebooks: cells and outputs. Nothing is run, and HTML and SVG are not rendered.
import { useEffect, useMemo, useState } from "preact/hooks";
import { plural, size } from "../format";
import { Lines } from "./lines";
import { MarkdownText } from "./markdown";
import type { ViewerProps } from "./props";
import { MB } from "./source";
import { WholeText } from "./wholetext";

/** A notebook is one JSON text, which is needed as a whole; larger ones are shown as text. */
const bound = 16 * MB;

/** Cells that are shown at a time. */
const batch = 100;

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

export function NotebookPreview({ file }: ViewerProps) {
  return (
    <WholeText file={file} bound={bound} tooLarge={`A notebook of ${size(file.bytes)} is too large to be rendered, so it is shown as text.`}>
      {(text) => <NotebookView text={text} />}
    </WholeText>
  );
}

function NotebookView({ text }: { text: string }) {
  const notebook = useMemo(() => parse(text), [text]);
  const [shown, setShown] = useState(batch);
  if (!notebook) {
    return (
      <>
        <p class="hint">This is not a valid notebook, so it is shown as text.</p>
        <Lines text={text} language="json" />
      </>
    );
  }
  return (
    <>
      <p class="dim preview-tools">
        {plural(notebook.cells.length, "cell")}
        {notebook.language && ` · ${notebook.language}`} · as saved, without running it
      </p>
      <div class="notebook">
        {notebook.cells.slice(0, shown).map((cell, i) => (
          <CellView key={i} cell={cell} />
        ))}
      </div>
      {notebook.cells.length > shown && (
        <p class="preview-foot">
          <button type="button" class="button" onClick={() => setShown(shown + batch)}>
            Show more cells
          </button>
        </p>
      )}
    </>
  );
}

const isObject = (value: unknown) => typeof value === "object" && value !== null;

/** The cells of a notebook of format 3 or 4; undefined for anything else. */
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

/** Removes escape sequences of terminals. */
const withoutEscapes = (text: string) => text.replace(/\x1b\[[\d;?]*[A-Za-z]/g, "");

function CellView({ cell }: { cell: Cell }) {
  const source = joined(cell.source);
  if (cell.cell_type === "markdown") {
    return (
      <div class="cell">
        <MarkdownText text={source} />
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

/** Characters of an output that are shown at most. */
const maxOutput = 20_000;

function TextOutput({ text, bad = false }: { text: string; bad?: boolean }) {
  const cut = text.length > maxOutput;
  return (
    <>
      <pre class={`output ${bad ? "bad" : ""}`} tabIndex={0}>
        {cut ? text.slice(0, maxOutput) : text}
      </pre>
      {cut && <p class="hint">These are the first {maxOutput} characters of this output; the file has all of it.</p>}
    </>
  );
}

const imageTypes = ["image/png", "image/jpeg"] as const;

function OutputView({ output }: { output: Output }) {
  if (output.output_type === "error" || output.output_type === "pyerr") {
    const trace = withoutEscapes(Array.isArray(output.traceback) ? output.traceback.join("\n") : "") || `${output.ename}: ${output.evalue}`;
    return <TextOutput text={trace} bad />;
  }
  if (output.output_type === "stream") return <TextOutput text={withoutEscapes(joined(output.text))} bad={output.name === "stderr"} />;
  const data = output.data ?? {};
  const image = imageTypes.find((type) => data[type] !== undefined);
  if (image) return <ImageOutput type={image} base64={joined(data[image])} description={joined(data["text/plain"])} />;
  if (data["text/plain"] !== undefined) {
    const other = Object.keys(data).filter((type) => type !== "text/plain");
    return (
      <>
        <TextOutput text={withoutEscapes(joined(data["text/plain"]))} />
        {other.length > 0 && <p class="hint">Not shown: {other.join(", ")}.</p>}
      </>
    );
  }
  const [type, text] = Object.entries(data)[0] ?? [];
  if (!type) return null;
  return (
    <>
      <p class="hint">{type}, not rendered:</p>
      <TextOutput text={joined(text)} />
    </>
  );
}

function ImageOutput({ type, base64, description }: { type: string; base64: string; description: string }) {
  const [address, setAddress] = useState("");
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    try {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      const created = URL.createObjectURL(new Blob([bytes], { type }));
      setAddress(created);
      return () => URL.revokeObjectURL(created);
    } catch {
      setFailed(true);
    }
  }, [type, base64]);
  if (failed) return <p class="hint">An image that cannot be shown.</p>;
  return address ? <img src={address} alt={description || "Output of the cell"} onError={() => setFailed(true)} /> : null;
}

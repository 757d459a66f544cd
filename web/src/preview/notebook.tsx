// Jupyter notebooks: cells and outputs. Nothing runs. Only tables and similar HTML are created
// anew, and SVG is not rendered.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { CodeBlock } from "../document/codeblock";
import { hasTable, Inert } from "../document/inert";
import type { Attachments } from "../document/links";
import { Base64Picture } from "../document/links";
import { MarkdownText } from "../document/markdowntext";
import { DocumentOf } from "../document/tools";
import { plural, size } from "../format";
import { Lines } from "./lines";
import type { ViewerProps } from "./props";
import { MB } from "./source";
import { WholeText } from "./wholetext";

/** A notebook is one JSON text, which has to be read as a whole; larger ones are shown as text. */
const bound = 16 * MB;

/** The number of cells per step. */
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
  attachments?: unknown;
  execution_count?: number | null;
  outputs?: Output[];
}

interface Notebook {
  cells: Cell[];
  /** The language of its code, or "". */
  language: string;
  /** The display name in the notebook. */
  kernel: string;
}

export function NotebookPreview({ file }: ViewerProps) {
  return (
    <WholeText file={file} bound={bound} tooLarge={`A notebook of ${size(file.bytes)} is too large to be rendered, so it is shown as text.`}>
      {(text) => (
        <DocumentOf file={file}>
          <NotebookView text={text} />
        </DocumentOf>
      )}
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
        {notebook.kernel && ` · ${notebook.kernel}`} · as saved, without running it
      </p>
      <div class="notebook">
        {notebook.cells.slice(0, shown).map((cell, i) => (
          <CellView key={i} cell={cell} language={notebook.language} />
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
    const { kernelspec, language_info } = book.metadata ?? {};
    const kernel = String(kernelspec?.display_name ?? language_info?.name ?? "").slice(0, 60);
    return { cells: cells.filter(isObject), language: String(language_info?.name ?? kernelspec?.language ?? "").slice(0, 40), kernel };
  } catch {
    return undefined;
  }
}

const joined = (text: unknown): string => (Array.isArray(text) ? text.join("") : typeof text === "string" ? text : text === undefined ? "" : JSON.stringify(text));

/** Removes terminal escape sequences. */
const withoutEscapes = (text: string) => text.replace(/\x1b\[[\d;?]*[A-Za-z]/g, "");

const attachmentsOf = ({ attachments }: Cell) => (isObject(attachments) ? (attachments as Attachments) : undefined);

function CellView({ cell, language }: { cell: Cell; language: string }) {
  const source = joined(cell.source);
  if (cell.cell_type === "markdown") {
    return (
      <div class="cell">
        <MarkdownText text={source} attachments={attachmentsOf(cell)} />
      </div>
    );
  }
  const code = cell.cell_type === "code";
  const outputs = Array.isArray(cell.outputs) ? cell.outputs.filter(isObject) : [];
  const magic = /^%%(bash|sh|javascript|js|html|latex|perl|ruby|R|sql|cython|julia)\b/.exec(source)?.[1];
  return (
    <div class="cell">
      {code && <div class="count">In [{String(cell.execution_count ?? " ")}]</div>}
      <CodeBlock text={source} language={code ? (magic === "cython" ? "python" : (magic ?? language)) : ""} />
      {outputs.map((output, i) => (
        <OutputView key={i} output={output} />
      ))}
    </div>
  );
}

/** The maximum number of displayed characters of an output. */
const maxOutput = 20_000;

/** Outputs with more lines are folded. */
const maxUnfolded = 60;

function TextOutput({ text, bad = false }: { text: string; bad?: boolean }) {
  const cut = text.length > maxOutput;
  const lines = text.trimEnd().split("\n").length;
  return (
    <Folded lines={lines}>
      <pre class={`output ${bad ? "bad" : ""}`} tabIndex={0}>
        {cut ? text.slice(0, maxOutput) : text}
      </pre>
      {cut && <p class="hint">These are the first {maxOutput} characters of this output; the file has all of it.</p>}
    </Folded>
  );
}

function Folded({ lines, children }: { lines: number; children: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  if (lines <= maxUnfolded) return <>{children}</>;
  return (
    <details class="folded" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>Output of {plural(lines, "line")}</summary>
      {open && children}
    </details>
  );
}

/** The number of table rows above which the table is folded. */
const rowsOf = (html: string) => html.split(/<tr[\s>]/i).length - 1;

const imageTypes = ["image/png", "image/jpeg"] as const;

function OutputView({ output }: { output: Output }) {
  if (output.output_type === "error" || output.output_type === "pyerr") {
    const trace = withoutEscapes(Array.isArray(output.traceback) ? output.traceback.join("\n") : "") || `${output.ename}: ${output.evalue}`;
    return <TextOutput text={trace} bad />;
  }
  if (output.output_type === "stream") return <TextOutput text={withoutEscapes(joined(output.text))} bad={output.name === "stderr"} />;
  const data = output.data ?? {};
  const image = imageTypes.find((type) => data[type] !== undefined);
  if (image) return <Base64Picture type={image} base64={joined(data[image])} text={joined(data["text/plain"]) || "Output of the cell"} />;
  const html = joined(data["text/html"]);
  if (hasTable(html)) {
    return (
      <Folded lines={rowsOf(html)}>
        <div class="output">
          <Inert html={html} otherwise={joined(data["text/plain"])} />
        </div>
      </Folded>
    );
  }
  const marked = data["text/markdown"] ?? data["text/latex"];
  if (marked !== undefined) return <div class="output"><MarkdownText text={joined(marked)} /></div>;
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

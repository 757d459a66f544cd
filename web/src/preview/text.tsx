// Text and code: the first chunk at once, more on demand.
import { useEffect, useRef, useState } from "preact/hooks";
import type { StoredFile } from "../api";
import { plural, size } from "../format";
import { Button, Skeleton } from "../ui/components";
import { useAction } from "../ui/load";
import { BytesView } from "./bytes";
import type { ViewerProps } from "./props";
import { isBinary, kB, MB, ReadError, Source, useAbortController } from "./source";

const first = 256 * kB;
const step = MB;

/** Browsers become slow with more text in one element. */
const bound = 8 * MB;

const asSource = /^(text\/html|application\/xhtml|image\/svg)/;

export function TextPreview({ file }: ViewerProps) {
  const why = asSource.test(file.mimetype) ? "Shown as source: files of this type can contain scripts, which do not run here." : "";
  return <TextView file={file} why={why} />;
}

/** @param why the file is shown as text, if its type does not say so */
export function TextView({ file, why = "" }: { file: StoredFile; why?: string }) {
  const source = useRef<Source | undefined>(undefined);
  source.current ??= new Source(file);
  const control = useAbortController();
  const [text, setText] = useState<string | undefined>();
  const { run: more, problem, busy } = useAction(async () => {
    const chunk = await source.current!.next(text === undefined ? first : step, control.signal);
    setText((before = "") => before + chunk);
  });
  useEffect(() => void more(), []);
  const { read, bytes, ended, encoding } = source.current;
  if (text === undefined) return problem ? <ReadError problem={problem} retry={more} /> : <Skeleton lines={10} />;
  if (!encoding.startsWith("UTF-16") && isBinary(text)) return <BytesView file={file} why="This is not plain text." />;
  const end = ended ? "" : `the first ${size(read)} of ${size(bytes)}`;
  return (
    <>
      {why && <p class="hint">{why}</p>}
      <Lines text={text} about={[end, encoding === "UTF-8" ? "" : encoding]} />
      {problem && <ReadError problem={problem} retry={more} />}
      {!ended && (
        <p class="preview-foot" role="status">
          <span class="dim">This is {end}.</span>
          {read < bound ? (
            <Button busy={busy} onClick={more}>
              Show more
            </Button>
          ) : (
            <span class="dim">Download it to read the rest.</span>
          )}
        </p>
      )}
    </>
  );
}

/** Numbered lines. Long ones scroll, or wrap. */
export function Lines({ text, about = [] }: { text: string; about?: string[] }) {
  const [wrap, setWrap] = useState(false);
  const lines = countLines(text);
  const numbers = wrap ? "" : Array.from({ length: lines }, (_, i) => i + 1).join("\n");
  return (
    <>
      <div class="preview-tools">
        <span class="dim">{[plural(lines, "line"), ...about].filter(Boolean).join(" · ")}</span>
        <label>
          <input type="checkbox" checked={wrap} onChange={() => setWrap(!wrap)} />
          Wrap lines
        </label>
      </div>
      <div class={`lines ${wrap ? "wrap" : ""}`} tabIndex={0} role="region" aria-label="Text">
        {!wrap && (
          <pre class="numbers" aria-hidden="true">
            {numbers}
          </pre>
        )}
        <pre class="text">{text}</pre>
      </div>
    </>
  );
}

function countLines(text: string): number {
  let n = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < text.length - 1; at = text.indexOf("\n", at + 1)) n++;
  return n;
}

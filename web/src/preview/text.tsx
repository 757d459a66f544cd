// Text and code: the first part at once, more when asked for.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem, Resource } from "../api";
import { plural, size } from "../human";
import { Button, Waiting } from "../ui/basics";
import { asProblem } from "../ui/load";
import { BytesPreview } from "./bytes";
import type { ViewerProps } from "./preview";
import { isBinary, kB, MB, Source, Unread, useControl } from "./source";

const first = 256 * kB;
const step = MB;

/** Browsers grow slow with more text than this in one place. */
const bound = 8 * MB;

const asSource = /^(text\/html|application\/xhtml|image\/svg)/;

export function TextPreview({ resource }: ViewerProps) {
  const why = asSource.test(resource.mimetype) ? "Shown as its source: files like this can hold scripts, which do not run here." : "";
  return <TextView resource={resource} why={why} />;
}

/** @param why it is shown as text, if that is not plain */
export function TextView({ resource, why = "" }: { resource: Resource; why?: string }) {
  const source = useRef<Source | undefined>(undefined);
  source.current ??= new Source(resource);
  const control = useControl();
  const [text, setText] = useState<string | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const [busy, setBusy] = useState(false);
  const more = async () => {
    setProblem(undefined);
    setBusy(true);
    try {
      const part = await source.current!.next(text === undefined ? first : step, control.signal);
      setText((before = "") => before + part);
    } catch (thrown) {
      if (!control.signal.aborted) setProblem(asProblem(thrown));
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => void more(), []);
  const { read, bytes, ended, encoding } = source.current;
  if (text === undefined) return problem ? <Unread problem={problem} retry={more} /> : <Waiting lines={10} />;
  if (!encoding.startsWith("UTF-16") && isBinary(text)) return <BytesPreview resource={resource} why="This is not only text." />;
  const end = ended ? "" : `the first ${size(read)} of ${size(bytes)}`;
  return (
    <>
      {why && <p class="hint">{why}</p>}
      <Lines text={text} about={[end, encoding === "UTF-8" ? "" : encoding]} />
      {problem && <Unread problem={problem} retry={more} />}
      {!ended && (
        <p class="preview-foot" role="status">
          <span class="dim">This is {end}.</span>
          {read < bound ? (
            <Button busy={busy} onClick={more}>
              Show more
            </Button>
          ) : (
            <span class="dim">Download it to read on.</span>
          )}
        </p>
      )}
    </>
  );
}

/** Lines with their numbers. Long lines are scrolled to, or wrapped. */
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

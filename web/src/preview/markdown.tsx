// Markdown, rendered or as its source.
import { lexer } from "marked";
import { useMemo, useState } from "preact/hooks";
import { size } from "../format";
import { ViewSwitch } from "../ui/components";
import { Markdown } from "../ui/markdown";
import { addressedLines, Lines } from "./lines";
import type { ViewerProps } from "./props";
import { kB } from "./source";
import { WholeText } from "./wholetext";

/** Larger files are shown as text. */
const bound = 512 * kB;

export function MarkdownPreview({ file }: ViewerProps) {
  return (
    <WholeText file={file} bound={bound} tooLarge={`A document of ${size(file.bytes)} is too large to be rendered, so it is shown as text.`}>
      {(text) => <RenderedOrSource text={text} />}
    </WholeText>
  );
}

function RenderedOrSource({ text }: { text: string }) {
  const [view, setView] = useState<"rendered" | "source">(addressedLines() ? "source" : "rendered");
  return (
    <>
      <div class="preview-tools">
        <ViewSwitch views={["rendered", "source"] as const} view={view} onChange={setView} />
      </div>
      {view === "source" ? <Lines text={text} language="markdown" /> : <MarkdownText text={text} />}
    </>
  );
}

/** A text in Markdown; one that cannot be parsed is shown as it is written. */
export function MarkdownText({ text }: { text: string }) {
  const tokens = useMemo(() => {
    try {
      return lexer(text, { gfm: true });
    } catch {
      return undefined; // the nesting exceeds the stack
    }
  }, [text]);
  if (!tokens) return <pre class="preserve">{text}</pre>;
  return (
    <div class="prose markdown">
      <Markdown tokens={tokens} />
    </div>
  );
}

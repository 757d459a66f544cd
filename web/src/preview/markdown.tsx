// Markdown, rendered or as its source.
import { useState } from "preact/hooks";
import { MarkdownText } from "../document/markdowntext";
import { DocumentOf } from "../document/tools";
import { size } from "../format";
import { ViewSwitch } from "../ui/components";
import { addressedLines, Lines } from "./lines";
import type { ViewerProps } from "./props";
import { kB } from "./source";
import { WholeText } from "./wholetext";

/** Larger files are shown as text. */
const bound = 512 * kB;

export function MarkdownPreview({ file }: ViewerProps) {
  return (
    <WholeText file={file} bound={bound} tooLarge={`A document of ${size(file.bytes)} is too large to be rendered, so it is shown as text.`}>
      {(text) => (
        <DocumentOf file={file}>
          <RenderedOrSource text={text} />
        </DocumentOf>
      )}
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
      {view === "source" ? <Lines text={text} language="markdown" /> : <MarkdownText text={text} anchors />}
    </>
  );
}

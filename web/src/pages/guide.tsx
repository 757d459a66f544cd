import text from "../docs/guide.md";
import type { PageProps } from "../app";
import { blocks } from "../docs/blocks";
import { Document } from "../docs/frame";
import { Blocks } from "../docs/markdown";
import { withOwnAddress } from "../docs/own";

/** The user guide: guide.md beside the frame, with the visitor's own address. */
export function GuidePage(_: PageProps) {
  const [, ...guide] = blocks(withOwnAddress(text)); // the first is the title, which stands above already
  const contents = guide.flatMap((b) => (b.kind === "heading" && b.level === 2 ? [{ id: b.id, label: b.text }] : []));
  return (
    <Document title="User guide" lead="Short recipes, task by task. Every command is filled in for this service." contents={contents}>
      <div class="prose">
        <Blocks of={guide} />
      </div>
    </Document>
  );
}

import { lexer } from "marked";
import { withOwnAddress } from "../docs/address";
import text from "../docs/guide.md";
import { DocumentLayout } from "../docs/layout";
import { contentsOf, Rendered } from "../docs/markdown";

/** The user guide: docs/guide.md, with the address of this service. */
export function GuidePage() {
  const [, ...guide] = lexer(withOwnAddress(text)); // without the title, which the layout shows
  return (
    <DocumentLayout title="User guide" lead="Short instructions, task by task. All commands contain the address of this service." contents={contentsOf(guide)}>
      <div class="prose">
        <Rendered tokens={guide} />
      </div>
    </DocumentLayout>
  );
}

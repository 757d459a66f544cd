import { lexer } from "marked";
import { service } from "../api";
import { withOwnAddress } from "../docs/address";
import { DocumentLayout } from "../docs/layout";
import { contentsOf, Rendered } from "../docs/markdown";
import { Code, ErrorMessage, Skeleton } from "../ui/components";
import { useLoad } from "../ui/load";
import type { PageProps } from "./props";

/** A page of the manual: a file of the documentation that the program carries, with the address of this service. */
export function ManualPage({ params }: PageProps) {
  const name = params.page!;
  const isConfig = name === "config";
  const file = isConfig ? "config.example.toml" : `${encodeURIComponent(name)}.md`;
  const { value: text, problem, reload } = useLoad(() => service.document(file), [file]);
  const [title, ...rest] = isConfig || !text ? [] : lexer(withOwnAddress(text));
  const heading = isConfig ? "Configuration" : title?.type === "heading" ? title.text : name;
  return (
    <DocumentLayout title={heading} lead="A page of the manual, for this version of the program." contents={contentsOf(rest)}>
      {problem && <ErrorMessage problem={problem} retry={reload} />}
      {!text && !problem && <Skeleton lines={12} />}
      {text && <div class="prose">{isConfig ? <Code text={text} what="the configuration" /> : <Rendered tokens={rest} />}</div>}
    </DocumentLayout>
  );
}

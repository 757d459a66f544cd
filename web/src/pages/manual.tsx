import { lexer } from "marked";
import { base, problemOf, unreachable } from "../api";
import { withOwnAddress } from "../docs/address";
import { DocumentLayout } from "../docs/layout";
import { contentsOf, Rendered } from "../docs/markdown";
import { Code, ErrorMessage, Skeleton } from "../ui/components";
import { useLoad } from "../ui/load";
import type { PageProps } from "./props";

/** Reads a file of the documentation, such as operations.md, outside of the API. */
async function read(file: string): Promise<string> {
  const answer = await fetch(`${base}/docs/${file}`).catch(() => {
    throw unreachable;
  });
  const text = await answer.text();
  if (!answer.ok) throw problemOf(answer.status, text);
  return text;
}

/** A page of the manual: an embedded documentation file, with the address of this service. */
export function ManualPage({ params }: PageProps) {
  const name = params.page!;
  const isConfig = name === "config";
  const file = isConfig ? "config.example.toml" : `${encodeURIComponent(name)}.md`;
  const { value: text, problem, reload } = useLoad(() => read(file), [file]);
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

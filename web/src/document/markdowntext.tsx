// A text in Markdown within a document: with formulas, colours of code, and what it refers to in its set.
import type { Token, Tokens } from "marked";
import { useEffect, useMemo } from "preact/hooks";
import { listen } from "../events";
import type { Renderers } from "../ui/markdown";
import { decoded, Heading, Markdown } from "../ui/markdown";
import { CodeBlock } from "./codeblock";
import { FormulaView } from "./formula";
import { Inert } from "./inert";
import type { Attachments } from "./links";
import { DocumentLink, DocumentPicture } from "./links";
import { documentTokens, type Formula, slugOf } from "./tokens";

interface Props {
  text: string;
  attachments?: Attachments | undefined;
  /** Its headings have addresses. */
  anchors?: boolean;
}

/** Ids of a file are told from those of the page by this. */
const idOf = (slug: string) => `content-${slug}`;

/** What stands before a document in YAML, as programs for papers have it. */
const frontMatter = /^---[ \t]*\n([^]{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/** A text that cannot be parsed is shown as it is written. */
export function MarkdownText({ text: all, attachments, anchors }: Props) {
  const front = anchors ? frontMatter.exec(all) : undefined;
  const text = front ? all.slice(front[0].length) : all;
  const tokens = useMemo(() => documentTokens(text), [text]);
  const renderers = useMemo(() => renderersOf(attachments, anchors ? idsOf(tokens ?? []) : new Map()), [tokens, attachments, anchors]);
  useEffect(() => {
    if (!anchors) return;
    const scroll = () => document.getElementById(idOf(decodedFragment()))?.scrollIntoView();
    scroll();
    return listen(window, "hashchange", scroll);
  }, [tokens, anchors]);
  if (!tokens) return <pre class="preserve">{text}</pre>;
  return (
    <div class="prose markdown">
      {front && <CodeBlock text={front[1]!} language="yaml" />}
      <Markdown tokens={tokens} overrides={renderers} />
    </div>
  );
}

function decodedFragment(): string {
  try {
    return decodeURIComponent(location.hash.slice(1)).toLowerCase();
  } catch {
    return "";
  }
}

/** The ids of headings; of equal ones the second ends with -1. */
function idsOf(tokens: Token[]): Map<Token, string> {
  const taken = new Map<string, number>();
  const ids = new Map<Token, string>();
  for (const token of tokens) {
    if (token.type !== "heading") continue;
    const slug = slugOf(token.text);
    const n = taken.get(slug) ?? 0;
    taken.set(slug, n + 1);
    ids.set(token, idOf(n ? `${slug}-${n}` : slug));
  }
  return ids;
}

function renderersOf(attachments: Attachments | undefined, ids: Map<Token, string>): Renderers {
  return {
    formula: (t: Formula) => <FormulaView source={t.source} display={t.display} />,
    code: (t: Tokens.Code) => (t.lang === "math" ? <FormulaView source={t.text} display /> : <CodeBlock text={t.text} language={t.lang ?? ""} />),
    heading: (t: Tokens.Heading, children) => (
      <Heading depth={t.depth} id={ids.get(t)}>
        {children(t)}
      </Heading>
    ),
    link: (t: Tokens.Link, children) => <DocumentLink href={decoded(t.href)}>{children(t)}</DocumentLink>,
    image: (t: Tokens.Image) => <DocumentPicture href={decoded(t.href)} text={decoded(t.text)} attachments={attachments} />,
    html: (t: Tokens.HTML) => (t.block ? <Inert html={t.raw} attachments={attachments} otherwise={<pre class="block">{t.raw.trimEnd()}</pre>} /> : <code>{t.raw}</code>),
  };
}

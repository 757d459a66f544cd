// Markdown within a document: with formulas, syntax colours, and references to files of its set.
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
  /** Whether its headings have addresses. */
  anchors?: boolean;
}

/** The prefix that separates ids of a file from ids of the page. */
const idOf = (slug: string) => `content-${slug}`;

/** YAML front matter, as programs for papers write it. */
const frontMatter = /^---[ \t]*\n([^]{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/** A text that cannot be parsed is shown as written. */
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

/** The ids of headings; repeated ids get the suffix -1 and so on. */
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

// Renders the documents of the service: headings with links to themselves, and code that can be
// copied.
import type { Token, Tokens } from "marked";
import { Lexer, lexer } from "marked";
import type { ComponentChildren } from "preact";
import { base } from "../api";
import { Link } from "../router";
import { Code } from "../ui/components";
import type { Renderers } from "../ui/markdown";
import { Markdown, Table } from "../ui/markdown";

/** The id of a heading. */
export const slug = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

/** The table of contents: the headings of the second level. */
export const contentsOf = (tokens: Token[]) =>
  tokens.flatMap((t) => (t.type === "heading" && t.depth === 2 ? [{ id: slug(t.text), label: t.text as string }] : []));

const renderers: Renderers = {
  html: (t: Tokens.HTML) => (t.raw.startsWith("<!--") ? null : t.raw),
  heading: (t: Tokens.Heading, children) => (
    <Heading level={t.depth} id={slug(t.text)}>
      {children(t)}
    </Heading>
  ),
  code: (t: Tokens.Code) => <Code text={t.text} />,
  table: (t: Tokens.Table, children) => <Table table={t} class="plain" children={children} />,
  link: (t: Tokens.Link, children) => <DocumentLink href={t.href}>{children(t)}</DocumentLink>,
};

export const Rendered = ({ tokens }: { tokens: Token[] }) => <Markdown tokens={tokens} overrides={renderers} />;

export const Text = ({ text }: { text: string }) => <Rendered tokens={lexer(text)} />;

/** A link of a document. Links between files of the documentation lead to their pages; other files of the source tree are not served. */
function DocumentLink({ href, children }: { href: string; children: ComponentChildren }) {
  const [, page, fragment = ""] = /^([a-z-]+)\.md(#.*)?$/.exec(href) ?? [];
  const to = page ? `/docs/${page}${fragment}` : (served[href] ?? (href.startsWith("/") ? href : undefined));
  if (to) return <Link to={to}>{children}</Link>;
  if (href.startsWith("examples/")) return <a href={`${base}/docs/${href}`}>{children}</a>;
  return href.startsWith("../") ? <>{children}</> : <a href={href}>{children}</a>;
}

const served: Record<string, string> = {
  "../config.example.toml": "/docs/config",
  "config.example.toml": "/docs/config",
  "../handlers/openapi.yaml": "/docs/interface",
};

/** Text within a line: code, emphasis and links. */
export const Inline = ({ text }: { text: string }) => <Rendered tokens={Lexer.lexInline(text)} />;

/** A heading with a link to itself. */
export function Heading({ level, id, children }: { level: number; id: string; children: ComponentChildren }) {
  const Tag = `h${level}` as "h2";
  return (
    <Tag id={id} class="anchored">
      {children}
      <a class="anchor" href={`#${id}`} aria-label="Link to this section">
        #
      </a>
    </Tag>
  );
}

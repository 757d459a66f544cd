// Renders the documents of the service: headings with links to themselves, and code that can be copied.
import type { Token, Tokens } from "marked";
import { Lexer, lexer } from "marked";
import type { ComponentChildren } from "preact";
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
  heading: (t: Tokens.Heading, children) => (
    <Heading level={t.depth} id={slug(t.text)}>
      {children(t)}
    </Heading>
  ),
  code: (t: Tokens.Code) => <Code text={t.text} />,
  table: (t: Tokens.Table, children) => <Table table={t} class="plain" children={children} />,
  link: (t: Tokens.Link, children) => (t.href.startsWith("/") ? <Link to={t.href}>{children(t)}</Link> : <a href={t.href}>{children(t)}</a>),
};

export const Rendered = ({ tokens }: { tokens: Token[] }) => <Markdown tokens={tokens} overrides={renderers} />;

export const Text = ({ text }: { text: string }) => <Rendered tokens={lexer(text)} />;

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

// Renders Markdown from the tokens of marked, never from HTML, so that nothing has to be sanitized: HTML is shown as text. Links lead only to
// web pages and mail addresses, and no image is fetched.
import type { Token, Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { Fragment } from "preact";

/** Renders what a token contains. */
type Children = (token: { tokens?: Token[]; text?: string }) => ComponentChildren;

/** A renderer for each type of token. Other types are shown as written. */
export type Renderers = Record<string, (token: never, children: Children) => ComponentChildren>;

/** @param overrides replace the default renderers of some types */
export function Markdown({ tokens, overrides }: { tokens: Token[]; overrides?: Renderers }) {
  const renderers = { ...defaults, ...overrides };
  const all = (tokens: Token[]) =>
    tokens.map((token, i) => <Fragment key={i}>{renderers[token.type] ? renderers[token.type]!(token as never, children) : token.raw}</Fragment>);
  const children: Children = ({ tokens, text }) => (tokens ? all(tokens) : decoded(text ?? ""));
  return <>{all(tokens)}</>;
}

const defaults: Renderers = {
  space: () => null,
  def: () => null,
  hr: () => <hr />,
  br: () => <br />,
  heading: (t: Tokens.Heading, children) => <Heading depth={t.depth}>{children(t)}</Heading>,
  paragraph: (t: Tokens.Paragraph, children) => <p>{children(t)}</p>,
  blockquote: (t: Tokens.Blockquote, children) => <blockquote>{children(t)}</blockquote>,
  code: (t: Tokens.Code) => (
    <pre class="block" tabIndex={0}>
      {t.text}
    </pre>
  ),
  list: (t: Tokens.List, children) => {
    const items = t.items.map((item, i) => <li key={i}>{children(item)}</li>);
    return t.ordered ? <ol start={Number(t.start) || 1}>{items}</ol> : <ul>{items}</ul>;
  },
  checkbox: (t: Tokens.Checkbox) => <input type="checkbox" checked={t.checked} disabled aria-label={t.checked ? "done" : "to do"} />,
  table: (t: Tokens.Table, children) => <Table table={t} children={children} />,
  html: (t: Tokens.HTML) => (t.block ? <pre class="block">{t.raw.trimEnd()}</pre> : <code>{t.raw}</code>),
  text: (t: Tokens.Text, children) => children(t),
  escape: (t: Tokens.Escape) => t.text,
  strong: (t: Tokens.Strong, children) => <strong>{children(t)}</strong>,
  em: (t: Tokens.Em, children) => <em>{children(t)}</em>,
  del: (t: Tokens.Del, children) => <del>{children(t)}</del>,
  codespan: (t: Tokens.Codespan) => <code>{t.text}</code>,
  link: (t: Tokens.Link, children) => <ExternalLink href={t.href}>{children(t)}</ExternalLink>,
  image: (t: Tokens.Image) => (
    <ExternalLink href={t.href}>
      [image{t.text ? ": " : ""}
      {decoded(t.text)}]
    </ExternalLink>
  ),
};

/** Headings of a file are one level below the heading of the page. */
export function Heading({ depth, id, children }: { depth: number; id?: string | undefined; children: ComponentChildren }) {
  const Level = (["h2", "h3", "h4", "h5", "h6", "h6"] as const)[depth - 1] ?? "h6";
  return (
    <Level class={`level-${depth}`} id={id}>
      {children}
    </Level>
  );
}

export function Table({ table, children, class: classes }: { table: Tokens.Table; children: Children; class?: string }) {
  const side = (cell: Tokens.TableCell) => (cell.align === "right" ? "end" : cell.align === "center" ? "centre" : "");
  return (
    <div class="wide" tabIndex={0} role="group" aria-label="Table">
      <table class={classes}>
        <thead>
          <tr>
            {table.header.map((cell, i) => (
              <th key={i} scope="col" class={side(cell)}>
                {children(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j} class={side(cell)}>
                  {children(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A link to a web page or an email address; other links are plain text. The tooltip shows the
    target, which the text can hide. */
export function ExternalLink({ href, children }: { href: string; children: ComponentChildren }) {
  const address = URL.parse(decoded(href));
  if (!address || !["http:", "https:", "mailto:"].includes(address.protocol)) {
    return <span title={href.slice(0, 200)}>{children}</span>;
  }
  return (
    <a href={address.href} target="_blank" rel="noopener noreferrer" title={address.href}>
      {children}
    </a>
  );
}

const names: Record<string, string> = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", deg: "°", micro: "µ", plusmn: "±", times: "×", middot: "·",
  ndash: "–", mdash: "—", hellip: "…", alpha: "α", beta: "β", gamma: "γ", delta: "δ", lambda: "λ", mu: "μ", sigma: "σ", omega: "ω",
  Delta: "Δ", Omega: "Ω", le: "≤", ge: "≥", ne: "≠", rarr: "→", larr: "←", sup2: "²", sup3: "³", frac12: "½",
};

/** Decodes character references. Unknown ones stay as they are. */
export function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]\w*));/gi, (whole, decimal, hex, name) => {
    if (name) return Object.hasOwn(names, name) ? names[name]! : whole;
    const code = decimal ? Number(decimal) : parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

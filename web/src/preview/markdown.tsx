// Markdown, drawn from what marked makes of it: tokens, never HTML. So nothing has to be cleaned: whatever stands in a file ends up as
// text. HTML in it is shown as it is written; links lead only where a browser shows pages or writes mail; no picture is fetched.
import { lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { size } from "../human";
import { Button, Waiting } from "../ui/basics";
import type { ViewerProps } from "./preview";
import { kB, Unread, useText } from "./source";
import { Lines, TextView } from "./text";

/** Longer ones are shown as text. */
const bound = 512 * kB;

export function MarkdownPreview({ resource }: ViewerProps) {
  if (resource.bytes > bound) return <TextView resource={resource} why={`With ${size(resource.bytes)} it is too long to be laid out, so it is shown as text.`} />;
  return <Whole resource={resource} />;
}

function Whole({ resource }: ViewerProps) {
  const { value, problem, reload } = useText(resource, bound);
  const [raw, setRaw] = useState(false);
  if (problem) return <Unread problem={problem} retry={reload} />;
  if (!value) return <Waiting lines={10} />;
  return (
    <>
      <div class="preview-tools">
        <div class="either" role="group" aria-label="Show as">
          <Button kind="quiet" aria-pressed={!raw} onClick={() => setRaw(false)}>
            Read
          </Button>
          <Button kind="quiet" aria-pressed={raw} onClick={() => setRaw(true)}>
            Source
          </Button>
        </div>
      </div>
      {raw ? <Lines text={value.text} /> : <Markdown text={value.text} />}
    </>
  );
}

/** A text in Markdown. What cannot be taken apart is shown as it is. */
export function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => {
    try {
      return lexer(text, { gfm: true });
    } catch {
      return undefined; // nested deeper than the stack allows
    }
  }, [text]);
  if (!tokens) return <pre class="preserve">{text}</pre>;
  return <div class="prose markdown">{all(tokens)}</div>;
}

const all = (tokens: Token[] | undefined): ComponentChildren => tokens?.map((token, i) => <Piece key={i} token={token} />);

type Draw = (token: never) => ComponentChildren;

const inner = (token: { tokens?: Token[]; text: string }) => (token.tokens ? all(token.tokens) : decoded(token.text));

/** How each kind of token is drawn. Other kinds are shown as they are written. */
const pieces: Record<string, Draw> = {
  space: () => null,
  def: () => null,
  hr: () => <hr />,
  br: () => <br />,
  heading: (t: Tokens.Heading) => <Heading depth={t.depth}>{inner(t)}</Heading>,
  paragraph: (t: Tokens.Paragraph) => <p>{inner(t)}</p>,
  blockquote: (t: Tokens.Blockquote) => <blockquote>{all(t.tokens)}</blockquote>,
  code: (t: Tokens.Code) => (
    <pre class="block" tabIndex={0}>
      {t.text}
    </pre>
  ),
  list: (t: Tokens.List) => {
    const items = t.items.map((item, i) => <li key={i}>{all(item.tokens)}</li>);
    return t.ordered ? <ol start={Number(t.start) || 1}>{items}</ol> : <ul>{items}</ul>;
  },
  checkbox: (t: Tokens.Checkbox) => <input type="checkbox" checked={t.checked} disabled aria-label={t.checked ? "done" : "to do"} />,
  table: (t: Tokens.Table) => <Table table={t} />,
  html: (t: Tokens.HTML) => (t.block ? <pre class="block">{t.raw.trimEnd()}</pre> : <code>{t.raw}</code>),
  text: (t: Tokens.Text) => inner(t),
  escape: (t: Tokens.Escape) => t.text,
  strong: (t: Tokens.Strong) => <strong>{all(t.tokens)}</strong>,
  em: (t: Tokens.Em) => <em>{all(t.tokens)}</em>,
  del: (t: Tokens.Del) => <del>{all(t.tokens)}</del>,
  codespan: (t: Tokens.Codespan) => <code>{t.text}</code>,
  link: (t: Tokens.Link) => <Away href={t.href}>{all(t.tokens)}</Away>,
  image: (t: Tokens.Image) => (
    <Away href={t.href}>
      [picture{t.text ? ": " : ""}
      {decoded(t.text)}]
    </Away>
  ),
};

function Piece({ token }: { token: Token }) {
  const draw = pieces[token.type];
  return <>{draw ? draw(token as never) : token.raw}</>;
}

/** Headings of a file stand below those of the page. */
function Heading({ depth, children }: { depth: number; children: ComponentChildren }) {
  const Level = (["h2", "h3", "h4", "h5", "h6", "h6"] as const)[depth - 1] ?? "h6";
  return <Level class={`level-${depth}`}>{children}</Level>;
}

function Table({ table }: { table: Tokens.Table }) {
  const side = (cell: Tokens.TableCell) => (cell.align === "right" ? "end" : cell.align === "center" ? "centre" : "");
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, i) => (
              <th key={i} scope="col" class={side(cell)}>
                {all(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j} class={side(cell)}>
                  {all(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A link, if it leads to a page or to an address of mail; else only its text. Where it leads is shown: the text may say another thing. */
function Away({ href, children }: { href: string; children: ComponentChildren }) {
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

/** The characters that stand for others in Markdown as in HTML. Those that are not known stay as they are. */
function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]\w*));/gi, (whole, decimal, hex, name) => {
    if (name) return Object.hasOwn(names, name) ? names[name]! : whole;
    const code = decimal ? Number(decimal) : parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

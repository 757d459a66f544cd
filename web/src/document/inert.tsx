// HTML of a file, such as pandas tables. Its cleaned text is parsed without a window, so that
// nothing runs or is fetched. An allowlist of text elements is then created anew.
import type { ComponentChildren } from "preact";
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { cleaned, isKept } from "./cleaned";
import type { Attachments } from "./links";
import { DocumentLink, DocumentPicture } from "./links";

/** Limits: characters of HTML, elements, and nesting. */
const maxHTML = 4e6;
const maxElements = 15_000;
const maxDepth = 60;

/** Limits: cells of a row, and cells covered by spans: each column costs layout time. */
const maxColumns = 500;
const maxSpanned = 3000;

interface Props {
  html: string;
  attachments?: Attachments | undefined;
  /** Shown if nothing remains, or if the text is too long. */
  otherwise: ComponentChildren;
}

export function Inert({ html, attachments, otherwise }: Props) {
  const content = useMemo(() => (html.length > maxHTML ? undefined : contentOf(html, attachments)), [html, attachments]);
  if (!content) return <>{otherwise}</>;
  return <div class="inert">{content}</div>;
}

/** Whether a text contains a table. */
export const hasTable = (html: string) => html.length <= maxHTML && /<table[\s>]/i.test(html);

function contentOf(html: string, attachments: Attachments | undefined): ComponentChildren | undefined {
  const { body } = new DOMParser().parseFromString(cleaned(html), "text/html");
  let left = maxElements;
  let spanned = maxSpanned;
  const spansOf = (element: Element): { colSpan?: number; rowSpan?: number } => {
    const [colSpan, rowSpan] = [spanOf(element, "colspan"), spanOf(element, "rowspan")];
    const more = colSpan * rowSpan - 1;
    if (!more || more > spanned) return {};
    spanned -= more;
    return { colSpan, rowSpan };
  };
  let found = false;
  const convert = (node: Node, depth: number): ComponentChildren => {
    if (node.nodeType === Node.TEXT_NODE) {
      found ||= !!node.nodeValue!.trim();
      return node.nodeValue;
    }
    if (!(node.nodeType === Node.ELEMENT_NODE) || --left < 0 || depth > maxDepth) return null;
    const element = node as HTMLElement;
    const name = element.localName;
    const { src, alt = "" } = element.dataset;
    if (src !== undefined) {
      found = true;
      return <DocumentPicture href={src} text={alt} attachments={attachments} />;
    }
    const nodes = name === "tr" ? [...element.childNodes].slice(0, 2 * maxColumns) : [...element.childNodes];
    const children = nodes.map((child) => convert(child, depth + 1));
    if (name === "a" && element.hasAttribute("href")) return <DocumentLink href={element.getAttribute("href")!}>{children}</DocumentLink>;
    if (/^h[1-6]$/.test(name)) return <p><strong>{children}</strong></p>;
    if (/^(div|section|center|figure)$/.test(name)) return <div>{children}</div>;
    if (!isKept(name)) return children;
    return name === "table" ? table(children) : h(name, name === "td" || name === "th" ? spansOf(element) : {}, ...children);
  };
  const content = [...body.childNodes].map((child) => convert(child, 0));
  if (left < 0) content.push(<p class="hint">Only the first part is shown. Download the file to see all of it.</p>);
  return found ? content : undefined;
}

const table = (rows: ComponentChildren) => (
  <div class="wide" tabIndex={0} role="group" aria-label="Table">
    <table>{rows}</table>
  </div>
);

/** Rows or columns of a cell. */
const spanOf = (cell: Element, attribute: string) => Math.min(1000, Math.max(1, parseInt(cell.getAttribute(attribute) ?? "", 10) || 1));

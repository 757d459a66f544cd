// HTML reduced to an allowlist of elements and attributes before it is parsed. Otherwise, the
// page's content security policy would report violations even in a document without a window. This
// module is independent of the page.

/** Elements that arrange text. */
const kept = new Set(
  "table caption thead tbody tfoot tr th td p br hr b strong i em u s sub sup code pre kbd ul ol li dl dt dd blockquote details summary h1 h2 h3 h4 h5 h6 div section center figure".split(" "),
);

export const isKept = (name: string) => kept.has(name);

/** Elements whose content is not text for people. */
const dropped = new Set("script style template title head svg math iframe object embed noscript noembed noframes xmp plaintext canvas audio video select textarea button".split(" "));

/** Finds the position after the tag that begins at `start`; -1 if it has no end. After an unclosed
    quote, quotes are ignored. */
function tagEnds(html: string): (start: number) => number {
  let quotes = true;
  return (start) => {
    let quote = "";
    for (let at = start + 1; quotes && at < html.length; at++) {
      const c = html[at]!;
      if (quote) quote = c === quote ? "" : quote;
      else if (c === '"' || c === "'") quote = c;
      else if (c === ">") return at + 1;
    }
    quotes = false;
    return html.indexOf(">", start) + 1 || -1;
  };
}

export function cleaned(html: string): string {
  const out: string[] = [];
  const nameOf = /\/?[a-z][a-z\d]*/iy;
  const endOfTag = tagEnds(html);
  let tags = true; // there can be more tags
  for (let at = 0; at < html.length; ) {
    const start = html.indexOf("<", at);
    out.push(html.slice(at, start < 0 ? undefined : start));
    if (start < 0) break;
    if (html.startsWith("<!--", start)) {
      at = html.indexOf("-->", start + 4) + 3;
      if (at < 3) break;
      continue;
    }
    nameOf.lastIndex = start + 1;
    const name = nameOf.exec(html)?.[0].toLowerCase();
    const end: number = name && tags ? endOfTag(start) : -1;
    tags &&= !name || end > 0;
    at = end > 0 ? end : start + 1;
    if (!name || end < 0) {
      out.push("&lt;");
    } else if (dropped.has(name)) {
      const close = new RegExp(`</${name}`, "gi");
      close.lastIndex = end;
      at = close.exec(html)?.index ?? html.length;
    } else {
      out.push(tag(name, html.slice(start, end)));
    }
  }
  return out.join("");
}

/** A tag with its allowed attributes; "" if its element is not allowed. */
function tag(name: string, text: string): string {
  const attribute = (of: string, as = of) => {
    const value = new RegExp(`\\s${of}\\s*=\\s*("[^"]*"|'[^']*'|[^\\s"'>]+)`, "i").exec(text)?.[1];
    return value === undefined ? "" : ` ${as}="${value.replace(/^["']|["']$/g, "").replace(/"/g, "&quot;").replace(/</g, "&lt;")}"`;
  };
  if (name === "img") return `<i${attribute("src", "data-src") || ' data-src=""'}${attribute("alt", "data-alt")}></i>`;
  if (name === "a") return `<a${attribute("href")}>`;
  if (name === "td" || name === "th") return `<${name}${attribute("colspan")}${attribute("rowspan")}>`;
  return name === "/a" || kept.has(name.replace("/", "")) ? `<${name}>` : "";
}

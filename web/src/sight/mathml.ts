// The allowed elements, attributes, classes and styles of a formula. Independent of the page.

/** A formula from the decoder. It is untrusted. */
export type MathTree = string | { name: string; attributes: Record<string, string>; classes: string[]; style: Record<string, string>; children: MathTree[] };

/** The maximum nesting of elements. */
export const maxMathDepth = 150;

const words = (text: string) => new Set(text.split(" "));

const elements = new Set(
  "ath row i n o s text space frac sqrt root sub sup subsup under over underover multiscripts prescripts padded phantom style table tr td enclose".split(" ").map((name) => `m${name}`),
);

const attributes = words(
  "accent accentunder columnalign columnlines columnspacing columnspan depth display displaystyle fence form height largeop linebreak linethickness lspace mathcolor mathvariant maxsize minsize movablelimits notation rowlines rowspacing rowspan rspace scriptlevel separator stretchy symmetric voffset width",
);

const classes = words(
  "tml-display tml-right tml-left tml-jot tml-small tml-eqn tml-cancel upstrike downstrike sout tml-xcancel tml-overline tml-underline tml-fbox tml-prime menclose",
);

const styles = words("color padding paddingTop paddingRight paddingBottom paddingLeft border borderTop borderRight borderBottom borderLeft width fontWeight textAlign");

/** Lengths, words and colours: neither addresses nor functions. */
const value = /^[#\w.%+ -]{0,60}$/;

const allowed = (of: Record<string, string>, names: ReadonlySet<string>) =>
  Object.fromEntries(Object.entries(of).filter(([name, text]) => names.has(name) && value.test(String(text))));

/** The allowed form of an element: unknown elements become groups of their content. */
export function allowedElement(of: MathTree & object) {
  return {
    name: elements.has(of.name) ? of.name : "mrow",
    props: { ...allowed(of.attributes, attributes), class: of.classes.filter((name) => classes.has(name)).join(" ") || undefined },
    style: allowed(of.style, styles),
  };
}

// Formulas: from TeX to MathML elements, which the page creates. Macros of a formula apply to later
// formulas.
import type { MathNode } from "temml/dist/temml.min.js";
import temml from "temml/dist/temml.min.js";
import { type MathTree, maxMathDepth } from "../sight/mathml";
import { answerCalls, Refused } from "./lib/serve";

/** The maximum number of characters of a formula. */
const maxSource = 5000;

/** The maximum number of elements of a formula. */
const maxNodes = 20_000;

const options = {
  throwOnError: true,
  trust: false, // no links, pictures, or classes and styles of the formula
  strict: false,
  maxSize: [20, 200] as [number, number], // em, pt
  maxExpand: 500,
  macros: Object.create(null) as object,
};

answerCalls({
  formula: async ({ source, display }) => {
    if (source.length > maxSource) throw new Refused(`It has more than ${maxSource} characters.`);
    return treeOf(parse(source, display));
  },
});

function parse(source: string, display: boolean): MathNode {
  try {
    return temml.__renderToMathMLTree(source.replace(/(\\(?:begin|end)\{)eqnarray/g, "$1align"), { ...options, displayMode: display });
  } catch (thrown) {
    if (thrown instanceof RangeError) throw new Refused("It is nested too deeply.");
    // MathJax also allows such environments inline
    if (!display && /\\begin\{/.test(source)) return parse(source, true);
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new Refused(why.replace(/\u0332/g, "").replace(/^ParseError: ?/, "").trim().slice(0, 200));
  }
}

/** Formulas with these classes are refused, because the page does not draw them: angles, divisions,
    circles, cancelling arrows. */
const undrawn = ["longdiv-top", "phasor-bottom", "circle-pad", "actuarial", "tml-cancelto"];

function treeOf(root: MathNode): MathTree {
  let nodes = 0;
  const convert = (node: MathNode, depth: number): MathTree => {
    if (++nodes > maxNodes) throw new Refused(`It has more than ${maxNodes} parts.`);
    if (depth > maxMathDepth) throw new Refused("It is nested too deeply.");
    if (node.text !== undefined) return node.text;
    if (undrawn.some((name) => node.classes?.includes(name))) throw new Refused("It contains a symbol that cannot be drawn here.");
    const children = (node.children ?? []).map((child) => convert(child, depth + 1));
    return { name: node.type ?? "mrow", attributes: { ...node.attributes }, classes: [...(node.classes ?? [])], style: { ...node.style }, children };
  };
  return convert(root, 0);
}

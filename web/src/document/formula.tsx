// A formula as MathML, which the page creates from the response of the decoder. After an error, its
// source is shown.
import type { ComponentChildren } from "preact";
import { h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { allowedElement, type MathTree, maxMathDepth } from "../sight/mathml";
import { asProblem } from "../ui/load";
import { useDocument } from "./tools";

export function FormulaView({ source, display }: { source: string; display: boolean }) {
  const tools = useDocument();
  const [found, setFound] = useState<{ tree?: MathTree; why?: string }>({});
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let used = true;
    const answer = (found: { tree?: MathTree; why?: string }) => used && setFound(found);
    tools?.formula(source, display).then((tree) => answer({ tree }), (thrown) => answer({ why: asProblem(thrown).detail }));
    return () => void (used = false);
  }, [tools, source, display]);
  useEffect(() => {
    const wide = box.current && box.current.scrollWidth > box.current.clientWidth;
    if (wide) box.current!.tabIndex = 0; // scrolling content must be reachable by keyboard
  }, [found]);
  if (!found.tree) return <code class={found.why ? "formula-source failed" : "formula-source"} title={found.why}>{source}</code>;
  const math = elementOf(found.tree, source);
  return display ? <span class="formula" ref={box}>{math}</span> : <>{math}</>;
}

function elementOf(of: MathTree, alttext?: string, depth = 0): ComponentChildren {
  if (typeof of === "string") return of;
  if (depth > maxMathDepth) return null;
  const { name, props, style } = allowedElement(of);
  const children = of.children.map((child) => elementOf(child, undefined, depth + 1));
  return h(name, { ...props, style, ...(alttext !== undefined && { alttext }) }, ...children);
}

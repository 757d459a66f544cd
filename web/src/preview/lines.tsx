// Numbered lines. A line number is a link to its line; ranges of lines have links, too (#L12,
// #L12-L20).
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { listen } from "../events";
import { plural } from "../format";
import { setFragment, useLocation } from "../router";
import { coloured, useColours } from "./colours";

interface Props {
  text: string;
  /** The text after the number of lines. */
  about?: string[];
  /** The language for syntax colours. */
  language?: string | undefined;
  /** Further controls. */
  tools?: ComponentChildren;
}

/** First and last line, from 1. */
type Range = [first: number, last: number];

/** The lines that the address marks. */
export function addressedLines(): Range | undefined {
  const [, first, last = first] = /^#L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(location.hash) ?? [];
  return first && last ? [Math.min(Number(first), Number(last)), Math.max(Number(first), Number(last))] : undefined;
}

/** The lines that the address marks, as it changes. */
export function useAddressedLines(): Range | undefined {
  const [, setChanges] = useState(0);
  useLocation();
  useEffect(() => listen(window, "hashchange", () => setChanges((n) => n + 1)), []);
  return addressedLines();
}

const fragmentOf = ([first, last]: Range) => (first === last ? `L${first}` : `L${first}-L${last}`);

/** The minimum number of lines per part, and the maximum number of parts. */
const partLines = 200;
const maxParts = 200;

/** The lines of a text. Long ones scroll, or wrap. */
export function Lines({ text, about = [], language, tools }: Props) {
  const [wrap, setWrap] = useState(false);
  const starts = useMemo(() => lineStarts(text), [text]);
  const { runs, why } = useColours(text, language);
  const address = useAddressedLines();
  const marked: Range | undefined = address && address[0] <= starts.length ? [Math.max(1, address[0]), Math.min(address[1], starts.length)] : undefined;
  const parts = useMemo(() => partsOf(starts.length, marked), [starts, marked?.[0], marked?.[1]]);
  const box = useRef<HTMLDivElement>(null);
  const near = useNear(box, parts);
  useEffect(() => {
    const mark = marked && box.current!.querySelector("mark");
    if (mark) reveal(box.current!, mark);
  }, [marked?.[0], marked?.[1], wrap]);
  const follow = (e: MouseEvent) => {
    const number = Number((e.target as Element).closest("a")?.textContent);
    if (!number || e.button !== 0 || e.metaKey || e.ctrlKey || e.altKey) return;
    e.preventDefault();
    const other = (e.shiftKey && marked?.[0]) || number;
    setFragment(fragmentOf([Math.min(number, other), Math.max(number, other)]));
  };
  const part = ([from, to]: Range, i: number) => {
    const content = coloured(text, near.has(i) ? runs : undefined, starts[from - 1], starts[to] ?? text.length);
    const Part = isMarked(from, marked) ? "mark" : "span";
    return (
      <Part key={`${from} ${to}`} class="part" data-part={i}>
        {content}
      </Part>
    );
  };
  return (
    <>
      <div class="preview-tools">
        <span class="dim">{[plural(starts.length, "line"), ...about, why].filter(Boolean).join(" · ")}</span>
        <span class="zoom">
          {tools}
          <GoTo lines={starts.length} marked={marked} />
          <label>
            <input type="checkbox" checked={wrap} onChange={() => setWrap(!wrap)} />
            Wrap lines
          </label>
        </span>
      </div>
      <div class={`lines ${wrap ? "wrap" : ""}`} tabIndex={0} role="region" aria-label="Text" ref={box}>
        {!wrap && (
          <pre class="numbers" aria-hidden="true" onClick={follow}>
            {parts.map(([from, to], i) => (
              <span key={`${from} ${to}`} class={isMarked(from, marked) ? "part on" : "part"}>
                {near.has(i) ? numberLinks(from, to) : numbers(from, to).join("\n") + "\n"}
              </span>
            ))}
          </pre>
        )}
        <pre class="text">{parts.map(part)}</pre>
      </div>
    </>
  );
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0 && at < text.length - 1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

const isMarked = (line: number, marked: Range | undefined) => !!marked && marked[0] <= line && line <= marked[1];

/** The lines in parts; the marked lines are a separate part. */
function partsOf(lines: number, marked: Range | undefined): Range[] {
  const step = Math.max(partLines, Math.ceil(lines / maxParts));
  const parts: Range[] = [];
  for (let from = 1; from <= lines; ) {
    let to = Math.min(lines, from + step - 1);
    if (marked && from < marked[0]) to = Math.min(to, marked[0] - 1);
    if (marked && from === marked[0]) to = marked[1];
    parts.push([from, to]);
    from = to + 1;
  }
  return parts;
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Keyboard users have the field "Go to line" instead. */
const numberLinks = (from: number, to: number) =>
  numbers(from, to).flatMap((n) => [
    <a key={n} href={`#L${n}`} tabIndex={-1}>
      {n}
    </a>,
    "\n",
  ]);

/** The parts in or near the visible range of a box; only these have colours. */
function useNear(box: RefObject<HTMLElement | null>, parts: Range[]): ReadonlySet<number> {
  const [near, setNear] = useState<ReadonlySet<number>>(new Set());
  useEffect(() => {
    const now = new Set<number>();
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const i = Number((target as HTMLElement).dataset.part);
          if (isIntersecting) now.add(i);
          else now.delete(i);
        }
        setNear(new Set(now));
      },
      { root: box.current, rootMargin: "1000px 0px" },
    );
    for (const part of box.current!.querySelectorAll("[data-part]")) observer.observe(part);
    return () => observer.disconnect();
  }, [parts]);
  return near;
}

/** Scrolls an element into the view of its box, and the box into the view of the page. */
function reveal(box: HTMLElement, element: HTMLElement) {
  const { top, bottom } = element.getBoundingClientRect();
  const { top: first, bottom: last } = box.getBoundingClientRect();
  if (top < first || Math.min(bottom, top + 40) > last) box.scrollTop += top - first - box.clientHeight / 4;
  box.scrollIntoView({ block: "nearest" });
}

function GoTo({ lines, marked }: { lines: number; marked: Range | undefined }) {
  const shown = marked ? fragmentOf(marked).replaceAll("L", "") : "";
  const [wanted, setWanted] = useState(shown);
  useEffect(() => setWanted(shown), [shown]);
  const go = (e: Event) => {
    e.preventDefault();
    const [first = 0, last = first] = wanted.split("-").map((n) => Math.min(lines, parseInt(n, 10)) || 0);
    setFragment(first ? fragmentOf([Math.min(first, last || first), Math.max(first, last)]) : "");
  };
  return (
    <form onSubmit={go} class="goto">
      <input type="text" inputMode="numeric" size={7} aria-label="Go to line" value={wanted} placeholder="line 12-20" onInput={(e) => setWanted(e.currentTarget.value)} />
    </form>
  );
}

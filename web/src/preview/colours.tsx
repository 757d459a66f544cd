// Syntax colours from a decoder. The page creates its own elements from the positions of the parts.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Decoder } from "../sight/decoder";
import { codeClasses } from "../sight/scopes";

/** Limits: longer texts, and texts with longer lines, have no colours. */
const maxCharacters = 1_000_000;
const maxLines = 20_000;
const maxLine = 10_000;

/** The reason why a text has no colours; "" if it can have them. */
function tooLarge(text: string): string {
  if (text.length > maxCharacters) return "without colours: the file is large";
  let lines = 0;
  for (let at = 0; at < text.length; lines++) {
    const end = text.indexOf("\n", at);
    const next = end < 0 ? text.length : end + 1;
    if (next - at > maxLine) return "without colours: it has very long lines";
    at = next;
  }
  return lines > maxLines ? "without colours: it has many lines" : "";
}

/** The ends of the parts of a text and their classes, or the reason of their absence. Without a
    language, nothing is requested. */
export function useColours(text: string, language: string | undefined): { runs?: Uint32Array; why?: string } {
  const [found, setFound] = useState<{ of: string; runs?: Uint32Array; why?: string }>({ of: "" });
  useEffect(() => {
    if (!language || !text) return;
    const why = tooLarge(text);
    if (why) return setFound({ of: text, why });
    const decoder = new Decoder("code", undefined, () => {});
    decoder
      .call("highlight", { language, text })
      .then(
        (runs) => setFound({ of: text, runs }),
        (thrown) => decoder.closed || setFound({ of: text, why: `without colours. ${thrown instanceof Error ? thrown.message : ""}` }),
      )
      .finally(() => decoder.close());
    return () => decoder.close();
  }, [text, language]);
  return found.of === text && language ? found : {};
}

/** The characters from `start` to `end` of a text, as strings and coloured elements. */
export function coloured(text: string, runs: Uint32Array | undefined, start = 0, end = text.length): ComponentChildren {
  if (!runs) return text.slice(start, end);
  let low = 0;
  for (let high = runs.length / 2; low < high; ) {
    const middle = (low + high) >> 1;
    if (runs[2 * middle]! <= start) low = middle + 1;
    else high = middle;
  }
  const parts: ComponentChildren[] = [];
  for (let at = start; at < end; low++) {
    const to = Math.min(end, runs[2 * low] ?? end);
    if (to <= at) continue;
    const kind = codeClasses[runs[2 * low + 1] ?? 0];
    const part = text.slice(at, to);
    parts.push(kind ? <span class={kind}>{part}</span> : part);
    at = to;
  }
  return parts;
}

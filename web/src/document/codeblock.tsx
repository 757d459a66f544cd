// A block of code within a document, with syntax colours.
import { useEffect, useState } from "preact/hooks";
import { coloured } from "../preview/colours";
import { namedLanguage } from "../preview/languages";
import { useDocument } from "./tools";

/** @param language the language in the document; "" or unknown: without colours */
export function CodeBlock({ text, language }: { text: string; language: string }) {
  const tools = useDocument();
  const [found, setFound] = useState<{ of: string; runs: Uint32Array } | undefined>();
  const name = namedLanguage(language);
  useEffect(() => {
    if (!name || !text || !tools) return;
    let used = true;
    // readable without colours, too
    tools.colours(name, text).then((runs) => used && setFound({ of: text, runs }), () => {});
    return () => void (used = false);
  }, [tools, name, text]);
  return (
    <pre class="block" tabIndex={0}>
      {coloured(text, found?.of === text ? found.runs : undefined)}
    </pre>
  );
}

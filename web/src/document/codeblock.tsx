// A block of code within a document, with the colours of its language.
import { useEffect, useState } from "preact/hooks";
import { coloured } from "../preview/colours";
import { namedLanguage } from "../preview/languages";
import { useDocument } from "./tools";

/** @param language as the document names it; "" or unknown: without colours */
export function CodeBlock({ text, language }: { text: string; language: string }) {
  const tools = useDocument();
  const [found, setFound] = useState<{ of: string; runs: Uint32Array } | undefined>();
  const name = namedLanguage(language);
  useEffect(() => {
    if (!name || !text || !tools) return;
    let used = true;
    tools.colours(name, text).then((runs) => used && setFound({ of: text, runs }), () => {}); // without colours it is readable, too
    return () => void (used = false);
  }, [tools, name, text]);
  return (
    <pre class="block" tabIndex={0}>
      {coloured(text, found?.of === text ? found.runs : undefined)}
    </pre>
  );
}

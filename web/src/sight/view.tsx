// Files whose format a decoder reads: opens it, and shows what the file contains. A file that cannot be decoded is shown as bytes.
import { useEffect, useState } from "preact/hooks";
import type { Problem } from "../api";
import { Skeleton } from "../ui/components";
import { asProblem } from "../ui/load";
import { BytesView } from "../preview/bytes";
import type { ViewerProps } from "../preview/props";
import { ReadError } from "../preview/source";
import { TextView } from "../preview/text";
import { Decoder, Undecodable } from "./decoder";
import { Entries } from "./entries";
import { type Format, nameFor } from "./formats";
import type { Content } from "./messages";
import { ModelView } from "./model";
import { Pictures } from "./pictures";
import { Tree } from "./tree";

export function SightView({ file, format, Preview }: ViewerProps & { format: Format }) {
  const [opened, setOpened] = useState<{ decoder: Decoder; content: Content } | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    setOpened(undefined);
    setProblem(undefined);
    const decoder = new Decoder(format.decoder, file, (why) => setProblem(asProblem(why)));
    let used = true;
    decoder.call("open", { name: nameFor(format, [file.filename, file.name]), bytes: file.bytes }).then(
      (content) => used && setOpened({ decoder, content }),
      (thrown) => used && setProblem(asProblem(thrown)),
    );
    return () => {
      used = false;
      decoder.close();
    };
  }, [file.dataUrl, file.sha256, format, attempt]);
  if (problem instanceof Undecodable) {
    const why = `By its first bytes or its name this is ${format.what}, but it cannot be shown. ${problem.detail}`;
    return <BytesView file={file} why={why} ifText={format.extensions && <TextView file={file} why={why} />} />;
  }
  if (problem) return <ReadError problem={problem} retry={() => setAttempt((n) => n + 1)} />;
  if (!opened) return <Skeleton lines={10} />;
  const { decoder, content } = opened;
  return (
    <div class="sight" data-sight={format.decoder}>
      {content.view === "entries" ? (
        <Entries file={file} decoder={decoder} content={content} Preview={Preview} />
      ) : content.view === "pictures" ? (
        <Pictures file={file} decoder={decoder} content={content} />
      ) : content.view === "tree" ? (
        <Tree file={file} decoder={decoder} content={content} />
      ) : (
        <ModelView file={file} decoder={decoder} content={content} />
      )}
    </div>
  );
}

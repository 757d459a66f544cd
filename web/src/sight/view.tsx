// Files that a decoder reads: opens the file and shows its content. A file that cannot be decoded
// is shown as bytes.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../api";
import { Button, Skeleton } from "../ui/components";
import { asProblem } from "../ui/load";
import { Fallback } from "../preview/fallback";
import type { ViewerProps } from "../preview/props";
import { ReadError } from "../preview/source";
import { TextView } from "../preview/text";
import { Decoder, Undecodable } from "./decoder";
import { Entries } from "./entries";
import { type Format, nameFor } from "./formats";
import type { Content } from "./messages";
import { ModelView } from "./model";
import { Pictures } from "./pictures";
import { Sequences } from "./sequences";
import { Spectra } from "./spectra";
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
  const { busy, more } = useMore(opened, setOpened, setProblem);
  if (problem instanceof Undecodable) {
    const why = whyNot(format, problem.detail);
    return <Fallback file={file} why={why} ifText={format.extensions && <TextView file={file} why={why} />} />;
  }
  if (problem) return <ReadError problem={problem} retry={() => setAttempt((n) => n + 1)} />;
  if (!opened) return <Skeleton lines={10} />;
  const { decoder, content } = opened;
  return (
    <div class="sight" data-sight={format.decoder}>
      {content.remarks?.map((remark) => (
        <p class="hint" key={remark}>
          {remark}
        </p>
      ))}
      {content.view === "entries" ? (
        <Entries file={file} decoder={decoder} content={content} Preview={Preview} />
      ) : content.view === "pictures" ? (
        <Pictures file={file} decoder={decoder} content={content} />
      ) : content.view === "tree" ? (
        <Tree file={file} decoder={decoder} content={content} />
      ) : content.view === "sequences" ? (
        <Sequences file={file} decoder={decoder} content={content} />
      ) : content.view === "spectra" ? (
        <Spectra file={file} content={content} />
      ) : (
        <ModelView file={file} decoder={decoder} content={content} />
      )}
      {content.more && (
        <p class="preview-foot" role="status">
          <span class="dim">{content.more.says}</span>
          {!content.more.automatic && (
            <Button busy={busy} onClick={more}>
              Read more
            </Button>
          )}
        </p>
      )}
    </div>
  );
}

/** Explains why the decoder does not show a file, which can have another format. */
const whyNot = ({ what, magic, also }: Format, detail: string) =>
  also ? `This is ${what}, which is not shown as a picture here.` : `${magic ? "This file begins like" : "By its extension this is"} ${what}, but it cannot be shown as such. ${detail}`;

type Opened = { decoder: Decoder; content: Content };

/** Reads more of a partly shown file: on request, or automatically if it is small. */
function useMore(opened: Opened | undefined, show: (opened: Opened) => void, fail: (problem: Problem) => void) {
  const [busy, setBusy] = useState(false);
  const reading = useRef<Decoder | undefined>(undefined);
  const more = async () => {
    const decoder = opened?.decoder;
    if (!decoder || reading.current === decoder) return;
    reading.current = decoder;
    setBusy(true);
    try {
      show({ decoder, content: await decoder.call("more", null) });
    } catch (thrown) {
      if (!decoder.closed) fail(asProblem(thrown));
    }
    reading.current = undefined;
    setBusy(false);
  };
  useEffect(() => {
    if (opened?.content.more?.automatic) void more();
  }, [opened?.content]);
  return { busy, more };
}

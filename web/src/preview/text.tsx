// Text and code: the first chunk immediately, more on demand.
import { useEffect, useRef, useState } from "preact/hooks";
import type { StoredFile } from "../api";
import { size } from "../format";
import { Button, Skeleton, ViewSwitch } from "../ui/components";
import { useAction } from "../ui/load";
import { BytesView } from "./bytes";
import { EncodingChoice, useChosenEncoding } from "./encodingchoice";
import { languageOf } from "./languages";
import { Lines, useAddressedLines } from "./lines";
import type { ViewerProps } from "./props";
import { kB, MB, ReadError, Source, useAbortController } from "./source";

const first = 256 * kB;
const step = MB;

/** Source code up to this size is loaded immediately, because colours require all of it. */
const maxSource = MB;

/** Browsers become slow with more text in one element. */
const bound = 8 * MB;

const asSource = /^(text\/html|application\/xhtml)/;

export function TextPreview({ file }: ViewerProps) {
  const why = asSource.test(file.mimetype) ? "Shown as source: files of this type can contain scripts, which do not run here." : "";
  return <TextView file={file} why={why} />;
}

interface Props {
  file: StoredFile;
  /** The reason why the file is shown as text, unless its type implies it. */
  why?: string;
  /** Shows the bytes instead: the user has chosen text, which is shown for any content. */
  asBytes?: () => void;
}

export function TextView(props: Props) {
  const encoding = useChosenEncoding();
  const used = useRef(false);
  return <Decoded key={encoding} {...props} chosen={encoding} used={used} />;
}

function Decoded({ file, why = "", asBytes, chosen, used }: Props & { chosen: string | undefined; used: { current: boolean } }) {
  const source = useRef<Source | undefined>(undefined);
  source.current ??= new Source(file, chosen);
  const control = useAbortController();
  const names = [file.filename, file.name];
  const [text, setText] = useState<string | undefined>();
  const [wanted, setWanted] = useState(false);
  const { run: more, problem, busy } = useAction(async () => {
    const atFirst = languageOf(names) && file.bytes <= maxSource ? file.bytes : first;
    const chunk = await source.current!.next(text === undefined ? atFirst : step, control.signal);
    setText((before = "") => before + chunk);
  });
  useEffect(() => void more(), []);
  const { read, bytes, ended, encoding } = source.current;
  const [line = 0] = useAddressedLines() ?? [];
  const short = text !== undefined && !ended && read < bound && line > 1 && !hasLine(text, line);
  useEffect(() => {
    if (short && !problem && !busy) void more();
  }, [short, read, busy]);
  if (text === undefined) return problem ? <ReadError problem={problem} retry={more} /> : <Skeleton lines={10} />;
  if (!asBytes && !wanted && !source.current.isText(text)) return <BytesView file={file} why="This is not plain text." asText={() => setWanted(true)} />;
  const toBytes = asBytes ?? (wanted ? () => setWanted(false) : undefined);
  const language = languageOf(names, text);
  const end = ended ? "" : `the first ${size(read)} of ${size(bytes)}`;
  return (
    <>
      {why && <p class="hint">{why}</p>}
      {toBytes && (
        <div class="preview-tools">
          <ViewSwitch views={["bytes", "text"] as const} view="text" onChange={(view) => view === "bytes" && toBytes()} />
        </div>
      )}
      <Lines
        text={text}
        about={[end, language && !ended ? "without colours: the file is large" : ""]}
        language={ended ? language : undefined}
        tools={<EncodingChoice detected={encoding} used={used} />}
      />
      {problem && <ReadError problem={problem} retry={more} />}
      {!ended && (
        <p class="preview-foot" role="status">
          <span class="dim">This is {end}.</span>
          {read < bound ? (
            <Button busy={busy} onClick={more}>
              Show more
            </Button>
          ) : (
            <span class="dim">Download it to read the rest.</span>
          )}
        </p>
      )}
    </>
  );
}

function hasLine(text: string, line: number): boolean {
  let at = 0;
  for (let n = 1; n < line; n++) {
    at = text.indexOf("\n", at) + 1;
    if (!at) return false;
  }
  return true;
}

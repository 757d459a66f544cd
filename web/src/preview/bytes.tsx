// The first bytes of any file, and the type that they indicate.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { range } from "../api";
import { listen } from "../events";
import { size } from "../format";
import { Button, Skeleton, ViewSwitch } from "../ui/components";
import { useAction } from "../ui/load";
import type { ViewerProps } from "./props";
import { isBinary, kB, ReadError, useAbortController } from "./source";

const first = 2 * kB;
const step = 16 * kB;
const bound = 256 * kB;

/** Magic numbers: the type, an offset, and the characters there. */
const magic: [type: string, offset: number, characters: string][] = [
  ["a DICOM file", 128, "DICM"], // first, because the bytes before it can match another format
  ["an HDF5 file (also NetCDF 4 and MATLAB 7.3)", 0, "\x89HDF\r\n"],
  ["a NetCDF file, classic format", 0, "CDF"],
  ["a FITS file", 0, "SIMPLE  ="],
  ["a NumPy array", 0, "\x93NUMPY"],
  ["a MATLAB 5 file", 0, "MATLAB 5.0"],
  ["a Parquet file", 0, "PAR1"],
  ["an Arrow file (Feather)", 0, "ARROW1"],
  ["an SQLite database", 0, "SQLite format 3\0"],
  ["a LabVIEW TDMS file", 0, "TDSm"],
  ["a TIFF image", 0, "II*\0"],
  ["a TIFF image", 0, "MM\0*"],
  ["a BigTIFF image", 0, "II+\0"],
  ["an R data file", 0, "RDX"],
  ["a ZIP archive or an office document", 0, "PK\x03\x04"],
  ["compressed with gzip", 0, "\x1f\x8b"],
  ["compressed with xz", 0, "\xfd7zXZ"],
  ["compressed with zstd", 0, "\x28\xb5\x2f\xfd"],
  ["compressed with bzip2", 0, "BZh"],
  ["a 7z archive", 0, "7z\xbc\xaf"],
  ["a tar archive", 257, "ustar"],
  ["an old office document (OLE)", 0, "\xd0\xcf\x11\xe0"],
  ["a PNG image", 0, "\x89PNG"],
  ["a JPEG image", 0, "\xff\xd8\xff"],
  ["a PDF document", 0, "%PDF-"],
  ["a program for Linux", 0, "\x7fELF"],
  ["a program for Windows", 0, "MZ"],
];

const latin = (bytes: Uint8Array) => Array.from(bytes, (b) => String.fromCharCode(b)).join("");

function typeOf(bytes: Uint8Array): string | undefined {
  const head = latin(bytes.subarray(0, 512));
  return magic.find(([, offset, characters]) => head.startsWith(characters, offset))?.[0];
}

/** Whether bytes are UTF-8 text; the last character can be incomplete. */
function isText(bytes: Uint8Array): boolean {
  try {
    return !isBinary(new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true }));
  } catch {
    return false;
  }
}

interface BytesProps extends ViewerProps {
  /** The reason why no other preview is shown. */
  why?: string;
  /** Shown instead if the first bytes are text. */
  ifText?: ComponentChildren;
  /** Shows the file as text at the user's request. */
  asText?: () => void;
}

export function BytesView({ file, why, ifText, asText }: BytesProps) {
  const [bytes, setBytes] = useState(new Uint8Array());
  const control = useAbortController();
  const { run: more, problem, busy } = useAction(async () => {
    const chunk = new Uint8Array(await range(file, bytes.length, bytes.length ? step : first, control.signal));
    const all = new Uint8Array(bytes.length + chunk.length);
    all.set(bytes);
    all.set(chunk, bytes.length);
    setBytes(all);
  });
  useEffect(() => void more(), []);
  if (!bytes.length) return problem ? <ReadError problem={problem} retry={more} /> : <Skeleton lines={10} />;
  if (ifText && isText(bytes)) return <>{ifText}</>;
  const type = typeOf(bytes);
  return (
    <>
      <p class="preview-what">
        {why && <>{why} </>}
        The type is <code>{file.mimetype}</code>
        {type ? <>; by its first bytes this is {type}.</> : "."}
        <span class="dim">
          {bytes.length < file.bytes ? ` These are the first ${size(bytes.length)} of ${size(file.bytes)}.` : ` These are all ${size(bytes.length)}.`}
        </span>
      </p>
      {asText && (
        <div class="preview-tools">
          <ViewSwitch views={["bytes", "text"] as const} view="bytes" onChange={(view) => view === "text" && asText()} />
        </div>
      )}
      <Dump bytes={bytes} />
      {problem && <ReadError problem={problem} retry={more} />}
      {bytes.length < Math.min(file.bytes, bound) && (
        <p class="preview-foot">
          <Button busy={busy} onClick={more}>
            Show more
          </Button>
        </p>
      )}
    </>
  );
}

/** The number of bytes in a line: 8 on narrow screens, else 16. */
function useWidth(): number {
  const narrow = useRef(matchMedia("(max-width: 720px)")).current;
  const [width, setWidth] = useState(narrow.matches ? 8 : 16);
  useEffect(() => listen(narrow, "change", () => setWidth(narrow.matches ? 8 : 16)), []);
  return width;
}

function Dump({ bytes }: { bytes: Uint8Array }) {
  const width = useWidth();
  const starts = Array.from({ length: Math.ceil(bytes.length / width) }, (_, i) => i * width);
  const hex = (n: number, digits: number) => n.toString(16).padStart(digits, "0");
  const row = (at: number) => bytes.subarray(at, at + width);
  const pairs = (at: number) => Array.from(row(at), (b, i) => hex(b, 2) + (i === 7 ? " " : "")).join(" ");
  return (
    <div class="lines hex" tabIndex={0} role="region" aria-label="Bytes in hexadecimal">
      <pre class="numbers">{starts.map((at) => hex(at, 6)).join("\n")}</pre>
      <pre class="text">{starts.map(pairs).join("\n")}</pre>
      <pre class="text dim" aria-label="As characters">
        {starts.map((at) => latin(row(at)).replace(/[^ -~]/g, "·")).join("\n")}
      </pre>
    </div>
  );
}

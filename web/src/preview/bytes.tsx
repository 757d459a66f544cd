// Any file: its first bytes, and what they say of its type.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../api";
import { range } from "../api";
import { size } from "../human";
import { Button, Waiting } from "../ui/basics";
import { asProblem } from "../ui/load";
import type { ViewerProps } from "./preview";
import { isBinary, kB, Unread, useControl } from "./source";
import { TextView } from "./text";

const first = 2 * kB;
const step = 16 * kB;
const bound = 256 * kB;

/** How files of a type begin: at an offset, these characters. */
const magic: [type: string, at: number, mark: string][] = [
  ["an HDF5 file (also NetCDF 4 and MATLAB 7.3)", 0, "\x89HDF\r\n"],
  ["a NetCDF file, classic format", 0, "CDF"],
  ["a FITS file", 0, "SIMPLE  ="],
  ["a NumPy array", 0, "\x93NUMPY"],
  ["a MATLAB 5 file", 0, "MATLAB 5.0"],
  ["a Parquet file", 0, "PAR1"],
  ["an Arrow file (Feather)", 0, "ARROW1"],
  ["an SQLite database", 0, "SQLite format 3\0"],
  ["a LabVIEW TDMS file", 0, "TDSm"],
  ["a DICOM image", 128, "DICM"],
  ["a TIFF image", 0, "II*\0"],
  ["a TIFF image", 0, "MM\0*"],
  ["a BigTIFF image", 0, "II+\0"],
  ["an R data file", 0, "RDX"],
  ["a ZIP archive, or an office document, which is one", 0, "PK\x03\x04"],
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
  return magic.find(([, at, mark]) => head.startsWith(mark, at))?.[0];
}

/** Whether bytes are text, as many files are whose name says nothing. The last character may be cut. */
function isText(bytes: Uint8Array): boolean {
  try {
    return !isBinary(new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true }));
  } catch {
    return false;
  }
}

/** @param why bytes are shown where more was to be expected */
export function BytesPreview({ resource, why = "" }: ViewerProps & { why?: string }) {
  const [bytes, setBytes] = useState(new Uint8Array());
  const [problem, setProblem] = useState<Problem | undefined>();
  const [busy, setBusy] = useState(false);
  const control = useControl();
  const more = async () => {
    setProblem(undefined);
    setBusy(true);
    try {
      const part = new Uint8Array(await range(resource, bytes.length, bytes.length ? step : first, control.signal));
      const all = new Uint8Array(bytes.length + part.length);
      all.set(bytes);
      all.set(part, bytes.length);
      setBytes(all);
    } catch (thrown) {
      if (!control.signal.aborted) setProblem(asProblem(thrown));
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => void more(), []);
  if (!bytes.length) return problem ? <Unread problem={problem} retry={more} /> : <Waiting lines={10} />;
  if (!why && isText(bytes)) return <TextView resource={resource} why={`The type is ${resource.mimetype}; its bytes are text.`} />;
  const found = typeOf(bytes);
  return (
    <>
      <p class="preview-what">
        {why && <>{why} </>}
        The type is <code>{resource.mimetype}</code>
        {found ? <>; by its first bytes this is {found}.</> : "."}
        <span class="dim">
          {bytes.length < resource.bytes ? ` Below are the first ${size(bytes.length)} of ${size(resource.bytes)}.` : ` All of its ${size(bytes.length)} are below.`}
        </span>
      </p>
      <Dump bytes={bytes} />
      {problem && <Unread problem={problem} retry={more} />}
      {bytes.length < Math.min(resource.bytes, bound) && (
        <p class="preview-foot">
          <Button busy={busy} onClick={more}>
            Show more
          </Button>
        </p>
      )}
    </>
  );
}

/** Eight bytes fit into a line of the narrowest screen, sixteen into others. */
function useWidth(): number {
  const narrow = useRef(matchMedia("(max-width: 720px)")).current;
  const [width, setWidth] = useState(narrow.matches ? 8 : 16);
  useEffect(() => {
    const change = () => setWidth(narrow.matches ? 8 : 16);
    narrow.addEventListener("change", change);
    return () => narrow.removeEventListener("change", change);
  }, []);
  return width;
}

function Dump({ bytes }: { bytes: Uint8Array }) {
  const width = useWidth();
  const starts = Array.from({ length: Math.ceil(bytes.length / width) }, (_, i) => i * width);
  const hex = (n: number, digits: number) => n.toString(16).padStart(digits, "0");
  const row = (at: number) => bytes.subarray(at, at + width);
  const pairs = (at: number) => Array.from(row(at), (b, i) => hex(b, 2) + (i === 7 ? " " : "")).join(" ");
  return (
    <div class="lines hex" tabIndex={0} role="region" aria-label="Bytes, in hexadecimal">
      <pre class="numbers">{starts.map((at) => hex(at, 6)).join("\n")}</pre>
      <pre class="text">{starts.map(pairs).join("\n")}</pre>
      <pre class="text dim" aria-label="As characters">
        {starts.map((at) => latin(row(at)).replace(/[^ -~]/g, "·")).join("\n")}
      </pre>
    </div>
  );
}

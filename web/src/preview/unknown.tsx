// A file of a type that browsers do not show: by a decoder that matches its first bytes or name, or
// else as text or bytes.
import { range } from "../api";
import { formatOf, headLength } from "../sight/formats";
import { Skeleton } from "../ui/components";
import { useLoad } from "../ui/load";
import { Fallback } from "./fallback";
import { LazySight } from "./lazysight";
import type { ViewerProps } from "./props";
import { ReadError } from "./source";
import { TextView } from "./text";

/** @param why the reason why no other preview is shown */
export function UnknownPreview({ file, Preview, why }: ViewerProps & { why?: string }) {
  const { value: format, problem, reload } = useLoad(
    async (signal) => ({ found: formatOf(new Uint8Array(await range(file, 0, headLength, signal)), [file.filename, file.name]) }),
    [file.dataUrl, file.sha256],
  );
  if (problem) return <ReadError problem={problem} retry={reload} />;
  if (!format) return <Skeleton lines={10} />;
  if (format.found) {
    return (
      <>
        {why && <p class="hint">{why}</p>}
        <LazySight file={file} format={format.found} Preview={Preview} />
      </>
    );
  }
  const text = <TextView file={file} why={`${why ? `${why} ` : ""}The type is ${file.mimetype}; its bytes are text.`} />;
  return <Fallback file={file} {...(why && { why })} ifText={text} />;
}

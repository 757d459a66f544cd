// A file of no known type: as text if it begins with text, else as bytes.
import { BytesView } from "./bytes";
import type { ViewerProps } from "./props";
import { TextView } from "./text";

export function UnknownPreview({ file }: ViewerProps) {
  const text = <TextView file={file} why={`The type is ${file.mimetype}; its bytes are text.`} />;
  return <BytesView file={file} ifText={text} />;
}

// A file of no known type: as text if it begins with text, else as bytes.
import { BytesView } from "./bytes";
import type { ViewerProps } from "./props";
import { TextView } from "./text";

export function UnknownPreview({ resource }: ViewerProps) {
  const text = <TextView resource={resource} why={`The type is ${resource.mimetype}; its bytes are text.`} />;
  return <BytesView resource={resource} ifText={text} />;
}

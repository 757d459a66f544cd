// The permissions of a key, in words.
import type { Key, KeyScope } from "../api";
import { NameOf } from "../find/names";
import { Badge } from "../ui/components";

/** The words for a scope: everywhere, and before a dataspace or set. */
const words: Record<KeyScope, [everywhere: string, within: string]> = {
  all: ["everything", "everything in"],
  write: ["reads and changes files everywhere", "reads and changes files in"],
  add: ["adds files everywhere", "adds files in"],
  read: ["reads everything", "reads"],
};

/** Whether a key permits less than its user may do. Networks do not count. */
export const isNarrow = (k: Pick<Key, "scope" | "dataspaceId">) => k.scope !== "all" || !!k.dataspaceId;

/** The permissions of a key, such as "adds files in the set run-7". */
export function Permitted({ by: k }: { by: Key }) {
  const [everywhere, within] = words[k.scope];
  if (!k.dataspaceId) return isNarrow(k) || k.state !== "active" ? everywhere : <Badge tone="accent">{everywhere}</Badge>;
  return (
    <>
      {within} {k.setId ? "the set" : "the dataspace"} <NameOf kind={k.setId ? "sets" : "dataspaces"} id={k.setId || k.dataspaceId} />
    </>
  );
}

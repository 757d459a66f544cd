// The content of a dataspace, and the time of its last change.
import type { Dataspace } from "../api";
import { dataspaces, service } from "../api";
import { count } from "../format";
import { Size, Time } from "../ui/components";
import { useLoad } from "../ui/load";
import { useRefreshOnFocus } from "../ui/refresh";

export type Holdings = Map<string, { files: number; bytes: number }>;

/** Active files and their bytes by dataspace, in one request. */
export function useHoldings(): Holdings | undefined {
  const { value, refresh } = useLoad(() => service.usage(), []);
  useRefreshOnFocus(refresh);
  return value && new Map((value.dataspaces ?? []).map((d) => [d.dataspaceId, { files: d.activeFiles, bytes: d.activeBytes }]));
}

export const Files = ({ of }: { of: { files: number } | undefined }) => <>{of && count(of.files)}</>;

export const Bytes = ({ of }: { of: { bytes: number } | undefined }) => <>{of && <Size bytes={of.bytes} />}</>;

/** The time of the last change of the dataspace or of a file in it. */
export function LastActivity({ of }: { of: Dataspace }) {
  const { value } = useLoad((signal) => dataspaces.resources(of.id, { order: "newest", state: "all", limit: 1 }).all(1, signal), [of.id, of.modified]);
  const latest = value?.items[0]?.modified ?? "";
  return <Time at={latest > of.modified ? latest : of.modified} />;
}

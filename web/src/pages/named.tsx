import { useEffect } from "preact/hooks";
import { queryOf, sets } from "../api";
import { Link, navigate, useLocation } from "../router";
import { Empty, ErrorMessage, Skeleton } from "../ui/components";
import { useLoad } from "../ui/load";
import { useTitle } from "../ui/title";
import type { PageProps } from "./props";

/** Redirects from the name of a file in a set to its page. Documents link to other files this way.
 */
export function NamedFilePage({ params }: PageProps) {
  const sid = params.sid!;
  const name = useLocation().query.get("name") ?? "";
  const { value, problem, reload } = useLoad(async (signal) => {
    const listing = sets.resources(sid, { name, limit: 1 });
    return { found: (await listing.page(listing.first, signal)).items[0] };
  }, [sid, name]);
  useTitle(name);
  useEffect(() => {
    if (value?.found) navigate(`/resources/${value.found.id}${location.hash}`, { replace: true });
  }, [value]);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value || value.found) return <Skeleton lines={12} />;
  return (
    <Empty icon="file" title={`No file named ${name} in this set`}>
      <Link to={`/sets/${sid}${queryOf({ folder: `${name}/` })}`}>Show the folder with this name</Link> · <Link to={`/sets/${sid}`}>The set</Link>
    </Empty>
  );
}

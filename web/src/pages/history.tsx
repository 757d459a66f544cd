// The history of a dataspace, a set or a file.
import type { ComponentChildren } from "preact";
import { audit, dataspaces, sets } from "../api";
import { Entries } from "../audit/entries";
import { Link } from "../router";
import { useMe } from "../session";
import { Breadcrumbs, breadcrumbsTo, ErrorMessage, PageHeader, Skeleton } from "../ui/components";
import { useLoad } from "../ui/load";
import { permissionsIn } from "../ui/permissions";
import { useTitle } from "../ui/title";
import type { PageProps } from "./props";
import { loadResource } from "./resource";

type Crumbs = { to: string; label: string }[];

interface Props {
  name: string;
  /** The object after its containers. */
  path: Crumbs;
  /** Whether the user manages the dataspace. */
  manages: boolean;
  children: ComponentChildren;
}

function History({ name, path, manages, children }: Props) {
  useTitle(`History of ${name}`);
  return (
    <>
      <Breadcrumbs path={path} />
      <PageHeader title={`History of ${name}`} lead="All changes, newest first.">
        {manages && (
          <div class="actions">
            <Link to="/audit" class="button">
              Audit log
            </Link>
            <Link to="/webhooks" class="button">
              Webhooks
            </Link>
          </div>
        )}
      </PageHeader>
      {children}
    </>
  );
}

const empty = <p>Changes made before the audit log began are not listed.</p>;

export function DataspaceHistory({ params: { did = "" } }: PageProps) {
  const me = useMe();
  const { value, problem, reload } = useLoad(async (signal) => {
    const [dataspace, may] = await Promise.all([dataspaces.get(did), permissionsIn(did, me, signal)]);
    return { dataspace, may };
  }, [did]);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={8} />;
  const { dataspace, may } = value;
  return (
    <History name={dataspace.title || dataspace.name} path={breadcrumbsTo(dataspace)} manages={may.manage}>
      <Entries single create={(query) => audit.history("dataspaces", did, query)} empty={empty} />
    </History>
  );
}

export function SetHistory({ params: { sid = "" } }: PageProps) {
  const me = useMe();
  const { value, problem, reload } = useLoad(async (signal) => {
    const set = await sets.get(sid);
    const [dataspace, may] = await Promise.all([dataspaces.get(set.dataspaceId), permissionsIn(set.dataspaceId, me, signal)]);
    return { set, dataspace, may };
  }, [sid]);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={8} />;
  const { set, dataspace, may } = value;
  const name = set.title || set.name;
  return (
    <History name={name} path={[...breadcrumbsTo(dataspace), { to: `/sets/${sid}`, label: name }]} manages={may.manage}>
      <Entries single create={(query) => audit.history("sets", sid, query)} causesIn={[audit.history("dataspaces", dataspace.id)]} empty={empty} />
    </History>
  );
}

export function ResourceHistory({ params: { rid = "" } }: PageProps) {
  const me = useMe();
  const { value, problem, reload } = useLoad((signal) => loadResource(rid, me, signal), [rid]);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={8} />;
  const { resource, set, dataspace, may } = value;
  const path = [...breadcrumbsTo(dataspace), { to: `/sets/${set.id}`, label: set.title || set.name }, { to: `/resources/${rid}`, label: resource.name }];
  return (
    <History name={resource.name} path={path} manages={may.manage}>
      <Entries
        single
        create={(query) => audit.history("resources", rid, query)}
        causesIn={[audit.history("sets", set.id), audit.history("dataspaces", dataspace.id)]}
        empty={empty}
      />
    </History>
  );
}

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { DataSet, Dataspace, Listing, Resource, User } from "../api";
import { dataspaces, queryOf, resources, sets } from "../api";
import { Restore } from "../edit/deletion";
import { Link, useLocation } from "../router";
import { useMe } from "../session";
import { Cache } from "../ui/cache";
import { Button, Empty, PageHeader, Size, Time } from "../ui/components";
import { oneOf } from "../ui/filters";
import { Icon } from "../ui/icons";
import type { Column } from "../ui/list";
import { hiddenHead, VirtualList } from "../ui/list";
import { useLoad } from "../ui/load";
import { permissionsIn } from "../ui/permissions";
import { useTitle } from "../ui/title";

const tabs = [
  ["resources", "Files"],
  ["sets", "Sets"],
  ["dataspaces", "Dataspaces"],
] as const;

/** Deleted records that the user can read, without records deleted with their set or dataspace. */
export function TrashPage() {
  const { query } = useLocation();
  const view = oneOf(query, "view", ["resources", "sets", "dataspaces"]);
  useTitle("Trash");
  return (
    <>
      <PageHeader
        title="Trash"
        lead="Deleted files keep their bytes until a sysadmin purges old deletions. Restoring a set or a dataspace also restores the content deleted with it."
      />
      <nav class="tabs" aria-label="Views">
        {tabs.map(([name, label], i) => (
          <Link key={name} to={i ? `/trash?view=${name}` : "/trash"} aria-current={view === name ? "page" : undefined}>
            {label}
          </Link>
        ))}
      </nav>
      {view === "resources" && <Files />}
      {view === "sets" && <DeletedContainers<DataSet> key="sets" what="set" path="/sets" list={() => sets.list(deleted)} />}
      {view === "dataspaces" && <DeletedContainers<Dataspace> key="dataspaces" what="dataspace" path="/dataspaces" list={() => dataspaces.list(deleted)} />}
    </>
  );
}

const deleted = { state: "deleted" };
const newest = { ...deleted, order: "newest" };

/** Containers and permissions shared by the records of a list; loaded again for each list. */
function useContainers() {
  const me = useMe();
  return useState(() => new Containers(me))[0];
}

class Containers {
  private readonly may = new Cache((did: string) => permissionsIn(did, this.me));
  private readonly dataspaces = new Cache(dataspaces.get);
  private readonly sets = new Cache(sets.get);

  constructor(private readonly me: User) {}

  /** The user's permissions on a record and, with the permission to restore it, its containers,
      outermost first. */
  async of(record: Resource | DataSet | Dataspace) {
    if (!("dataspaceId" in record)) return { may: await this.may.get(record.id), within: [] };
    const may = await this.may.get(record.dataspaceId);
    const within: Promise<Dataspace | DataSet>[] = [];
    if (may.write) within.push(this.dataspaces.get(record.dataspaceId));
    if (may.write && "setId" in record) within.push(this.sets.get(record.setId));
    return { may, within: await Promise.all(within) };
  }
}

type RestoreProps = { containers: Containers; done: () => void } & (
  | { what: "resource"; record: Resource }
  | { what: "set" | "dataspace"; record: DataSet | Dataspace }
);

/** The button that restores a record, once its containers are loaded. */
function RestoreCell({ what, record, containers, done }: RestoreProps) {
  const { value, problem, reload } = useLoad(() => containers.of(record), [record.id]);
  if (problem) {
    return (
      <Button class="tight" title={problem.detail} onClick={reload}>
        Try again
      </Button>
    );
  }
  if (!value) return <span class="dim">…</span>;
  return <Restore tight what={what} record={record} {...value} done={done} />;
}

/** The last columns of all lists of deleted records. */
function deletedColumns<T extends { modified: string }>(restore: (record: T) => ComponentChildren): Column<T>[] {
  return [
    { head: "Deleted", class: "wide-only", cellClass: "dim", cell: (r) => <Time at={r.modified} /> },
    { head: hiddenHead("Restore"), class: "end", cell: restore },
  ];
}

function Files() {
  const [version, setVersion] = useState(0);
  const containers = useContainers();
  return (
    <VirtualList<Resource>
      id={queryOf(newest)}
      version={version}
      create={() => resources.list(newest)}
      keyOf={(r) => r.id}
      label="Deleted files, latest first"
      noun={["file", "files"]}
      kind="trash"
      columns={[
        {
          head: "File",
          title: (r) => r.name,
          cell: (r) => (
            <Link to={`/resources/${r.id}`}>
              <Icon name="file" /> {r.name}
            </Link>
          ),
        },
        { head: "Size", class: "end wide-only", cellClass: "dim", cell: (r) => <Size bytes={r.bytes} /> },
        ...deletedColumns<Resource>((r) =>
          r.purged ? (
            <span class="dim">purged</span>
          ) : (
            <RestoreCell what="resource" record={r} containers={containers} done={() => setVersion((n) => n + 1)} />
          ),
        ),
      ]}
      empty={<Empty icon="trash" title="No files in the trash" />}
    />
  );
}

interface DeletedContainersProps<T> {
  what: "set" | "dataspace";
  path: string;
  list: () => Listing<T>;
}

function DeletedContainers<T extends DataSet | Dataspace>({ what, path, list }: DeletedContainersProps<T>) {
  const [version, setVersion] = useState(0);
  const containers = useContainers();
  return (
    <VirtualList<T>
      id={what}
      version={version}
      create={list}
      keyOf={(c) => c.id}
      label={`Deleted ${what}s`}
      noun={[what, `${what}s`]}
      kind="trash"
      columns={[
        {
          head: "Title",
          cell: (c) => (
            <Link to={`${path}/${c.id}`}>
              <Icon name={what} /> {c.title || c.name}
            </Link>
          ),
        },
        { head: "Name", class: "wide-only", cellClass: "mono dim", cell: (c) => c.name },
        ...deletedColumns<T>((c) => <RestoreCell what={what} record={c} containers={containers} done={() => setVersion((n) => n + 1)} />),
      ]}
      empty={<Empty icon="trash" title={`No ${what}s in the trash`} />}
    />
  );
}

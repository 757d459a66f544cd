import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { DataSet, Dataspace, Listing, Resource, User } from "../api";
import { dataspaces, queryOf, resources, sets } from "../api";
import type { PageProps } from "../app";
import { Restore } from "../edit/remove";
import { Link, usePlace } from "../router";
import { useMe } from "../session";
import { Button, Empty, Size, Time } from "../ui/basics";
import { Icon } from "../ui/icons";
import { VirtualList } from "../ui/list";
import { useLoad } from "../ui/load";
import { Once } from "../ui/once";
import { mayIn } from "../ui/role";
import { oneOf } from "../ui/state";

const tabs = [
  ["resources", "Files"],
  ["sets", "Sets"],
  ["dataspaces", "Dataspaces"],
] as const;

/** What was deleted, wherever the visitor may read. What went along with a set or a dataspace comes back with it. */
export function TrashPage(_: PageProps) {
  const { query } = usePlace();
  const view = oneOf(query, "view", ["resources", "sets", "dataspaces"]);
  useEffect(() => {
    document.title = "Trash · labshelf";
  }, []);
  return (
    <>
      <div class="title">
        <div>
          <h1>Trash</h1>
          <p class="dim">
            Deleted things keep their bytes until whoever runs the service purges old deletions. Restoring a set or a dataspace brings back what was deleted
            with it.
          </p>
        </div>
      </div>
      <nav class="tabs" aria-label="What was deleted">
        {tabs.map(([name, label], i) => (
          <Link key={name} to={i ? `/trash?view=${name}` : "/trash"} aria-current={view === name ? "page" : undefined}>
            {label}
          </Link>
        ))}
      </nav>
      {view === "resources" && <Files />}
      {view === "sets" && <Containers<DataSet> key="sets" what="set" path="/sets" list={() => sets.list(deleted)} />}
      {view === "dataspaces" && <Containers<Dataspace> key="dataspaces" what="dataspace" path="/dataspaces" list={() => dataspaces.list(deleted)} />}
    </>
  );
}

const deleted = { state: "deleted" };
const newest = { ...deleted, order: "newest" };

/** What is around deleted things, which they share with their neighbours in a list; asked anew for each list. */
function useSurroundings() {
  const me = useMe();
  const [known] = useState(() => new Surroundings(me));
  return known;
}

class Surroundings {
  private readonly may = new Once((did: string) => mayIn(did, this.me));
  private readonly dataspaces = new Once(dataspaces.get);
  private readonly sets = new Once(sets.get);

  constructor(private readonly me: User) {}

  /** What the visitor may do with a record, and, if they may restore it, what it is in, from the top. */
  async of(record: Resource | DataSet | Dataspace) {
    if (!("dataspaceId" in record)) return { may: await this.may.get(record.id), within: [] };
    const may = await this.may.get(record.dataspaceId);
    const within: Promise<Dataspace | DataSet>[] = [];
    if (may.write) within.push(this.dataspaces.get(record.dataspaceId));
    if (may.write && "setId" in record) within.push(this.sets.get(record.setId));
    return { may, within: await Promise.all(within) };
  }
}

type BackProps = { around: Surroundings; done: () => void } & (
  | { what: "resource"; record: Resource }
  | { what: "set" | "dataspace"; record: DataSet | Dataspace }
);

/** The way back of one of them, as soon as it is known whether there is one. */
function Back({ what, record, around, done }: BackProps) {
  const { value, problem, reload } = useLoad(() => around.of(record), [record.id]);
  if (problem) {
    return (
      <Button class="tight" title={problem.detail} onClick={reload}>
        Look again
      </Button>
    );
  }
  if (!value) return <span class="dim">…</span>;
  return <Restore tight what={what} record={record} {...value} done={done} />;
}

/** @param children the second column */
function Columns({ first, children }: { first: string; children: ComponentChildren }) {
  return (
    <>
      <span role="columnheader">{first}</span>
      {children}
      <span role="columnheader" class="wide-only">
        Deleted
      </span>
      <span role="columnheader" class="end">
        <span class="unseen">Restore</span>
      </span>
    </>
  );
}

function Files() {
  const [turn, setTurn] = useState(0);
  const around = useSurroundings();
  return (
    <VirtualList<Resource>
      of={queryOf(newest)}
      turn={turn}
      make={() => resources.list(newest)}
      keyOf={(r) => r.id}
      label="Deleted files, latest first"
      noun={["file", "files"]}
      kind="trash"
      columns={
        <Columns first="File">
          <span role="columnheader" class="end wide-only">
            Size
          </span>
        </Columns>
      }
      row={(r) => (
        <>
          <span role="cell" title={r.name}>
            <Link to={`/resources/${r.id}`}>
              <Icon name="file" /> {r.name}
            </Link>
          </span>
          <span role="cell" class="end dim wide-only">
            <Size bytes={r.bytes} />
          </span>
          <span role="cell" class="dim wide-only">
            <Time at={r.modified} />
          </span>
          <span role="cell" class="end">
            {r.purged ? <span class="dim">purged</span> : <Back what="resource" record={r} around={around} done={() => setTurn((t) => t + 1)} />}
          </span>
        </>
      )}
      empty={<Empty icon="trash" title="No file is in the trash" />}
    />
  );
}

interface ContainersProps<T> {
  what: "set" | "dataspace";
  path: string;
  list: () => Listing<T>;
}

function Containers<T extends DataSet | Dataspace>({ what, path, list }: ContainersProps<T>) {
  const [turn, setTurn] = useState(0);
  const around = useSurroundings();
  return (
    <VirtualList<T>
      of={what}
      turn={turn}
      make={list}
      keyOf={(c) => c.id}
      label={`Deleted ${what}s`}
      noun={[what, `${what}s`]}
      kind="trash"
      columns={
        <Columns first="Title">
          <span role="columnheader" class="wide-only">
            Name
          </span>
        </Columns>
      }
      row={(c) => (
        <>
          <span role="cell">
            <Link to={`${path}/${c.id}`}>
              <Icon name={what} /> {c.title || c.name}
            </Link>
          </span>
          <span role="cell" class="mono dim wide-only">
            {c.name}
          </span>
          <span role="cell" class="dim wide-only">
            <Time at={c.modified} />
          </span>
          <span role="cell" class="end">
            <Back what={what} record={c} around={around} done={() => setTurn((t) => t + 1)} />
          </span>
        </>
      )}
      empty={<Empty icon="trash" title={`No ${what} is in the trash`} />}
    />
  );
}

import { useEffect, useState } from "preact/hooks";
import type { DataSet, Dataspace, Resource } from "../api";
import { dataspaces, queryOf } from "../api";
import type { PageProps } from "../app";
import { DataspaceForm, SetForm } from "../edit/forms";
import { Remove, Restore } from "../edit/remove";
import { usePut } from "../put/drop";
import { useArrivals } from "../put/queue";
import { go, Link, usePlace } from "../router";
import { useMe } from "../session";
import { useLook } from "../ui/again";
import { Badge, Button, Copy, Crumbs, Dialog, Empty, Failed, Time, Waiting } from "../ui/basics";
import { Curl } from "../ui/curl";
import { Icon } from "../ui/icons";
import { VirtualList } from "../ui/list";
import { useLoad } from "../ui/load";
import { ResourceColumns, ResourceRow } from "../ui/resources";
import { mayIn } from "../ui/role";
import { Choice, oneOf, StateChoice, states, statesWithin, Tools } from "../ui/state";
import { orders, TimeFilters, timesOf } from "../ui/times";

/** One dataspace: its sets, or what was changed in all of them. */
export function DataspacePage({ params }: PageProps) {
  const did = params.did!;
  const { query } = usePlace();
  const me = useMe();
  const { value, problem, reload, look, set } = useLoad(async (signal) => {
    const [dataspace, may] = await Promise.all([dataspaces.get(did), mayIn(did, me, signal)]);
    return { dataspace, may };
  }, [did]);
  useLook(look);
  const [dialog, setDialog] = useState<"edit" | "set" | undefined>();
  const dataspace = value?.dataspace;
  const active = dataspace?.state === "active";
  const mayWrite = !!value?.may.write && active;
  const put = usePut(mayWrite ? { dataspaceId: did } : undefined);
  useEffect(() => {
    if (dataspace) document.title = `${dataspace.title || dataspace.name} · labshelf`;
  }, [dataspace]);
  if (problem) return <Failed problem={problem} retry={reload} />;
  if (!value || !dataspace) return <Waiting lines={10} />;
  const { may } = value;
  const changed = (dataspace: Dataspace) => set({ ...value, dataspace });
  const view = oneOf(query, "view", ["sets", "files"]);
  const known = active ? states : statesWithin;
  const close = () => setDialog(undefined);
  return (
    <>
      <Crumbs way={[{ to: "/", label: "Dataspaces" }]} />
      <div class="title">
        <div>
          <h1>
            {dataspace.title || dataspace.name} {!active && <Badge tone="bad">deleted</Badge>}
          </h1>
          <p class="dim">
            <code>{dataspace.name}</code> <Copy text={dataspace.id} what="the id" /> <Copy text={dataspace.url} what="the address of the dataspace" icon="link" /> · {dataspace.visibility === "public" ? "everybody may read" : "members only"}
            {may.role !== "none" && <> · you are {may.role}</>} · changed <Time at={dataspace.modified} />
          </p>
          {dataspace.description && <p class="preserve prose">{dataspace.description}</p>}
          {!active && <p>This dataspace is in the trash. Restoring it brings back the sets and files that were deleted with it.</p>}
        </div>
        <div class="actions">
          <Link to={`/dataspaces/${did}/members`} class="button">
            <Icon name="people" /> Members
          </Link>
          {may.manage && active && (
            <Button icon="edit" onClick={() => setDialog("edit")}>
              Edit
            </Button>
          )}
          {may.manage && active && <Remove what="dataspace" record={dataspace} done={reload} />}
          <Restore what="dataspace" record={dataspace} may={may} within={[]} done={changed} />
          {mayWrite && (
            <Button icon="plus" onClick={() => setDialog("set")}>
              New set
            </Button>
          )}
          {put.buttons}
        </div>
      </div>
      <nav class="tabs" aria-label="What of it">
        <Link to={`/dataspaces/${did}`} aria-current={view === "sets" ? "page" : undefined}>
          Sets
        </Link>
        <Link to={`/dataspaces/${did}?view=files&order=newest`} aria-current={view === "files" ? "page" : undefined}>
          Files of all sets
        </Link>
      </nav>
      {view === "sets" ? <Sets did={did} mayWrite={mayWrite} known={known} make={() => setDialog("set")} /> : <Files did={did} known={known} />}
      {dialog === "edit" && (
        <Dialog title="Edit the dataspace" onClose={close}>
          <DataspaceForm was={dataspace} done={(d) => (changed(d), close())} cancel={close} />
        </Dialog>
      )}
      {dialog === "set" && (
        <Dialog title="New set" onClose={close}>
          <SetForm dataspaceId={did} done={(s) => go(`/sets/${s.id}`)} cancel={close} />
        </Dialog>
      )}
      {put.rest}
    </>
  );
}

interface SetsProps {
  did: string;
  /** What can be shown; first, what is shown unless the visitor wants something else. */
  known: typeof states | typeof statesWithin;
  mayWrite: boolean;
  make: () => void;
}

function Sets({ did, known, mayWrite, make }: SetsProps) {
  const { query } = usePlace();
  const arrived = useArrivals(did);
  const filters = { state: oneOf(query, "state", known) };
  return (
    <>
      <Tools>
        <StateChoice known={known} />
        <Curl path={`/dataspaces/${did}/sets${queryOf(filters)}`} />
      </Tools>
      <VirtualList<DataSet>
        of={did + queryOf(filters)}
        turn={arrived}
        make={() => dataspaces.sets(did, filters)}
        keyOf={(s) => s.id}
        label="Sets"
        noun={["set", "sets"]}
        kind="containers"
        columns={
          <>
            <span role="columnheader">Set</span>
            <span role="columnheader" class="wide-only">
              Name
            </span>
            <span role="columnheader" class="wide-only">
              Description
            </span>
            <span role="columnheader" class="wide-only">
              Changed
            </span>
          </>
        }
        row={(s) => (
          <>
            <span role="cell" class={s.state}>
              <Link to={`/sets/${s.id}`}>
                <Icon name="set" /> {s.title || s.name}
              </Link>{" "}
              {s.state === "deleted" && <Badge tone="bad">deleted</Badge>}
            </span>
            <span role="cell" class="wide-only mono dim">
              {s.name}
            </span>
            <span role="cell" class="wide-only dim">
              {s.description}
            </span>
            <span role="cell" class="wide-only dim">
              <Time at={s.modified} />
            </span>
          </>
        )}
        empty={
          <Empty icon="set" title={filters.state === known[0] ? "There is no set yet" : "Nothing matches"}>
            {mayWrite ? (
              <Button icon="plus" onClick={make}>
                Create a set
              </Button>
            ) : (
              known === states && <p>Editors of the dataspace create sets and put files into them.</p>
            )}
          </Empty>
        }
      />
    </>
  );
}

function Files({ did, known }: Pick<SetsProps, "did" | "known">) {
  const { query } = usePlace();
  const filters = { state: oneOf(query, "state", known), ...timesOf(query), order: query.get("order") === "newest" ? "newest" : "" };
  return (
    <>
      <Tools>
        <StateChoice known={known} />
        <Choice label="Order" name="order" options={orders} />
        <TimeFilters />
        <Curl path={`/dataspaces/${did}/resources${queryOf(filters)}`} />
      </Tools>
      <VirtualList<Resource>
        of={did + queryOf(filters)}
        make={() => dataspaces.resources(did, filters)}
        keyOf={(r) => r.id}
        label="Files"
        noun={["file", "files"]}
        kind="resources"
        columns={<ResourceColumns />}
        row={(r) => <ResourceRow resource={r} />}
        empty={<Empty icon="file" title="Nothing matches" />}
      />
    </>
  );
}

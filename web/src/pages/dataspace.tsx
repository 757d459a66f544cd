import { useState } from "preact/hooks";
import type { DataSet, Dataspace, Resource } from "../api";
import { dataspaces, queryOf } from "../api";
import { incompleteIn } from "../describe/incomplete";
import { Described } from "../describe/section";
import { Remove, Restore } from "../edit/deletion";
import { DataspaceForm, SetForm } from "../edit/forms";
import { searchAddress } from "../find/query";
import { plural } from "../format";
import { useKey } from "../keyboard/keys";
import { ShareMenu } from "../links/button";
import { Link, navigate, useLocation } from "../router";
import { useSession } from "../session";
import { Badge, Breadcrumbs, Button, Empty, ErrorMessage, Size, Skeleton, Time } from "../ui/components";
import { Dialog } from "../ui/dialog";
import type { States } from "../ui/filters";
import { Choice, FilterBar, oneOf, StateChoice, states, statesInDeleted, TimeFilters, timeOrders, timesOf } from "../ui/filters";
import { Fold, isNarrow } from "../ui/fold";
import { Icon } from "../ui/icons";
import { Lazy } from "../ui/lazy";
import { VirtualList } from "../ui/list";
import { useLoad } from "../ui/load";
import { More } from "../ui/menu";
import { permissionsIn } from "../ui/permissions";
import { factsOf, ForPrograms } from "../ui/programs";
import { readers } from "../ui/readers";
import { useRefreshOnFocus } from "../ui/refresh";
import { resourceColumns } from "../ui/resources";
import { useTitle } from "../ui/title";
import { useUpload } from "../upload/drop";
import { useChanges } from "../upload/queue";
import type { PageProps } from "./props";

/** One dataspace: its sets, or the files of all its sets. */
export function DataspacePage({ params }: PageProps) {
  const did = params.did!;
  const { query } = useLocation();
  const { user: me } = useSession(); // undefined: open data can be read without signing in
  const { value, problem, reload, refresh, set } = useLoad(async (signal) => {
    const [dataspace, may] = await Promise.all([dataspaces.get(did), permissionsIn(did, me, signal)]);
    return { dataspace, may };
  }, [did]);
  useRefreshOnFocus(refresh);
  const [dialog, setDialog] = useState<"edit" | "set" | "delete" | undefined>();
  const dataspace = value?.dataspace;
  const active = dataspace?.state === "active";
  const mayWrite = !!value?.may.write && active;
  const upload = useUpload(mayWrite ? { dataspaceId: did } : undefined);
  useTitle(dataspace && (dataspace.title || dataspace.name));
  useKey("e", "edit the dataspace", value?.may.manage && active ? () => setDialog("edit") : undefined);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value || !dataspace) return <Skeleton lines={10} />;
  const { may } = value;
  const update = (dataspace: Dataspace) => set({ ...value, dataspace });
  const view = oneOf(query, "view", ["sets", "files", "schemas"]);
  const offered = active ? states : statesInDeleted;
  const close = () => setDialog(undefined);
  return (
    <>
      <Breadcrumbs path={[{ to: "/", label: "Dataspaces" }]} />
      <div class="title">
        <div>
          <h1>
            {dataspace.title || dataspace.name} {!active && <Badge tone="bad">deleted</Badge>}
          </h1>
          <p class="print-only">{dataspace.url}</p>
          {!active && <p>This dataspace is in the trash. Restoring it brings back the sets and files that were deleted with it.</p>}
        </div>
        <div class="actions">
          <Restore what="dataspace" record={dataspace} may={may} within={[]} done={update} />
          {upload.inputs}
          {mayWrite && (
            <Button icon="plus" kind="primary" onClick={() => setDialog("set")}>
              New set
            </Button>
          )}
          <ShareMenu dataspace={dataspace} may={may} />
          <More
            items={[
              mayWrite && { label: "Upload files", icon: "upload", run: upload.chooseFiles },
              mayWrite && { label: "Upload a folder", icon: "folder", run: upload.chooseFolder },
              may.manage && active && { label: "Edit", icon: "edit", run: () => setDialog("edit") },
              me && { label: "History", icon: "clock", to: `/dataspaces/${did}/history` },
              may.manage && active && { label: "Delete", icon: "trash", run: () => setDialog("delete") },
            ]}
          />
        </div>
      </div>
      <Fold name="about" class="about" title="About this dataspace" hint={dataspace.description} open={!isNarrow()}>
        <div>
          {dataspace.description && <p class="preserve prose">{dataspace.description}</p>}
          <p class="dim">
            <code>{dataspace.name}</code> · {readers[dataspace.visibility].phrase}
            {may.role !== "none" && <> · you are {may.role}</>} · changed <Time at={dataspace.modified} />
          </p>
          {me && <KeptVersions dataspace={dataspace} />}
        </div>
        <Described kind="dataspace" record={dataspace} mayEdit={may.manage && active} update={update} />
      </Fold>
      <nav class="tabs" aria-label="Views">
        <Link to={`/dataspaces/${did}`} aria-current={view === "sets" ? "page" : undefined}>
          Sets
        </Link>
        <Link to={`/dataspaces/${did}?view=files&order=newest`} aria-current={view === "files" ? "page" : undefined}>
          Files of all sets
        </Link>
        <Link to={`/dataspaces/${did}?view=schemas`} aria-current={view === "schemas" ? "page" : undefined}>
          Forms
        </Link>
      </nav>
      {view === "sets" && <Sets of={dataspace} mayWrite={mayWrite} offered={offered} create={() => setDialog("set")} />}
      {view === "files" && <Files of={dataspace} offered={offered} />}
      {view === "schemas" && <Lazy load={() => import("../schemas/list").then((m) => m.SchemaList)} props={{ did, mayManage: may.manage && active, incomplete: searchAddress(incompleteIn(dataspace)) }} />}
      {dialog === "edit" && (
        <Dialog title="Edit the dataspace" onClose={close}>
          <DataspaceForm was={dataspace} done={(d) => (update(d), close())} cancel={close} />
        </Dialog>
      )}
      {dialog === "delete" && <Remove what="dataspace" record={dataspace} done={reload} close={close} />}
      {dialog === "set" && (
        <Dialog title="New set" onClose={close}>
          <SetForm dataspaceId={did} done={(s) => navigate(`/sets/${s.id}`)} cancel={close} />
        </Dialog>
      )}
      {upload.dialog}
    </>
  );
}

/** The retention of versions, and the size of older versions. */
function KeptVersions({ dataspace: { id, retention } }: { dataspace: Dataspace }) {
  const { value } = useLoad(() => dataspaces.usage(id), [id]);
  const [, last, days] = /^(?:last (\d+)|(\d+) days)$/.exec(retention) ?? [];
  return (
    <p class="dim">
      {last ? `The last ${plural(+last, "version")} of each file` : days ? "Versions of files" : "All versions of files"} are kept{days && ` for ${plural(+days, "day")} after they were replaced`};{" "}
      <Link to={`/usage?dataspace=${id}`}>old ones</Link> take {value ? <Size bytes={value.oldBytes} /> : "…"}
    </p>
  );
}

interface SetsProps {
  of: Dataspace;
  offered: States;
  mayWrite: boolean;
  create: () => void;
}

function Sets({ of: dataspace, offered, mayWrite, create }: SetsProps) {
  const did = dataspace.id;
  const { query } = useLocation();
  const changes = useChanges(did);
  const filters = { state: oneOf(query, "state", offered) };
  return (
    <>
      <FilterBar>
        <StateChoice offered={offered} />
        <ForPrograms facts={factsOf(dataspace, "dataspace")} path={`/dataspaces/${did}/sets${queryOf(filters)}`} />
      </FilterBar>
      <VirtualList<DataSet>
        id={did + queryOf(filters)}
        version={changes}
        create={() => dataspaces.sets(did, filters)}
        keyOf={(s) => s.id}
        label="Sets"
        noun={["set", "sets"]}
        kind="containers"
        columns={[
          {
            head: "Set",
            cellClass: (s) => s.state,
            cell: (s) => (
              <>
                <Link to={`/sets/${s.id}`}>
                  <Icon name="set" /> {s.title || s.name}
                </Link>{" "}
                {s.state === "deleted" && <Badge tone="bad">deleted</Badge>}
              </>
            ),
          },
          { head: "Name", class: "wide-only", cellClass: "mono dim", cell: (s) => s.name },
          { head: "Description", class: "wide-only", cellClass: "dim", cell: (s) => s.description },
          { head: "Changed", class: "wide-only", cellClass: "dim", cell: (s) => <Time at={s.modified} /> },
        ]}
        empty={
          <Empty icon="set" title={filters.state === offered[0] ? "No sets yet" : "No matches"}>
            {mayWrite ? (
              <Button icon="plus" onClick={create}>
                Create a set
              </Button>
            ) : (
              offered === states && <p>Editors of the dataspace create sets and upload files.</p>
            )}
          </Empty>
        }
      />
    </>
  );
}

function Files({ of: dataspace, offered }: Pick<SetsProps, "of" | "offered">) {
  const did = dataspace.id;
  const { query } = useLocation();
  const filters = { state: oneOf(query, "state", offered), ...timesOf(query), order: query.get("order") === "newest" ? "newest" : "" };
  return (
    <>
      <FilterBar>
        <StateChoice offered={offered} />
        <Choice label="Order" name="order" options={timeOrders} />
        <TimeFilters />
        <ForPrograms facts={factsOf(dataspace, "dataspace")} path={`/dataspaces/${did}/resources${queryOf(filters)}`} />
      </FilterBar>
      <VirtualList<Resource>
        id={did + queryOf(filters)}
        create={() => dataspaces.resources(did, filters)}
        keyOf={(r) => r.id}
        label="Files"
        noun={["file", "files"]}
        kind="resources"
        columns={resourceColumns}
        empty={<Empty icon="file" title="No matches" />}
      />
    </>
  );
}

import { useState } from "preact/hooks";
import type { Dataspace } from "../api";
import { dataspaces, queryOf } from "../api";
import { DataspaceForm } from "../edit/forms";
import { Link, navigate, useLocation } from "../router";
import { useMe } from "../session";
import { Bytes, Files, LastActivity, useHoldings } from "../start/activity";
import { Begin } from "../start/begin";
import { RecentFiles, useRecent, YourSets } from "../start/recent";
import { Badge, Button, Empty, ErrorMessage, Skeleton } from "../ui/components";
import { Dialog } from "../ui/dialog";
import { Choice, FilterBar, oneOf, StateChoice, states } from "../ui/filters";
import { Icon } from "../ui/icons";
import { VirtualList } from "../ui/list";
import { useAction } from "../ui/load";
import { mayCreateDataspaces } from "../ui/permissions";
import { ForPrograms } from "../ui/programs";
import { readers } from "../ui/readers";
import { useTitle } from "../ui/title";

/** All dataspaces that the user can read. */
export function Home() {
  const me = useMe();
  const { query } = useLocation();
  useTitle("Home");
  const filters = { state: oneOf(query, "state", states), visibility: oneOf(query, "visibility", ["all", "private", "public", "open"]) };
  const recent = useRecent();
  const holdings = useHoldings();
  if (!recent.value && !recent.problem) return <Skeleton lines={12} />; // avoids layout shifts
  return (
    <>
      <h1 class="visually-hidden">Home</h1>
      <RecentFiles recent={recent} />
      <YourSets recent={recent} />
      <div class="title">
        <div>
          <h2>Dataspaces</h2>
          <p class="dim">Each contains the sets of one group or project, and has its own members.</p>
        </div>
        <div class="actions">
          <NewDataspace kind={me.sysadmin ? "primary" : "plain"}>New dataspace</NewDataspace>
        </div>
      </div>
      <FilterBar>
        <StateChoice />
        <Choice
          label="Visibility"
          name="visibility"
          options={[
            ["all", "any"],
            ["private", "members only"],
            ["public", "all users"],
            ["open", "everybody"],
          ]}
        />
        <ForPrograms path={`/dataspaces${queryOf(filters)}`} />
      </FilterBar>
      <VirtualList<Dataspace>
        id={queryOf(filters)}
        create={() => dataspaces.list(filters)}
        keyOf={(d) => d.id}
        label="Dataspaces"
        noun={["dataspace", "dataspaces"]}
        kind="dataspaces"
        columns={[
          {
            head: "Dataspace",
            cellClass: (d) => d.state,
            cell: (d) => (
              <>
                <Link to={`/dataspaces/${d.id}`}>
                  <Icon name="dataspace" /> {d.title || d.name}
                </Link>{" "}
                {d.state === "deleted" && <Badge tone="bad">deleted</Badge>}
              </>
            ),
          },
          { head: "Name", class: "wide-only", cellClass: "mono dim", cell: (d) => d.name },
          { head: "Visible to", class: "wide-only", cellClass: "dim", cell: (d) => readers[d.visibility].short },
          { head: "Files", class: "wide-only end", cellClass: "dim", cell: (d) => <Files of={holdings?.get(d.id)} /> },
          { head: "Size", class: "end", cellClass: "dim", cell: (d) => <Bytes of={holdings?.get(d.id)} /> },
          { head: "Last activity", class: "wide-only", cellClass: "dim", cell: (d) => <LastActivity of={d} /> },
        ]}
        empty={
          <Empty icon="dataspace" title={filters.state === "active" ? "No dataspaces yet" : "No matches"}>
            {filters.state !== "deleted" && (
              <>
                {!me.sysadmin && <p>Ask an admin for a role in a dataspace. Your username is {me.username}.</p>}
                <Begin create={<NewDataspace>{me.sysadmin ? "Create the first one" : "Create a dataspace"}</NewDataspace>} />
              </>
            )}
          </Empty>
        }
      />
    </>
  );
}

/** The button that creates a dataspace. The permission is checked before the form is shown. */
function NewDataspace({ kind = "plain", children }: { kind?: "plain" | "primary"; children: string }) {
  const me = useMe();
  const [may, setMay] = useState<boolean | undefined>();
  const { run, busy, problem, dismiss } = useAction(() => mayCreateDataspaces(me).then(setMay));
  const close = () => {
    setMay(undefined);
    dismiss();
  };
  return (
    <>
      <Button icon="plus" kind={kind} busy={busy} onClick={run}>
        {children}
      </Button>
      {(may !== undefined || problem) && (
        <Dialog title="New dataspace" onClose={close}>
          {problem && <ErrorMessage problem={problem} />}
          {may && <DataspaceForm done={(d) => navigate(`/dataspaces/${d.id}`)} cancel={close} />}
          {may === false && (
            <p>Only sysadmins can create dataspaces in this service. Ask a sysadmin to create one and to make you its admin. Your username is {me.username}.</p>
          )}
        </Dialog>
      )}
    </>
  );
}

import { useEffect, useState } from "preact/hooks";
import type { Dataspace, Problem } from "../api";
import { dataspaces, queryOf } from "../api";
import type { PageProps } from "../app";
import { DataspaceForm } from "../edit/forms";
import { go, Link, usePlace } from "../router";
import { useMe } from "../session";
import { Badge, Button, Dialog, Empty, Failed, Time } from "../ui/basics";
import { Curl } from "../ui/curl";
import { Icon } from "../ui/icons";
import { VirtualList } from "../ui/list";
import { asProblem } from "../ui/load";
import { mayMake } from "../ui/role";
import { Choice, oneOf, StateChoice, states, Tools } from "../ui/state";

/** All dataspaces that the visitor may read. */
export function Home(_: PageProps) {
  const me = useMe();
  const { query } = usePlace();
  useEffect(() => {
    document.title = "Dataspaces · labshelf";
  }, []);
  const filters = { state: oneOf(query, "state", states), visibility: oneOf(query, "visibility", ["all", "private", "public"]) };
  return (
    <>
      <div class="title">
        <div>
          <h1>Dataspaces</h1>
          <p class="dim">Each holds the sets of one group or project, and has its own members.</p>
        </div>
        <NewDataspace kind={me.sysadmin ? "primary" : "plain"}>New dataspace</NewDataspace>
      </div>
      <Tools>
        <StateChoice />
        <Choice
          label="Visibility"
          name="visibility"
          options={[
            ["all", "any"],
            ["private", "members only"],
            ["public", "everybody"],
          ]}
        />
        <Curl path={`/dataspaces${queryOf(filters)}`} />
      </Tools>
      <VirtualList<Dataspace>
        of={queryOf(filters)}
        make={() => dataspaces.list(filters)}
        keyOf={(d) => d.id}
        label="Dataspaces"
        noun={["dataspace", "dataspaces"]}
        kind="containers"
        columns={
          <>
            <span role="columnheader">Dataspace</span>
            <span role="columnheader" class="wide-only">
              Name
            </span>
            <span role="columnheader" class="wide-only">
              Visible to
            </span>
            <span role="columnheader" class="wide-only">
              Changed
            </span>
          </>
        }
        row={(d) => (
          <>
            <span role="cell" class={d.state}>
              <Link to={`/dataspaces/${d.id}`}>
                <Icon name="dataspace" /> {d.title || d.name}
              </Link>{" "}
              {d.state === "deleted" && <Badge tone="bad">deleted</Badge>}
            </span>
            <span role="cell" class="wide-only mono dim">
              {d.name}
            </span>
            <span role="cell" class="wide-only dim">
              {d.visibility === "public" ? "everybody" : "members"}
            </span>
            <span role="cell" class="wide-only dim">
              <Time at={d.modified} />
            </span>
          </>
        )}
        empty={
          <Empty icon="dataspace" title={filters.state === "active" ? "There is no dataspace for you yet" : "Nothing matches"}>
            {me.sysadmin ? (
              <NewDataspace>Create the first one</NewDataspace>
            ) : (
              <p>Ask an admin to give you a role in one. Your user name is {me.username}.</p>
            )}
          </Empty>
        }
      />
    </>
  );
}

/** The button that makes a dataspace. Who may do that is asked of the service before anything is typed. */
function NewDataspace({ kind = "plain", children }: { kind?: "plain" | "primary"; children: string }) {
  const me = useMe();
  const [may, setMay] = useState<boolean | undefined>();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const ask = async () => {
    setBusy(true);
    setProblem(undefined);
    await mayMake(me).then(setMay, (thrown) => setProblem(asProblem(thrown)));
    setBusy(false);
  };
  const close = () => {
    setMay(undefined);
    setProblem(undefined);
  };
  return (
    <>
      <Button icon="plus" kind={kind} busy={busy} onClick={ask}>
        {children}
      </Button>
      {(may !== undefined || problem) && (
        <Dialog title="New dataspace" onClose={close}>
          {problem && <Failed problem={problem} />}
          {may && <DataspaceForm done={(d) => go(`/dataspaces/${d.id}`)} cancel={close} />}
          {may === false && (
            <p>This service lets only sysadmins make dataspaces. Ask one of them, who can also make you its admin. Your user name is {me.username}.</p>
          )}
        </Dialog>
      )}
    </>
  );
}

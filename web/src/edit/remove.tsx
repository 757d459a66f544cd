// Deletion is soft: everything can be brought back from the trash until it is purged. So it asks once, and says that. What was in
// something that is deleted as well comes back after that.
import { useState } from "preact/hooks";
import type { DataSet, Dataspace, Problem, Resource } from "../api";
import { dataspaces, resources, sets } from "../api";
import { Link } from "../router";
import { Ask, Button, Dialog, Failed } from "../ui/basics";
import { asProblem } from "../ui/load";
import type { May } from "../ui/role";

const calls = { dataspace: dataspaces, set: sets, resource: resources };

const takes = {
  dataspace: "All its sets and files go with it.",
  set: "All its files go with it.",
  resource: "",
};

type What = keyof typeof calls;
type Made<W extends What> = W extends "dataspace" ? Dataspace : W extends "set" ? DataSet : Resource;

interface Props<W extends What> {
  what: W;
  record: Made<W>;
}

export function Remove<W extends What>({ what, record, done }: Props<W> & { done: () => void }) {
  const [asking, setAsking] = useState(false);
  const close = () => setAsking(false);
  const noun = what === "resource" ? "file" : what;
  const submit = async () => {
    await calls[what].remove(record.id);
    close();
    done();
  };
  return (
    <>
      <Button icon="trash" onClick={() => setAsking(true)}>
        Delete
      </Button>
      {asking && (
        <Ask title={`Delete this ${noun}?`} action="Delete" submit={submit} close={close}>
          <p class="preserve">
            <strong>{record.name}</strong>
          </p>
          <p>
            {takes[what]} It goes to the trash, from where it can be restored until whoever runs the service purges old deletions.
          </p>
        </Ask>
      )}
    </>
  );
}

interface RestoreProps<W extends What> extends Props<W> {
  may: May;
  /** What it is in, from the top. */
  within: (Dataspace | DataSet)[];
  done: (record: Made<W>) => void;
  /** For a row of a list. */
  tight?: true;
}

/** The button that restores something, or what must be restored before; nothing where the visitor may not, or where nothing is left. */
export function Restore<W extends What>({ what, record, may, within, done, tight }: RestoreProps<W>) {
  const allowed = what === "dataspace" ? may.manage : may.write;
  const purged = "purged" in record && record.purged;
  if (record.state === "active" || purged || !allowed) return null;
  const above = within.find((c) => c.state === "deleted");
  return above ? <First above={above} may={may} tight={tight} /> : <Now what={what} record={record} done={done} tight={tight} />;
}

function First({ above, may, tight }: { above: Dataspace | DataSet; may: May; tight?: true }) {
  const what = "dataspaceId" in above ? "set" : "dataspace";
  const title = above.title || above.name;
  const admins = what === "dataspace" && !may.manage && "Its admins can do that.";
  return (
    <span class="dim" title={tight && (admins ? `${title}. ${admins}` : title)}>
      Restore its <Link to={`/${what}s/${above.id}`}>{tight ? what : `${what} ${title}`}</Link> first{!tight && admins && `. ${admins}`}
    </span>
  );
}

function Now<W extends What>({ what, record, done, tight }: Omit<RestoreProps<W>, "may" | "within">) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const restore = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      done((await calls[what].restore(record.id)) as Made<W>);
    } catch (thrown) {
      setProblem(asProblem(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button icon="retry" class={tight ? "tight" : ""} busy={busy} onClick={restore}>
        Restore {tight && <span class="unseen">{record.name}</span>}
      </Button>
      {problem && (
        <Dialog title={`${record.name} was not restored`} onClose={() => setProblem(undefined)}>
          <Failed problem={problem} />
        </Dialog>
      )}
    </>
  );
}

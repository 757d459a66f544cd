// Buttons that delete and restore records. A deleted record can be restored from the trash until it
// is purged. The content of a deleted container can be restored only after the container.
import type { DataSet, Dataspace, Resource } from "../api";
import { dataspaces, resources, sets } from "../api";
import { Link } from "../router";
import { Button, ErrorMessage } from "../ui/components";
import { Confirm, Dialog } from "../ui/dialog";
import { useAction } from "../ui/load";
import type { Permissions } from "../ui/permissions";

const calls = { dataspace: dataspaces, set: sets, resource: resources };

const contents = {
  dataspace: "All its sets and files are deleted with it.",
  set: "All its files are deleted with it.",
  resource: "",
};

type Kind = keyof typeof calls;
type RecordOf<K extends Kind> = K extends "dataspace" ? Dataspace : K extends "set" ? DataSet : Resource;

interface Props<K extends Kind> {
  what: K;
  record: RecordOf<K>;
}

/** Asks for confirmation, then deletes a record. */
export function Remove<K extends Kind>({ what, record, done, close }: Props<K> & { done: () => void; close: () => void }) {
  const submit = async () => {
    await calls[what].remove(record.id);
    close();
    done();
  };
  return (
    <Confirm title={`Delete this ${what === "resource" ? "file" : what}?`} action="Delete" submit={submit} close={close}>
      <p class="preserve">
        <strong>{record.name}</strong>
      </p>
      <p>{contents[what]} It goes to the trash, where it can be restored until a sysadmin purges old deletions.</p>
    </Confirm>
  );
}

interface RestoreProps<K extends Kind> extends Props<K> {
  may: Permissions;
  /** The containers of the record, outermost first. */
  within: (Dataspace | DataSet)[];
  done: (record: RecordOf<K>) => void;
  /** Whether it is in a row of a list. */
  tight?: true;
}

/** The button that restores a record, or a link to the container that must be restored first; empty
    without permission or after a purge. */
export function Restore<K extends Kind>({ what, record, may, within, done, tight }: RestoreProps<K>) {
  const allowed = what === "dataspace" ? may.manage : may.write;
  const purged = "purged" in record && record.purged;
  if (record.state === "active" || purged || !allowed) return null;
  const container = within.find((c) => c.state === "deleted");
  return container ? <ContainerFirst container={container} may={may} tight={tight} /> : <RestoreButton what={what} record={record} done={done} tight={tight} />;
}

function ContainerFirst({ container, may, tight }: { container: Dataspace | DataSet; may: Permissions; tight?: true }) {
  const what = "dataspaceId" in container ? "set" : "dataspace";
  const title = container.title || container.name;
  const admins = what === "dataspace" && !may.manage && "Only its admins can restore it.";
  return (
    <span class="dim" title={tight && (admins ? `${title}. ${admins}` : title)}>
      Restore its <Link to={`/${what}s/${container.id}`}>{tight ? what : `${what} ${title}`}</Link> first{!tight && admins && `. ${admins}`}
    </span>
  );
}

function RestoreButton<K extends Kind>({ what, record, done, tight }: Omit<RestoreProps<K>, "may" | "within">) {
  const { run, busy, problem, dismiss } = useAction(async () => done((await calls[what].restore(record.id)) as RecordOf<K>));
  return (
    <>
      <Button icon="retry" class={tight ? "tight" : ""} busy={busy} onClick={run}>
        Restore {tight && <span class="visually-hidden">{record.name}</span>}
      </Button>
      {problem && (
        <Dialog title={`${record.name} was not restored`} onClose={dismiss}>
          <ErrorMessage problem={problem} />
        </Dialog>
      )}
    </>
  );
}

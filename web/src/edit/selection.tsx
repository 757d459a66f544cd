import { useEffect, useRef, useState } from "preact/hooks";
import type { Asked, DataSet, Resource } from "../api";
import { dataAddress, schemas, sets } from "../api";
import type { DescribeMany } from "../describe/many";
import { count, plural } from "../format";
import { useKey } from "../keyboard/keys";
import { ShareButton } from "../links/button";
import { isTable, maxFiles, plotAddress } from "../plot/files";
import { Link } from "../router";
import { Badge, Button, ErrorMessage } from "../ui/components";
import { Confirm, Dialog } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { useAction } from "../ui/load";
import { changeMany, notifyUndoable, Refusals } from "./many";
import { Place } from "./placement";

interface Props {
  set: DataSet;
  selected: Resource[];
  /** Whether the list has more files than can be selected. */
  bounded: boolean;
  mayWrite: boolean;
  /** Whether a file matches the filters of the list. */
  listed: (r: Resource) => boolean;
  deselect: (r: Resource) => void;
  clear: () => void;
}

/** The service zips at most this many selected files. */
const maxZipped = 1000;

/** One edit describes at most this many files. */
const maxDescribed = 20_000;

/** A link shows at most this many selected files. */
const maxShared = 500;

/** The maximum number of files in the confirmation. */
const maxShown = 4;

/** The actions for the selected files of a set. */
export function SelectionBar({ set, selected, bounded, mayWrite, listed, deselect, clear }: Props) {
  const sid = set.id;
  const active = selected.filter((r) => r.state === "active");
  const removable = mayWrite && active.length === selected.length;
  const [asking, setAsking] = useState(false);
  const [reasons, setReasons] = useState<ReadonlyMap<Resource, string>>(new Map());
  const failed = new Map([...reasons].filter(([{ id }]) => selected.some((r) => r.id === id)));
  const many = plural(selected.length, "file");
  useKey("Delete", "delete the selection", removable ? () => setAsking(true) : undefined);
  return (
    <>
      <div class="note" role="status">
        <div>
          {many} selected
          {bounded && <p>You cannot select more files at a time.</p>}
          {active.length > maxZipped && (
            <p>A zip contains at most {count(maxZipped)} selected files. Select fewer, or download the whole set, which has no limit.</p>
          )}
          {active.length > maxDescribed && <p>You can edit the metadata of at most {count(maxDescribed)} files at a time.</p>}
          <Refusals of={failed} />
        </div>
        {active.length === 1 && (
          <a class="button" href={dataAddress(active[0]!)} download>
            <Icon name="download" /> Download
          </a>
        )}
        {active.length > maxZipped && (
          <a class="button" href={sets.archive(sid)} download>
            <Icon name="download" /> Download the whole set
          </a>
        )}
        {active.length > 1 && active.length <= maxZipped && (
          <a class="button" href={sets.archive(sid, active.map((r) => r.id))} download>
            <Icon name="download" /> Download as zip
          </a>
        )}
        {removable && active.length <= maxShared && <ShareButton of={{ set, files: active }} />}
        {removable && active.length <= maxDescribed && <Describe sid={sid} of={selected} />}
        {active.length > 1 && active.length <= maxFiles && active.every(isTable) && (
          <Link to={plotAddress(active)} class="button">
            Plot together
          </Link>
        )}
        {active.length > 0 && active.length === selected.length && <Place of={selected} moved={deselect} />}
        {removable && (
          <Button icon="trash" onClick={() => setAsking(true)}>
            Delete {many}
          </Button>
        )}
        {mayWrite && !active.length && <RestoreAll of={selected} deselect={deselect} failed={setReasons} />}
        <Button onClick={clear}>Clear selection</Button>
      </div>
      {asking && <RemoveAll of={selected} listed={listed} deselect={deselect} failed={setReasons} close={() => setAsking(false)} />}
    </>
  );
}

/** The button that describes the selected files. Its form is loaded on demand. */
function Describe({ sid, of }: { sid: string; of: Resource[] }) {
  const [form, setForm] = useState<{ Many: typeof DescribeMany; asked: Asked } | undefined>();
  const { run, busy, problem, dismiss } = useAction(async () => {
    const [{ DescribeMany }, asked] = await Promise.all([import("../describe/many"), schemas.of("resources", of[0]!.id)]);
    setForm({ Many: DescribeMany, asked });
  });
  return (
    <>
      <Button icon="edit" busy={busy} onClick={run}>
        Describe …
      </Button>
      {problem && (
        <Dialog title="The form could not be loaded" onClose={dismiss}>
          <ErrorMessage problem={problem} retry={run} />
        </Dialog>
      )}
      {form && <form.Many sid={sid} of={of} asked={form.asked} close={() => setForm(undefined)} />}
    </>
  );
}

/** Whether a component is mounted: unmounting stops its actions. */
function useMounted() {
  const mounted = useRef(true);
  useEffect(() => () => void (mounted.current = false), []);
  return mounted;
}

interface RemoveAllProps extends Pick<Props, "listed" | "deselect"> {
  of: Resource[];
  failed: (reasons: ReadonlyMap<Resource, string>) => void;
  close: () => void;
}

function RemoveAll({ of, listed, deselect, failed, close }: RemoveAllProps) {
  const [all] = useState(of); // `of` loses deleted files
  const [tried, setTried] = useState<number | undefined>();
  const open = useMounted();
  const hidden = all.filter((r) => !listed(r));
  const first = [...hidden, ...all.filter(listed)].slice(0, maxShown);
  const submit = async () => {
    const { done, already, refused } = await changeMany(all, { action: "delete" }, (n) => (setTried(n), open.current)); // cancelled, or unmounted
    const gone = done.map(([was]) => was);
    for (const r of gone.concat(already)) deselect(r);
    failed(refused);
    if (gone.length) notifyUndoable(`${plural(gone.length, "file")} deleted.`, gone, { action: "restore" });
    if (open.current) close();
  };
  return (
    <Confirm title={`Delete ${plural(all.length, "file")}?`} action="Delete" submit={submit} close={close}>
      <ul class="sample">
        {first.map((r) => (
          <li key={r.id} title={r.name}>
            {hidden.includes(r) && <Badge>not in the list</Badge>} {r.name}
          </li>
        ))}
        {all.length > maxShown && <li class="dim">and {plural(all.length - maxShown, "other")}</li>}
      </ul>
      {hidden.length > 0 && (
        <p>
          <strong>{plural(hidden.length, "of them is", "of them are")} not in the list</strong>: the filters exclude {hidden.length === 1 ? "it" : "them"}.
        </p>
      )}
      <p>They go to the trash, where they can be restored until a sysadmin purges old deletions.</p>
      <p role="status" class="dim">
        {tried !== undefined && `${count(tried)} of ${count(all.length)} done`}
      </p>
    </Confirm>
  );
}

/** The button that restores deleted files. Leaving the page stops it. */
function RestoreAll({ of, deselect, failed }: Pick<RemoveAllProps, "of" | "deselect" | "failed">) {
  const [tried, setTried] = useState(0);
  const mounted = useMounted();
  const { run, busy } = useAction(async () => {
    const { done, already, refused } = await changeMany(of, { action: "restore" }, (n) => (setTried(n), mounted.current));
    for (const r of already.concat(done.map(([was]) => was))) deselect(r);
    failed(refused);
    if (done.length) notifyUndoable(`${plural(done.length, "file")} restored.`, done.map(([was]) => was), { action: "delete" });
  });
  return (
    <Button icon="retry" busy={busy} onClick={run}>
      Restore {plural(of.length, "file")} {busy && tried > 0 && `(${count(tried)} done)`}
    </Button>
  );
}

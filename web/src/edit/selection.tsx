import { useEffect, useRef, useState } from "preact/hooks";
import type { Asked, DataSet, Resource } from "../api";
import { dataAddress, resources, schemas, sets } from "../api";
import type { DescribeMany } from "../describe/many";
import { count, plural } from "../format";
import { useKey } from "../keyboard/keys";
import { ShareButton } from "../links/button";
import { Badge, Button, ErrorMessage } from "../ui/components";
import { Confirm, Dialog } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { asProblem, useAction } from "../ui/load";
import { notifyChange } from "../upload/queue";
import { Place } from "./placement";

interface Props {
  set: DataSet;
  selected: Resource[];
  /** There are more files in the list than can be selected. */
  bounded: boolean;
  mayWrite: boolean;
  /** Whether a file matches the filters of the list. */
  listed: (r: Resource) => boolean;
  deselect: (r: Resource) => void;
  clear: () => void;
}

/** The service zips at most this many selected files. */
const maxZipped = 1000;

/** A link shows at most this many selected files. */
const maxShared = 500;

/** Files that are shown of many. */
const maxShown = 4;

/** The actions for the selected files of a set. */
export function SelectionBar({ set, selected, bounded, mayWrite, listed, deselect, clear }: Props) {
  const sid = set.id;
  const active = selected.filter((r) => r.state === "active");
  const removable = mayWrite && active.length === selected.length;
  const [asking, setAsking] = useState(false);
  const [reasons, setReasons] = useState<ReadonlyMap<string, string>>(new Map());
  const failed = selected.filter((r) => reasons.has(r.id));
  const many = plural(selected.length, "file");
  useKey("Delete", "delete what is selected", removable ? () => setAsking(true) : undefined);
  return (
    <>
      <div class="note" role="status">
        <div>
          {many} selected
          {bounded && <p>More files cannot be selected at once.</p>}
          {active.length > maxZipped && (
            <p>A zip contains at most {count(maxZipped)} selected files. Select fewer, or download the whole set, which has no limit.</p>
          )}
          {failed.slice(0, maxShown).map((r) => (
            <p class="error" key={r.id}>
              {r.name}: {reasons.get(r.id)}
            </p>
          ))}
          {failed.length > maxShown && <p class="error">{plural(failed.length - maxShown, "other")} could not be deleted either.</p>}
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
        {removable && <Describe sid={sid} of={selected} />}
        {active.length > 0 && active.length === selected.length && <Place of={selected} moved={deselect} />}
        {removable && (
          <Button icon="trash" onClick={() => setAsking(true)}>
            Delete {many}
          </Button>
        )}
        <Button onClick={clear}>Clear selection</Button>
      </div>
      {asking && <RemoveAll sid={sid} of={selected} listed={listed} deselect={deselect} failed={setReasons} close={() => setAsking(false)} />}
    </>
  );
}

/** The button that describes the selected files. Its form is loaded when it is opened. */
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

interface RemoveAllProps extends Pick<Props, "listed" | "deselect"> {
  sid: string;
  of: Resource[];
  failed: (reasons: ReadonlyMap<string, string>) => void;
  close: () => void;
}

function RemoveAll({ sid, of, listed, deselect, failed, close }: RemoveAllProps) {
  const [all] = useState(of); // deleted files leave `of`
  const [tried, setTried] = useState<number | undefined>();
  const open = useRef(true);
  useEffect(() => () => void (open.current = false), []);
  const hidden = all.filter((r) => !listed(r));
  const first = [...hidden, ...all.filter(listed)].slice(0, maxShown);
  const submit = async () => {
    const reasons = new Map<string, string>();
    for (const [i, r] of all.entries()) {
      if (!open.current) break; // cancelled, or unmounted
      setTried(i);
      await resources.remove(r.id).then(
        () => deselect(r),
        (thrown) => reasons.set(r.id, asProblem(thrown).detail),
      );
    }
    failed(reasons);
    notifyChange(sid);
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
        {tried !== undefined && `${tried} of ${all.length} done`}
      </p>
    </Confirm>
  );
}

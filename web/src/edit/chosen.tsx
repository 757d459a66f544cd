import { useEffect, useRef, useState } from "preact/hooks";
import type { Resource } from "../api";
import { resources, sets } from "../api";
import { count, plural } from "../human";
import { tellArrival } from "../put/queue";
import { Ask, Badge, Button } from "../ui/basics";
import { Icon } from "../ui/icons";
import { asProblem } from "../ui/load";

interface Props {
  sid: string;
  chosen: Resource[];
  mayWrite: boolean;
  /** Whether the list shows a file under its filters, on the screen or above or below. */
  listed: (r: Resource) => boolean;
  /** Chooses a file no longer. */
  drop: (r: Resource) => void;
  clear: () => void;
}

/** Files that may be named for one zip: more are refused. */
const zipped = 1000;

/** Lines that are shown of many. */
const sample = 4;

/** What can be done with the chosen files of a set. */
export function Chosen({ sid, chosen, mayWrite, listed, drop, clear }: Props) {
  const active = chosen.filter((r) => r.state === "active").map((r) => r.id);
  const removable = mayWrite && active.length === chosen.length;
  const [asking, setAsking] = useState(false);
  const [reasons, setReasons] = useState<ReadonlyMap<string, string>>(new Map());
  const failed = chosen.filter((r) => reasons.has(r.id));
  const many = plural(chosen.length, "file");
  return (
    <>
      <div class="note" role="status">
        <div>
          {many} chosen
          {active.length > zipped && (
            <p>A zip takes {count(zipped)} chosen files at most. Choose fewer, or download the whole set, which has no such limit.</p>
          )}
          {failed.slice(0, sample).map((r) => (
            <p class="error" key={r.id}>
              {r.name}: {reasons.get(r.id)}
            </p>
          ))}
          {failed.length > sample && <p class="error">{plural(failed.length - sample, "other")} could not be deleted either.</p>}
        </div>
        {active.length === 1 && (
          <a class="button" href={resources.data(active[0]!)} download>
            <Icon name="download" /> Download
          </a>
        )}
        {active.length > zipped && (
          <a class="button" href={sets.archive(sid)} download>
            <Icon name="download" /> Download the whole set
          </a>
        )}
        {active.length > 1 && active.length <= zipped && (
          <a class="button" href={sets.archive(sid, active)} download>
            <Icon name="download" /> Download as zip
          </a>
        )}
        {removable && (
          <Button icon="trash" onClick={() => setAsking(true)}>
            Delete {many}
          </Button>
        )}
        <Button onClick={clear}>Choose none</Button>
      </div>
      {asking && <RemoveAll sid={sid} of={chosen} listed={listed} drop={drop} failed={setReasons} close={() => setAsking(false)} />}
    </>
  );
}

interface RemoveAllProps extends Pick<Props, "sid" | "listed" | "drop"> {
  of: Resource[];
  failed: (reasons: ReadonlyMap<string, string>) => void;
  close: () => void;
}

function RemoveAll({ sid, of, listed, drop, failed, close }: RemoveAllProps) {
  const [all] = useState(of); // what is deleted leaves `of`
  const [tried, setTried] = useState<number | undefined>();
  const open = useRef(true);
  useEffect(() => () => void (open.current = false), []);
  const hidden = all.filter((r) => !listed(r));
  const first = [...hidden, ...all.filter(listed)].slice(0, sample);
  const submit = async () => {
    const reasons = new Map<string, string>();
    for (const [i, r] of all.entries()) {
      if (!open.current) break; // cancelled, or the page was left
      setTried(i);
      await resources.remove(r.id).then(
        () => drop(r),
        (thrown) => reasons.set(r.id, asProblem(thrown).detail),
      );
    }
    failed(reasons);
    tellArrival(sid);
    if (open.current) close();
  };
  return (
    <Ask title={`Delete ${plural(all.length, "file")}?`} action="Delete" submit={submit} close={close}>
      <ul class="sample">
        {first.map((r) => (
          <li key={r.id} title={r.name}>
            {hidden.includes(r) && <Badge>not in the list now</Badge>} {r.name}
          </li>
        ))}
        {all.length > sample && <li class="dim">and {plural(all.length - sample, "other")}</li>}
      </ul>
      {hidden.length > 0 && (
        <p>
          <strong>
            {plural(hidden.length, "of them is", "of them are")} not in the list as it is now
          </strong>
          : its filters leave {hidden.length === 1 ? "it" : "them"} out.
        </p>
      )}
      <p>They go to the trash, from where they can be restored until whoever runs the service purges old deletions.</p>
      <p role="status" class="dim">
        {tried !== undefined && `${tried} of ${all.length} done`}
      </p>
    </Ask>
  );
}

import { useEffect, useRef, useState } from "preact/hooks";
import type { DataSet, Dataspace, Resource, User } from "../api";
import { dataspaces, queryOf, resources, sets } from "../api";
import type { PageProps } from "../app";
import { SetForm } from "../edit/forms";
import { Remove, Restore } from "../edit/remove";
import { plural } from "../human";
import { usePut } from "../put/drop";
import { tellArrival, useArrivals } from "../put/queue";
import { setQuery, usePlace } from "../router";
import { useMe } from "../session";
import { Badge, Button, Copy, Crumbs, Dialog, Empty, Failed, Time, Waiting } from "../ui/basics";
import { Curl } from "../ui/curl";
import { Icon } from "../ui/icons";
import { VirtualList } from "../ui/list";
import { useLoad } from "../ui/load";
import { ResourceColumns, ResourceRow } from "../ui/resources";
import { mayIn } from "../ui/role";
import { Choice, oneOf, StateChoice, states, Tools } from "../ui/state";
import { orders, TimeFilters, timesOf } from "../ui/times";

/** One set and its files. */
export function SetPage({ params }: PageProps) {
  const sid = params.sid!;
  const me = useMe();
  const { value, problem, reload, set: take } = useLoad((signal) => open(sid, me, signal), [sid]);
  const [editing, setEditing] = useState(false);
  const set = value?.set;
  const active = set?.state === "active";
  const mayWrite = !!value?.may.write && active;
  const put = usePut(mayWrite ? { set: set! } : undefined);
  useEffect(() => {
    if (set) document.title = `${set.title || set.name} · labshelf`;
  }, [set]);
  if (problem) return <Failed problem={problem} retry={reload} />;
  if (!value || !set) return <Waiting lines={10} />;
  const { dataspace, may } = value;
  const changed = (set: DataSet) => take({ ...value, set });
  return (
    <>
      <Crumbs way={way(dataspace)} />
      <div class="title">
        <div>
          <h1>
            {set.title || set.name} {!active && <Badge tone="bad">deleted</Badge>}
          </h1>
          <p class="dim">
            <code>{set.name}</code> <Copy text={set.id} what="the id" /> <Copy text={set.url} what="the address of the set" icon="link" /> · changed{" "}
            <Time at={set.modified} />
          </p>
          {set.description && <p class="preserve prose">{set.description}</p>}
        </div>
        <div class="actions">
          <a class="button" href={sets.archive(sid)} download>
            <Icon name="download" /> Download all
          </a>
          {mayWrite && (
            <Button icon="edit" onClick={() => setEditing(true)}>
              Edit
            </Button>
          )}
          {mayWrite && <Remove what="set" record={set} done={reload} />}
          <Restore what="set" record={set} may={may} within={[dataspace]} done={changed} />
          {put.buttons}
        </div>
      </div>
      <Files sid={sid} mayWrite={mayWrite} />
      {editing && (
        <Dialog title="Edit the set" onClose={() => setEditing(false)}>
          <SetForm was={set} dataspaceId={set.dataspaceId} done={(s) => (changed(s), setEditing(false))} cancel={() => setEditing(false)} />
        </Dialog>
      )}
      {put.rest}
    </>
  );
}

/** A set, where it is, and what the visitor may do there: together, so that nothing moves when the rest of it comes. */
async function open(sid: string, me: User, signal: AbortSignal) {
  const set = await sets.get(sid);
  const [dataspace, may] = await Promise.all([dataspaces.get(set.dataspaceId), mayIn(set.dataspaceId, me, signal)]);
  return { set, dataspace, may };
}

/** The way from the top to a dataspace. */
export const way = (dataspace: Dataspace) => [
  { to: "/", label: "Dataspaces" },
  { to: `/dataspaces/${dataspace.id}`, label: dataspace.title || dataspace.name },
];

function Files({ sid, mayWrite }: { sid: string; mayWrite: boolean }) {
  const { query } = usePlace();
  const arrived = useArrivals(sid);
  const [chosen, setChosen] = useState<ReadonlyMap<string, Resource>>(new Map());
  const prefix = query.get("prefix") ?? "";
  const order = prefix ? "name" : oneOf(query, "order", ["name", "newest", "oldest"]);
  const filters = {
    state: oneOf(query, "state", states),
    // A prefix implies the order by name; the service refuses times beside it.
    ...(order === "name" ? { order: prefix ? "" : "name", namePrefix: prefix } : { order: order === "newest" ? "newest" : "", ...timesOf(query) }),
  };
  const choose = (r: Resource) => {
    const next = new Map(chosen);
    if (!next.delete(r.id)) next.set(r.id, r);
    setChosen(next);
  };
  return (
    <>
      <Tools>
        <Choice label="Order" name="order" options={[["name", "by name"], ...[...orders].reverse()]} clears={["prefix", "since", "until"]} />
        {order === "name" ? <Prefix /> : <TimeFilters />}
        <StateChoice />
        <Curl path={`/sets/${sid}/resources${queryOf(filters)}`} />
      </Tools>
      {chosen.size > 0 && <Chosen sid={sid} chosen={chosen} mayWrite={mayWrite} clear={() => setChosen(new Map())} />}
      <VirtualList<Resource>
        of={sid + queryOf(filters)}
        turn={arrived}
        make={() => sets.resources(sid, filters)}
        keyOf={(r) => r.id}
        label="Files"
        noun={["file", "files"]}
        kind="chosen"
        columns={<ResourceColumns mark={<span class="unseen">Choose</span>} />}
        row={(r) => (
          <ResourceRow
            resource={r}
            mark={<input type="checkbox" aria-label={`Choose ${r.name}`} checked={chosen.has(r.id)} disabled={!!r.purged} onChange={() => choose(r)} />}
          />
        )}
        empty={
          <Empty icon="file" title={prefix || filters.state !== "active" || query.size ? "Nothing matches" : "This set is empty"}>
            {mayWrite && <p>Drop files or a whole folder anywhere on this page.</p>}
          </Empty>
        }
      />
    </>
  );
}

/** Milliseconds without another key, after which a prefix is taken for typed. */
const pause = 250;

/** Filters by how names begin. The service does it, over all names of the set. */
function Prefix() {
  const { query } = usePlace();
  const value = query.get("prefix") ?? "";
  const input = useRef<HTMLInputElement>(null);
  const due = useRef(0);
  useEffect(() => {
    if (input.current!.value !== value && !due.current) input.current!.value = value;
  }, [value]);
  useEffect(() => () => clearTimeout(due.current), []);
  const take = () => {
    clearTimeout(due.current);
    due.current = 0;
    setQuery({ prefix: input.current!.value, order: "" });
  };
  const type = () => {
    clearTimeout(due.current);
    due.current = setTimeout(take, pause);
  };
  return (
    <label>
      Name begins with
      <input ref={input} type="search" spellcheck={false} onInput={type} onChange={take} />
    </label>
  );
}

/** What can be done with the chosen files. */
function Chosen({ sid, chosen, mayWrite, clear }: { sid: string; chosen: ReadonlyMap<string, Resource>; mayWrite: boolean; clear: () => void }) {
  const all = [...chosen.values()];
  const active = all.filter((r) => r.state === "active").map((r) => r.id);
  const removable = mayWrite && active.length === all.length;
  const [busy, setBusy] = useState(false);
  const [left, setLeft] = useState<string[]>([]);
  const remove = async () => {
    setBusy(true);
    const failed: string[] = [];
    for (const r of all) await resources.remove(r.id).catch((e: Error) => failed.push(`${r.name}: ${e.message}`));
    setBusy(false);
    setLeft(failed);
    if (!failed.length) clear();
    tellArrival(sid);
  };
  return (
    <div class="note" role="status">
      <div>
        {plural(all.length, "file")} chosen
        {left.map((line) => (
          <p class="error" key={line}>
            {line}
          </p>
        ))}
      </div>
      {active.length === 1 && (
        <a class="button" href={resources.data(active[0]!)} download>
          <Icon name="download" /> Download
        </a>
      )}
      {active.length > 1 && (
        <a class="button" href={sets.archive(sid, active)} download>
          <Icon name="download" /> Download as zip
        </a>
      )}
      {removable && (
        <Button icon="trash" busy={busy} onClick={remove}>
          Delete
        </Button>
      )}
      <Button onClick={clear}>Choose none</Button>
    </div>
  );
}


import { useEffect, useRef, useState } from "preact/hooks";
import type { DataSet, Dataspace, Resource, User } from "../api";
import { dataspaces, queryOf, sets } from "../api";
import type { PageProps } from "../app";
import { Chosen } from "../edit/chosen";
import { SetForm } from "../edit/forms";
import { Remove, Restore } from "../edit/remove";
import { usePut } from "../put/drop";
import { queue, useArrivals } from "../put/queue";
import { UnfinishedUploads } from "../put/unfinished";
import { setQuery, usePlace } from "../router";
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
import { between, orders, TimeFilters, timesOf } from "../ui/times";

/** One set and its files. */
export function SetPage({ params }: PageProps) {
  const sid = params.sid!;
  const me = useMe();
  const { value, problem, reload, look: lookAgain, set: take } = useLoad((signal) => open(sid, me, signal), [sid]);
  useLook(lookAgain);
  const arrived = useArrivals(sid);
  const { filled, look } = useFilled(sid, arrived);
  const [editing, setEditing] = useState(false);
  const set = value?.set;
  const active = set?.state === "active";
  const mayWrite = !!value?.may.write && active;
  const put = usePut(mayWrite ? { set: set! } : undefined);
  useEffect(() => {
    if (set) document.title = `${set.title || set.name} · labshelf`;
  }, [set]);
  if (problem) return <Failed problem={problem} retry={reload} />;
  if (!value || !set || filled === undefined) return <Waiting lines={10} />;
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
          {!active && <p>This set is in the trash. Restoring it brings back the files that were deleted with it.</p>}
        </div>
        <div class="actions">
          {active && filled && (
            <a class="button" href={sets.archive(sid)} download>
              <Icon name="download" /> Download all
            </a>
          )}
          {mayWrite && (
            <Button icon="edit" onClick={() => setEditing(true)}>
              Edit
            </Button>
          )}
          {mayWrite && <Remove what="set" record={set} done={reload} />}
          <Restore what="set" record={set} may={may} within={[dataspace]} done={(s) => (changed(s), look())} />
          {put.buttons}
        </div>
      </div>
      {mayWrite && <UnfinishedUploads of={set} choose={(file, path) => queue.add([{ file, path }], set, undefined, [])} />}
      <Files sid={sid} mayWrite={mayWrite} arrived={arrived} known={active ? states : statesWithin} />
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

/** Whether a set has active files, as far as is known: where that cannot be found out it may have. It is looked up anew on arrivals. */
function useFilled(sid: string, arrived: number) {
  const { value, problem, look } = useLoad((signal) => sets.resources(sid, { limit: 1 }).all(1, signal), [sid]);
  useLook(look);
  useEffect(() => {
    if (arrived) look();
  }, [arrived]);
  return { filled: problem ? true : value && value.items.length > 0, look };
}

/** The way from the top to a dataspace. */
export const way = (dataspace: Dataspace) => [
  { to: "/", label: "Dataspaces" },
  { to: `/dataspaces/${dataspace.id}`, label: dataspace.title || dataspace.name },
];

interface FilesProps {
  sid: string;
  mayWrite: boolean;
  /** Grows when files may have come or gone. */
  arrived: number;
  /** What can be shown; first, what is shown unless the visitor wants something else. */
  known: typeof states | typeof statesWithin;
}

function Files({ sid, mayWrite, arrived, known }: FilesProps) {
  const { query } = usePlace();
  const [chosen, setChosen] = useState<ReadonlyMap<string, Resource>>(new Map());
  const prefix = query.get("prefix") ?? "";
  const order = prefix ? "name" : oneOf(query, "order", ["name", "newest", "oldest"]);
  const filters = {
    state: oneOf(query, "state", known),
    // A prefix implies the order by name; the service refuses times beside it.
    ...(order === "name" ? { order: prefix ? "" : "name", namePrefix: prefix } : { order: order === "newest" ? "newest" : "", ...timesOf(query) }),
  };
  const choose = (r: Resource, is: boolean) =>
    setChosen((before) => {
      const next = new Map(before);
      if (is) next.set(r.id, r);
      else next.delete(r.id);
      return next;
    });
  const listed = (r: Resource) =>
    (filters.state === "all" || filters.state === r.state) && r.name.startsWith(prefix) && (order === "name" || between(timesOf(query), r.modified));
  return (
    <>
      <Tools>
        <Choice label="Order" name="order" options={[["name", "by name"], ...[...orders].reverse()]} clears={["prefix", "since", "until"]} />
        {order === "name" ? <Prefix /> : <TimeFilters />}
        <StateChoice known={known} />
        <Curl path={`/sets/${sid}/resources${queryOf(filters)}`} />
      </Tools>
      {chosen.size > 0 && (
        <Chosen
          sid={sid}
          chosen={[...chosen.values()]}
          mayWrite={mayWrite}
          listed={listed}
          drop={(r) => choose(r, false)}
          clear={() => setChosen(new Map())}
        />
      )}
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
            mark={
              <input
                type="checkbox"
                aria-label={`Choose ${r.name}`}
                checked={chosen.has(r.id)}
                disabled={!!r.purged}
                onChange={(e) => choose(r, e.currentTarget.checked)}
              />
            }
          />
        )}
        empty={
          <Empty icon="file" title={prefix || filters.state !== known[0] || query.size ? "Nothing matches" : "This set is empty"}>
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

import { useEffect, useRef, useState } from "preact/hooks";
import type { DataSet, Resource, User } from "../api";
import { dataspaces, queryOf, sets } from "../api";
import { Described } from "../describe/section";
import { Remove, Restore } from "../edit/deletion";
import { SetForm } from "../edit/forms";
import { SelectionBar } from "../edit/selection";
import { Link, setQuery, useLocation } from "../router";
import { useMe } from "../session";
import { Badge, Breadcrumbs, breadcrumbsTo, Button, Copy, Empty, ErrorMessage, Skeleton, Time } from "../ui/components";
import { Curl } from "../ui/curl";
import { Dialog } from "../ui/dialog";
import type { States } from "../ui/filters";
import { between, Choice, FilterBar, oneOf, StateChoice, states, statesInDeleted, TimeFilters, timeOrders, timesOf } from "../ui/filters";
import { Icon } from "../ui/icons";
import { hiddenHead, VirtualList } from "../ui/list";
import { useLoad } from "../ui/load";
import { permissionsIn } from "../ui/permissions";
import { useRefreshOnFocus } from "../ui/refresh";
import { resourceColumns } from "../ui/resources";
import { useTitle } from "../ui/title";
import { useUpload } from "../upload/drop";
import { queue, useChanges } from "../upload/queue";
import { UnfinishedUploads } from "../upload/unfinished";
import type { PageProps } from "./props";

/** One set and its files. */
export function SetPage({ params }: PageProps) {
  const sid = params.sid!;
  const me = useMe();
  const { value, problem, reload, refresh, set: replace } = useLoad((signal) => load(sid, me, signal), [sid]);
  useRefreshOnFocus(refresh);
  const changes = useChanges(sid);
  const files = useHasFiles(sid, changes);
  const [editing, setEditing] = useState(false);
  const set = value?.set;
  const active = set?.state === "active";
  const mayWrite = !!value?.may.write && active;
  const upload = useUpload(mayWrite ? { set: set! } : undefined);
  useTitle(set && (set.title || set.name));
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value || !set || files.exist === undefined) return <Skeleton lines={10} />;
  const { dataspace, may } = value;
  const update = (set: DataSet) => replace({ ...value, set });
  return (
    <>
      <Breadcrumbs path={breadcrumbsTo(dataspace)} />
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
          <Link to={`/sets/${sid}/history`} class="button">
            <Icon name="clock" /> History
          </Link>
          {active && files.exist && (
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
          <Restore what="set" record={set} may={may} within={[dataspace]} done={(s) => (update(s), files.refresh())} />
          {upload.buttons}
        </div>
      </div>
      <Described kind="set" record={set} mayEdit={mayWrite} update={update} />
      {mayWrite && <UnfinishedUploads of={set} onSelect={(file, path) => queue.add([{ file, path }], set, undefined, [])} />}
      <Files sid={sid} mayWrite={mayWrite} changes={changes} offered={active ? states : statesInDeleted} />
      {editing && (
        <Dialog title="Edit the set" onClose={() => setEditing(false)}>
          <SetForm was={set} dataspaceId={set.dataspaceId} done={(s) => (update(s), setEditing(false))} cancel={() => setEditing(false)} />
        </Dialog>
      )}
      {upload.dialog}
    </>
  );
}

/** Loads a set, its dataspace and the permissions of the user, all before the page is shown, so that the layout does not shift. */
async function load(sid: string, me: User, signal: AbortSignal) {
  const set = await sets.get(sid);
  const [dataspace, may] = await Promise.all([dataspaces.get(set.dataspaceId), permissionsIn(set.dataspaceId, me, signal)]);
  return { set, dataspace, may };
}

/** Whether a set has active files; true if that cannot be determined. It is loaded again when `changes` changes. */
function useHasFiles(sid: string, changes: number) {
  const { value, problem, refresh } = useLoad((signal) => sets.resources(sid, { limit: 1 }).all(1, signal), [sid]);
  useRefreshOnFocus(refresh);
  useEffect(() => {
    if (changes) refresh();
  }, [changes]);
  return { exist: problem ? true : value && value.items.length > 0, refresh };
}

interface FilesProps {
  sid: string;
  mayWrite: boolean;
  /** Changes when files may have been added or removed. */
  changes: number;
  offered: States;
}

function Files({ sid, mayWrite, changes, offered }: FilesProps) {
  const { query } = useLocation();
  const [selected, setSelected] = useState<ReadonlyMap<string, Resource>>(new Map());
  const prefix = query.get("prefix") ?? "";
  const order = prefix ? "name" : oneOf(query, "order", ["name", "newest", "oldest"]);
  const filters = {
    state: oneOf(query, "state", offered),
    // A prefix implies the order by name, which the service does not combine with times.
    ...(order === "name" ? { order: prefix ? "" : "name", namePrefix: prefix } : { order: order === "newest" ? "newest" : "", ...timesOf(query) }),
  };
  const select = (r: Resource, is: boolean) =>
    setSelected((before) => {
      const next = new Map(before);
      if (is) next.set(r.id, r);
      else next.delete(r.id);
      return next;
    });
  const listed = (r: Resource) =>
    (filters.state === "all" || filters.state === r.state) && r.name.startsWith(prefix) && (order === "name" || between(timesOf(query), r.modified));
  return (
    <>
      <FilterBar>
        <Choice label="Order" name="order" options={[["name", "by name"], ...[...timeOrders].reverse()]} clears={["prefix", "since", "until"]} />
        {order === "name" ? <Prefix /> : <TimeFilters />}
        <StateChoice offered={offered} />
        <Curl path={`/sets/${sid}/resources${queryOf(filters)}`} />
      </FilterBar>
      {selected.size > 0 && (
        <SelectionBar
          sid={sid}
          selected={[...selected.values()]}
          mayWrite={mayWrite}
          listed={listed}
          deselect={(r) => select(r, false)}
          clear={() => setSelected(new Map())}
        />
      )}
      <VirtualList<Resource>
        id={sid + queryOf(filters)}
        version={changes}
        create={() => sets.resources(sid, filters)}
        keyOf={(r) => r.id}
        label="Files"
        noun={["file", "files"]}
        kind="selectable"
        columns={[
          {
            head: hiddenHead("Select"),
            cell: (r) => (
              <input
                type="checkbox"
                aria-label={`Select ${r.name}`}
                checked={selected.has(r.id)}
                disabled={!!r.purged}
                onChange={(e) => select(r, e.currentTarget.checked)}
              />
            ),
          },
          ...resourceColumns,
        ]}
        empty={
          <Empty icon="file" title={prefix || filters.state !== offered[0] || query.size ? "No matches" : "This set is empty"}>
            {mayWrite && <p>Drop files or a whole folder anywhere on this page.</p>}
          </Empty>
        }
      />
    </>
  );
}

/** The pause after the last keystroke until the list is filtered, in ms. */
const debounce = 250;

/** Filters by the beginning of names. The service searches all names of the set. */
function Prefix() {
  const { query } = useLocation();
  const value = query.get("prefix") ?? "";
  const input = useRef<HTMLInputElement>(null);
  const due = useRef(0);
  useEffect(() => {
    if (input.current!.value !== value && !due.current) input.current!.value = value;
  }, [value]);
  useEffect(() => () => clearTimeout(due.current), []);
  const apply = () => {
    clearTimeout(due.current);
    due.current = 0;
    setQuery({ prefix: input.current!.value, order: "" });
  };
  const type = () => {
    clearTimeout(due.current);
    due.current = setTimeout(apply, debounce);
  };
  return (
    <label>
      Name begins with
      <input ref={input} type="search" spellcheck={false} onInput={type} onChange={apply} />
    </label>
  );
}

import { useEffect, useRef, useState } from "preact/hooks";
import type { DataSet, Dataspace, Resource, User } from "../api";
import { dataspaces, queryOf, schemas, sets } from "../api";
import { incompleteIn, loadIncomplete, noneIncomplete } from "../describe/incomplete";
import { Described } from "../describe/section";
import type { DescribeFiles } from "../describe/session";
import { Remove, Restore } from "../edit/deletion";
import { SetForm } from "../edit/forms";
import { useSelected } from "../edit/selected";
import { SelectionBar } from "../edit/selection";
import { searchAddress } from "../find/query";
import { plural } from "../format";
import { ShareButton } from "../links/button";
import { Link, setQuery, useLocation } from "../router";
import { useSession } from "../session";
import { Badge, Breadcrumbs, breadcrumbsTo, Button, Copy, Empty, ErrorMessage, Skeleton, Time } from "../ui/components";
import { Curl } from "../ui/curl";
import { Dialog } from "../ui/dialog";
import type { States } from "../ui/filters";
import { between, Choice, FilterBar, oneOf, StateChoice, states, statesInDeleted, TimeFilters, timeOrders, timesOf } from "../ui/filters";
import { Icon } from "../ui/icons";
import { VirtualList } from "../ui/list";
import { useAction, useLoad } from "../ui/load";
import { permissionsIn } from "../ui/permissions";
import { useRefreshOnFocus } from "../ui/refresh";
import { resourceColumnsOf } from "../ui/resources";
import { useTitle } from "../ui/title";
import { useUpload } from "../upload/drop";
import { queue, useChanges } from "../upload/queue";
import { UnfinishedUploads } from "../upload/unfinished";
import type { PageProps } from "./props";

/** How long the search is given to follow changes, in ms. */
const catchUp = 1000;

/** One set and its files. */
export function SetPage({ params }: PageProps) {
  const sid = params.sid!;
  const { user: me } = useSession(); // undefined: what is open is read without signing in
  const { value, problem, reload, refresh, set: replace } = useLoad((signal) => load(sid, me, signal), [sid]);
  useRefreshOnFocus(refresh);
  useEffect(() => {
    if (!value?.incomplete.behind) return;
    const due = setTimeout(refresh, catchUp);
    return () => clearTimeout(due);
  }, [value]);
  const changes = useChanges(sid);
  const files = useHasFiles(sid, changes);
  const [editing, setEditing] = useState(false);
  const set = value?.set;
  const active = set?.state === "active";
  const mayWrite = !!value?.may.write && active;
  const { query } = useLocation();
  const upload = useUpload(mayWrite ? { set: set! } : undefined);
  useTitle(set && (set.title || set.name));
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value || !set || files.exist === undefined) return <Skeleton lines={10} />;
  const { dataspace, may, incomplete } = value;
  const update = (set: DataSet) => {
    replace({ ...value, set });
    refresh(); // what its form asks for has changed with it
  };
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
            {mayWrite && (
              <>
                {" "}
                · <Link to={`/links?setId=${sid}`}>Links of this set</Link>
              </>
            )}
          </p>
          {set.description && <p class="preserve prose">{set.description}</p>}
          {!active && <p>This set is in the trash. Restoring it brings back the files that were deleted with it.</p>}
        </div>
        <div class="actions">
          {me && (
            <Link to={`/sets/${sid}/history`} class="button">
              <Icon name="clock" /> History
            </Link>
          )}
          {me && active && files.exist && (
            <Link to={`/sets/${sid}/table`} class="button">
              <Icon name="table" /> Metadata table
            </Link>
          )}
          {active && files.exist && (
            <a class="button" href={sets.archive(sid)} download>
              <Icon name="download" /> Download all
            </a>
          )}
          {mayWrite && <ShareButton of={{ set, folder: folderIn(query) }} />}
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
      <Described kind="set" record={set} asked={value.asked} mayEdit={mayWrite} update={update} />
      {incomplete.total > 0 && <IncompleteFiles set={set} dataspace={dataspace} total={incomplete.total} mayWrite={mayWrite} done={refresh} />}
      {mayWrite && <UnfinishedUploads of={set} onSelect={(file, path) => queue.add([{ file, path }], set, undefined, [])} />}
      <Files set={set} mayWrite={mayWrite} changes={changes} incomplete={incomplete.ids} offered={active ? states : statesInDeleted} />
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
async function load(sid: string, me: User | undefined, signal: AbortSignal) {
  const set = await sets.get(sid);
  const dataspace = dataspaces.get(set.dataspaceId);
  const [may, asked, incomplete] = await Promise.all([
    permissionsIn(set.dataspaceId, me, signal),
    set.state === "active" ? schemas.of("sets", sid) : undefined,
    dataspace.then((d) => (me ? loadIncomplete(d, set, signal) : noneIncomplete)),
  ]);
  return { set, dataspace: await dataspace, may, asked, incomplete };
}

/** The folder that the list is narrowed down to, if it is one. */
const folderIn = (query: URLSearchParams) => /^(.*)\/[^/]*$/.exec(query.get("prefix") ?? "")?.[1] ?? "";

interface IncompleteProps {
  set: DataSet;
  dataspace: Dataspace;
  total: number;
  mayWrite: boolean;
  done: () => void;
}

/** How many files lack what their form asks for, and a way to fill it in, one after the other. */
function IncompleteFiles({ set, dataspace, total, mayWrite, done }: IncompleteProps) {
  const [Session, setSession] = useState<{ of: typeof DescribeFiles } | undefined>();
  const { run, busy, problem } = useAction(() => import("../describe/session").then((m) => setSession({ of: m.DescribeFiles })));
  return (
    <div class="note incomplete">
      <div>
        <p>
          {plural(total, "file lacks", "files lack")} something that {total === 1 ? "its" : "their"} form asks for. <Link to={searchAddress(incompleteIn(dataspace, set), "name")}>{total === 1 ? "Show it" : "List them"}</Link>
        </p>
        {problem && <ErrorMessage problem={problem} retry={run} />}
      </div>
      {mayWrite && (
        <Button icon="edit" busy={busy} onClick={run}>
          Describe {total === 1 ? "it" : "them one by one"}
        </Button>
      )}
      {Session && <Session.of set={set} dataspace={dataspace} close={(_, changed) => (setSession(undefined), changed && done())} />}
    </div>
  );
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
  set: DataSet;
  mayWrite: boolean;
  /** Changes when files may have been added or removed. */
  changes: number;
  /** The ids of files that lack something. */
  incomplete: ReadonlySet<string>;
  offered: States;
}

function Files({ set, mayWrite, changes, incomplete, offered }: FilesProps) {
  const sid = set.id;
  const { query } = useLocation();
  const prefix = query.get("prefix") ?? "";
  const order = prefix ? "name" : oneOf(query, "order", ["name", "newest", "oldest"]);
  const filters = {
    state: oneOf(query, "state", offered),
    // A prefix implies the order by name, which the service does not combine with times.
    ...(order === "name" ? { order: prefix ? "" : "name", namePrefix: prefix } : { order: order === "newest" ? "newest" : "", ...timesOf(query) }),
  };
  const list = () => sets.resources(sid, filters);
  const selected = useSelected(() => sets.resources(sid, { ...filters, limit: 1000 }));
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
      {selected.fetching.problem && <ErrorMessage problem={selected.fetching.problem} retry={selected.fetching.run} />}
      {selected.files.size > 0 && (
        <SelectionBar
          set={set}
          selected={[...selected.files.values()]}
          bounded={selected.bounded}
          mayWrite={mayWrite}
          listed={listed}
          deselect={(r) => selected.toggle(r, false)}
          clear={selected.clear}
        />
      )}
      <VirtualList<Resource>
        id={sid + queryOf(filters)}
        version={changes}
        create={list}
        keyOf={(r) => r.id}
        label="Files"
        noun={["file", "files"]}
        kind="selectable"
        columns={[
          {
            head: (
              <input
                type="checkbox"
                aria-label="Select all files of the list"
                title="Select all files of the list; with Shift a click selects a range"
                checked={selected.whole}
                disabled={selected.fetching.busy}
                onChange={(e) => (e.currentTarget.checked ? selected.all() : selected.clear())}
              />
            ),
            cell: (r) => (
              <input
                type="checkbox"
                aria-label={`Select ${r.name}`}
                checked={selected.files.has(r.id)}
                disabled={!!r.purged}
                onClick={(e) => selected.toggle(r, e.currentTarget.checked, e.shiftKey)}
              />
            ),
          },
          ...resourceColumnsOf(incomplete),
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

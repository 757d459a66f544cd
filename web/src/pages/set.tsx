import { useEffect, useState } from "preact/hooks";
import type { DataSet, Dataspace, User } from "../api";
import { dataspaces, schemas, sets } from "../api";
import { incompleteIn, loadIncomplete, noneIncomplete } from "../describe/incomplete";
import { Described } from "../describe/section";
import type { DescribeFiles } from "../describe/session";
import { Remove, Restore } from "../edit/deletion";
import { SetForm } from "../edit/forms";
import { Files } from "../files/list";
import { searchAddress } from "../find/query";
import { plural } from "../format";
import { useKey } from "../keyboard/keys";
import { ShareMenu } from "../links/button";
import { Link, useLocation } from "../router";
import { useSession } from "../session";
import { Badge, Breadcrumbs, breadcrumbsTo, Button, ErrorMessage, Skeleton, Time } from "../ui/components";
import { Dialog } from "../ui/dialog";
import { Fold, isNarrow } from "../ui/fold";
import { states, statesInDeleted } from "../ui/filters";
import { Icon } from "../ui/icons";
import { useAction, useLoad } from "../ui/load";
import { More } from "../ui/menu";
import { permissionsIn } from "../ui/permissions";
import { useRefreshOnFocus } from "../ui/refresh";
import { useTitle } from "../ui/title";
import { useUpload } from "../upload/drop";
import { queue, useChanges } from "../upload/queue";
import { UnfinishedUploads } from "../upload/unfinished";
import type { PageProps } from "./props";

/** The delay after which the search index has followed changes, in ms. */
const catchUp = 1000;

/** One set and its files. */
export function SetPage({ params }: PageProps) {
  const sid = params.sid!;
  const { user: me } = useSession(); // undefined: open data can be read without signing in
  const { value, problem, reload, refresh, set: replace } = useLoad((signal) => load(sid, me, signal), [sid]);
  useRefreshOnFocus(refresh);
  useEffect(() => {
    if (!value?.incomplete.behind) return;
    const due = setTimeout(refresh, catchUp);
    return () => clearTimeout(due);
  }, [value]);
  const changes = useChanges(sid);
  const files = useHasFiles(sid, changes);
  const [open, setOpen] = useState<"edit" | "delete" | undefined>();
  const close = () => setOpen(undefined);
  const set = value?.set;
  const active = set?.state === "active";
  const mayWrite = !!value?.may.write && active;
  const { query } = useLocation();
  const upload = useUpload(mayWrite ? { set: set! } : undefined, query.get("folder") ?? "");
  useTitle(set && (set.title || set.name));
  useKey("e", "edit the set", mayWrite ? () => setOpen("edit") : undefined);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value || !set || files.exist === undefined) return <Skeleton lines={10} />;
  const { dataspace, may, incomplete } = value;
  const mayDownload = active && files.exist;
  const update = (set: DataSet) => {
    replace({ ...value, set });
    refresh(); // its required fields have changed with it
  };
  return (
    <>
      <Breadcrumbs path={breadcrumbsTo(dataspace)} />
      <div class="title">
        <div>
          <h1>
            {set.title || set.name} {!active && <Badge tone="bad">deleted</Badge>}
          </h1>
          <p class="print-only">{set.url}</p>
          {!active && <p>This set is in the trash. Restoring it brings back the files that were deleted with it.</p>}
        </div>
        <div class="actions">
          <Restore what="set" record={set} may={may} within={[dataspace]} done={(s) => (update(s), files.refresh())} />
          {upload.inputs}
          {mayWrite && (
            <Button icon="upload" kind="primary" onClick={upload.chooseFiles}>
              Upload files
            </Button>
          )}
          {!mayWrite && mayDownload && (
            <a class="button primary" href={sets.archive(sid)} download>
              <Icon name="download" /> Download all
            </a>
          )}
          {active && <ShareMenu dataspace={dataspace} may={may} of={{ set, folder: folderIn(query) }} />}
          <More
            items={[
              mayWrite && { label: "Upload a folder", icon: "folder", run: upload.chooseFolder },
              mayWrite && { label: "Edit", icon: "edit", run: () => setOpen("edit") },
              mayWrite && mayDownload && { label: "Download all", icon: "download", download: sets.archive(sid) },
              me && mayDownload && { label: "Metadata table", icon: "table", to: `/sets/${sid}/table` },
              me && { label: "History", icon: "clock", to: `/sets/${sid}/history` },
              mayWrite && { label: "Delete", icon: "trash", run: () => setOpen("delete") },
            ]}
          />
        </div>
      </div>
      <Fold name="about" class="about" title="About this set" hint={set.description} open={!isNarrow()}>
        <div>
          {set.description && <p class="preserve prose">{set.description}</p>}
          <p class="dim">
            <code>{set.name}</code> · changed <Time at={set.modified} />
          </p>
        </div>
        <Described kind="set" record={set} asked={value.asked} mayEdit={mayWrite} update={update} />
      </Fold>
      {incomplete.total > 0 && <IncompleteFiles set={set} dataspace={dataspace} total={incomplete.total} mayWrite={mayWrite} done={refresh} />}
      {mayWrite && <UnfinishedUploads of={set} onSelect={(file, path) => queue.add([{ file, path }], set, undefined, [])} />}
      <Files set={set} mayWrite={mayWrite} changes={changes} incomplete={incomplete.ids} offered={active ? states : statesInDeleted} />
      {open === "edit" && (
        <Dialog title="Edit the set" onClose={close}>
          <SetForm was={set} dataspaceId={set.dataspaceId} done={(s) => (update(s), close())} cancel={close} />
        </Dialog>
      )}
      {open === "delete" && <Remove what="set" record={set} done={reload} close={close} />}
      {upload.dialog}
    </>
  );
}

/** Loads a set, its dataspace and the user's permissions, all before the page is shown, to avoid
    layout shifts. */
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

/** The folder filter of the list, if it is a folder. */
const folderIn = (query: URLSearchParams) => /^(.*)\/[^/]*$/.exec(query.get("prefix") ?? query.get("folder") ?? "")?.[1] ?? "";

interface IncompleteProps {
  set: DataSet;
  dataspace: Dataspace;
  total: number;
  mayWrite: boolean;
  done: () => void;
}

/** The number of incomplete files, and a button that fills them in one after another. */
function IncompleteFiles({ set, dataspace, total, mayWrite, done }: IncompleteProps) {
  const [Session, setSession] = useState<{ of: typeof DescribeFiles } | undefined>();
  const { run, busy, problem } = useAction(() => import("../describe/session").then((m) => setSession({ of: m.DescribeFiles })));
  return (
    <div class="note incomplete">
      <div>
        <p>
          {plural(total, "file lacks", "files lack")} something that {total === 1 ? "its" : "their"} form requires. <Link to={searchAddress(incompleteIn(dataspace, set), "name")}>{total === 1 ? "Show it" : "List them"}</Link>
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

import { useEffect, useRef, useState } from "preact/hooks";
import type { Asked, Resource, User } from "../api";
import { dataAddress, dataspaces, resources, schemas, sets } from "../api";
import { Described } from "../describe/section";
import type { DescribeFiles } from "../describe/session";
import { Remove, Restore } from "../edit/deletion";
import { ResourceForm } from "../edit/forms";
import { MovedTo, PlaceDialog } from "../edit/placement";
import { downloadName } from "../filename";
import { folderAddress } from "../files/columns";
import { size } from "../format";
import { useKey } from "../keyboard/keys";
import { ShareMenu } from "../links/button";
import { Preview } from "../preview/preview";
import { navigate, useLeaveGuard } from "../router";
import { useSession } from "../session";
import { Badge, Breadcrumbs, breadcrumbsTo, ErrorMessage, Facts, Size, Skeleton, Time } from "../ui/components";
import { Confirm, Dialog } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { useAction, useLoad } from "../ui/load";
import { More } from "../ui/menu";
import { permissionsIn } from "../ui/permissions";
import { factsOf, ForPrograms } from "../ui/programs";
import { useRefreshOnFocus } from "../ui/refresh";
import { useTitle } from "../ui/title";
import { UserName } from "../ui/users";
import { Replaced, replaceFile, versionOf } from "../upload/replace";
import { sha256 } from "../upload/sha256";
import { UnfinishedUploads } from "../upload/unfinished";
import { Versions } from "../versions/list";
import type { PageProps } from "./props";

/** One resource: its preview and its record. viewDataUrl leads here if no catalogue is configured. */
export function ResourcePage({ params }: PageProps) {
  const rid = params.rid!;
  const { user: me } = useSession(); // undefined: open data can be read without signing in
  const { value, problem, reload, refresh, set } = useLoad((signal) => loadResource(rid, me, signal), [rid]);
  useRefreshOnFocus(refresh);
  const resource = value?.resource;
  const [open, setOpen] = useState<"edit" | "place" | "delete" | undefined>();
  const close = () => setOpen(undefined);
  const newFile = useRef<HTMLInputElement>(null);
  const selectNew = () => {
    setSelected(newFile.current!.files![0]);
    newFile.current!.value = ""; // allows selecting the same file again
  };
  const [selected, setSelected] = useState<File | undefined>();
  const [Session, setSession] = useState<{ of: typeof DescribeFiles } | undefined>();
  const describing = useAction(() => import("../describe/session").then((m) => setSession({ of: m.DescribeFiles })));
  useTitle(resource?.name);
  useKey("e", "edit the details of the file", value?.may.write && resource?.state === "active" ? () => setOpen("edit") : undefined);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value || !resource) return <Skeleton lines={12} />;
  const { dataspace, may } = value;
  const active = resource.state === "active";
  const mayWrite = may.write && active;
  const update = (resource: Resource) => {
    set({ ...value, resource });
    refresh(); // another type can have another form
  };
  const follow = (was: Resource, is: Resource) => {
    if (was.id === is.id) update(is);
    // an undo can come from any page
    else if (location.pathname.endsWith(`/resources/${was.id}`)) navigate(`/resources/${is.id}`);
  };
  const described = (
    <Described kind="resource" record={resource} asked={value.asked} mayEdit={mayWrite} update={update} open={value.asked.form && describing.run} />
  );
  return (
    <>
      <Breadcrumbs path={[...breadcrumbsTo(dataspace), { to: `/sets/${value.set.id}`, label: value.set.title || value.set.name }, ...foldersOf(resource)]} />
      <div class="title">
        <div>
          <h1>
            {resource.name.slice(resource.name.lastIndexOf("/") + 1) || resource.name} {!active && <Badge tone="bad">{resource.purged ? "purged" : resource.movedTo ? "moved" : "deleted"}</Badge>}{" "}
            {resource.damaged && <Badge tone="bad">damaged</Badge>}
          </h1>
          <p class="print-only">{resource.url}</p>
          {resource.description && <p class="preserve prose">{resource.description}</p>}
        </div>
        <div class="actions">
          <Restore what="resource" record={resource} may={may} within={[dataspace, value.set]} done={update} />
          {active && (
            <a class="button primary" href={dataAddress(resource)} download={downloadName(resource)}>
              <Icon name="download" /> Download <Size bytes={resource.bytes} />
            </a>
          )}
          {active && <ShareMenu dataspace={dataspace} may={may} of={{ set: value.set, files: [resource] }} />}
          <More
            items={[
              mayWrite && { label: "Edit", icon: "edit", run: () => setOpen("edit") },
              active && !!me && { label: "Move or copy …", icon: "folder", run: () => setOpen("place") },
              mayWrite && { label: "Replace", icon: "upload", run: () => newFile.current!.click() },
              !!me && { label: "History", icon: "clock", to: `/resources/${rid}/history` },
              mayWrite && { label: "Delete", icon: "trash", run: () => setOpen("delete") },
            ]}
          />
        </div>
      </div>
      <input ref={newFile} type="file" hidden aria-label="New file" onChange={selectNew} />
      {mayWrite && <UnfinishedUploads of={resource} onSelect={setSelected} />}
      {selected && <ReplaceBy file={selected} resource={resource} done={update} close={() => setSelected(undefined)} />}
      <div class="with-sidebar">
        <section class="sheet preview" aria-label="Preview">
          {active ? <Preview key={`${resource.sha256} ${resource.damaged ?? false}`} file={resource} /> : <Deleted resource={resource} />}
        </section>
        <div>
          {describing.problem && <ErrorMessage problem={describing.problem} retry={describing.run} />}
          {(resource.metadata || value.asked.form) && described}
          <section class="sheet" aria-label="About this file">
            <About resource={resource} />
          </section>
          {!resource.metadata && !value.asked.form && described}
        </div>
      </div>
      {active && resource.version > 1 && <Versions resource={resource} mayWrite={mayWrite} done={update} refresh={refresh} />}
      {Session && (
        <Session.of
          set={value.set}
          dataspace={dataspace}
          first={{ resource, asked: value.asked }}
          close={(last, changed) => {
            setSession(undefined);
            if (last && last.id !== rid) navigate(`/resources/${last.id}`);
            else if (changed) refresh();
          }}
        />
      )}
      {open === "edit" && (
        <Dialog title="Edit details" onClose={close}>
          <ResourceForm was={resource} done={(r) => (update(r), close())} cancel={close} />
        </Dialog>
      )}
      {open === "place" && <PlaceDialog of={[resource]} moved={follow} close={close} />}
      {open === "delete" && <Remove what="resource" record={resource} done={reload} close={close} />}
    </>
  );
}

/** The folders in the name of a file; "/" without one, as in lists. */
const foldersOf = ({ setId, name }: Resource) =>
  name.split("/").slice(0, -1).map((label, i, all) => ({ to: folderAddress(setId, `${all.slice(0, i + 1).join("/")}/`), label: label || "/" }));

const nothingAsked: Asked = { incomplete: false, problems: [] };

/** Loads a resource, its containers, and the user's permissions, all before the page is shown, to
    avoid layout shifts. */
export async function loadResource(rid: string, me: User | undefined, signal: AbortSignal) {
  const resource = await resources.get(rid);
  const { dataspaceId, setId } = resource;
  const [dataspace, set, may, asked] = await Promise.all([
    dataspaces.get(dataspaceId),
    sets.get(setId),
    permissionsIn(dataspaceId, me, signal),
    resource.state === "active" ? schemas.of("resources", rid) : nothingAsked,
  ]);
  return { resource, dataspace, set, may, asked };
}

function Deleted({ resource }: { resource: Resource }) {
  return (
    <p class="dim">
      {resource.movedTo ? (
        <MovedTo id={resource.movedTo} />
      ) : resource.purged
        ? "This file was deleted and its content was permanently removed. The record stays for programs that follow changes."
        : "This file is in the trash. Restore it to see its content."}
    </p>
  );
}

function About({ resource: r }: { resource: Resource }) {
  return (
    <>
      <Facts
        facts={[
          ["Format", r.format || "unknown"],
          ["Type", <code key="t">{r.mimetype}</code>],
          ["Size", <Size key="s" bytes={r.bytes} />],
          ["File name", r.filename],
          ["Version", r.version > 1 && r.state === "active" ? <a key="v" href="#versions">{r.version} · all versions</a> : r.version],
          [
            "Changed",
            <span key="m">
              <Time at={r.modified} /> by <UserName id={r.modifiedBy} />
            </span>,
          ],
          [
            "Created",
            <span key="c">
              <Time at={r.created} /> by <UserName id={r.createdBy} />
            </span>,
          ],
        ]}
      />
      <ForPrograms
        facts={[...factsOf(r, "record"), ["File", r.dataUrl, "the address of the file"], ["SHA-256", r.sha256, "the digest"]]}
        path={`/resources/${r.id}/data`}
        output={downloadName(r)}
      />
    </>
  );
}

interface ReplaceByProps {
  file: File;
  resource: Resource;
  done: (r: Resource) => void;
  close: () => void;
}

/** Nothing is sent before the user confirms the replacement of the shown version. */
function ReplaceBy({ file, resource, done, close }: ReplaceByProps) {
  const [shown, setShown] = useState(resource);
  const [sent, setSent] = useState<number | undefined>();
  const [control] = useState(() => new AbortController());
  const { signal } = control;
  useLeaveGuard(sent !== undefined);
  useEffect(() => () => control.abort(), [control]); // cancelled, or unmounted
  const send = async () => {
    try {
      return await replaceFile(shown.id, new Set([versionOf(shown)]), file, { onProgress: setSent, signal });
    } catch (thrown) {
      if (!(thrown instanceof Replaced) || thrown.now.state !== "active") throw thrown;
      setShown(thrown.now);
      // An earlier request without a response can have succeeded.
      if (!thrown.now.damaged && thrown.now.bytes === file.size && thrown.now.sha256 === (await sha256(file, signal))) return thrown.now;
      throw thrown;
    }
  };
  const submit = async () => {
    setSent(0);
    try {
      done(await send());
      close();
    } catch (thrown) {
      if (signal.aborted) return;
      setSent(undefined);
      throw thrown;
    }
  };
  return (
    <Confirm title="Replace this file?" action="Replace" submit={submit} close={close}>
      <Facts
        facts={[
          [
            "Current",
            <>
              <strong>{shown.filename}</strong> <Size bytes={shown.bytes} />
              <span class="dim">
                <Time at={shown.modified} /> by <UserName id={shown.modifiedBy} />
              </span>
            </>,
          ],
          [
            "New",
            <>
              <strong>{file.name}</strong> <Size bytes={file.size} />
            </>,
          ],
        ]}
      />
      <p>The current content stays as version {shown.version}: it can be restored as long as the dataspace keeps old versions. Name, description, id and address stay.</p>
      {sent !== undefined && (
        <>
          <progress max={file.size || 1} value={sent} aria-label="Sent" />
          <p role="status" class="dim">
            {size(sent)} of {size(file.size)} sent
          </p>
        </>
      )}
    </Confirm>
  );
}

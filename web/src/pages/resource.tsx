import { useEffect, useRef, useState } from "preact/hooks";
import type { Resource, User } from "../api";
import { dataspaces, resources, sets } from "../api";
import type { PageProps } from "../app";
import { ResourceForm } from "../edit/forms";
import { Remove, Restore } from "../edit/remove";
import { savedAs } from "../filename";
import { size } from "../human";
import { Preview } from "../preview/preview";
import { Replaced, replaceFile, versionOf } from "../put/replace";
import { sha256 } from "../put/sha256";
import { UnfinishedUploads } from "../put/unfinished";
import { useLeaveGuard } from "../router";
import { useMe } from "../session";
import { useLook } from "../ui/again";
import { Ask, Badge, Button, Copy, Crumbs, Dialog, Facts, Failed, Size, Time, Waiting } from "../ui/basics";
import { Curl } from "../ui/curl";
import { Icon } from "../ui/icons";
import { useLoad } from "../ui/load";
import { Who } from "../ui/people";
import { mayIn } from "../ui/role";
import { way } from "./set";

/** One resource: what it looks like, and all that is known about it. viewDataUrl leads here where no catalogue is configured. */
export function ResourcePage({ params }: PageProps) {
  const rid = params.rid!;
  const me = useMe();
  const { value, problem, reload, look, set } = useLoad((signal) => open(rid, me, signal), [rid]);
  useLook(look);
  const resource = value?.resource;
  const [editing, setEditing] = useState(false);
  const [again, setAgain] = useState<File | undefined>();
  useEffect(() => {
    if (resource) document.title = `${resource.name} · labshelf`;
  }, [resource]);
  if (problem) return <Failed problem={problem} retry={reload} />;
  if (!value || !resource) return <Waiting lines={12} />;
  const { dataspace, may } = value;
  const active = resource.state === "active";
  const mayWrite = may.write && active;
  const take = (resource: Resource) => set({ ...value, resource });
  return (
    <>
      <Crumbs way={[...way(dataspace), { to: `/sets/${value.set.id}`, label: value.set.title || value.set.name }]} />
      <div class="title">
        <div>
          <h1>
            {resource.name} {!active && <Badge tone="bad">{resource.purged ? "purged" : "deleted"}</Badge>}{" "}
            {resource.damaged && <Badge tone="bad">damaged</Badge>}
          </h1>
          {resource.description && <p class="preserve prose">{resource.description}</p>}
        </div>
        <div class="actions">
          {mayWrite && (
            <Button icon="edit" onClick={() => setEditing(true)}>
              Edit
            </Button>
          )}
          {mayWrite && <Replace resource={resource} done={take} />}
          {mayWrite && <Remove what="resource" record={resource} done={reload} />}
          <Restore what="resource" record={resource} may={may} within={[dataspace, value.set]} done={take} />
          {active && (
            <a class="button primary" href={resources.data(rid)} download={savedAs(resource)}>
              <Icon name="download" /> Download <Size bytes={resource.bytes} />
            </a>
          )}
        </div>
      </div>
      {mayWrite && <UnfinishedUploads of={resource} choose={setAgain} />}
      {again && <ReplaceBy file={again} resource={resource} done={take} close={() => setAgain(undefined)} />}
      <div class="beside">
        <section class="sheet preview" aria-label="Preview">
          {active ? <Preview key={`${resource.sha256} ${resource.damaged ?? false}`} resource={resource} /> : <Gone resource={resource} />}
        </section>
        <section class="sheet" aria-label="About this file">
          <About resource={resource} />
        </section>
      </div>
      {editing && (
        <Dialog title="Edit details" onClose={() => setEditing(false)}>
          <ResourceForm was={resource} done={(r) => (take(r), setEditing(false))} cancel={() => setEditing(false)} />
        </Dialog>
      )}
    </>
  );
}

/** A resource, where it is, and what the visitor may do there: together, so that nothing moves when the rest of it comes. */
async function open(rid: string, me: User, signal: AbortSignal) {
  const resource = await resources.get(rid);
  const { dataspaceId, setId } = resource;
  const [dataspace, set, may] = await Promise.all([dataspaces.get(dataspaceId), sets.get(setId), mayIn(dataspaceId, me, signal)]);
  return { resource, dataspace, set, may };
}

function Gone({ resource }: { resource: Resource }) {
  return (
    <p class="dim">
      {resource.purged
        ? "This file was deleted, and its bytes have been removed for good. The record stays, so that harvesters learn of it."
        : "This file is in the trash. It can be looked at again when it is restored."}
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
          [
            "Changed",
            <span key="m">
              <Time at={r.modified} /> by <Who id={r.modifiedBy} />
            </span>,
          ],
          [
            "Created",
            <span key="c">
              <Time at={r.created} /> by <Who id={r.createdBy} />
            </span>,
          ],
          [
            "SHA-256",
            <>
              <code class="clip" title={r.sha256}>
                {r.sha256}
              </code>
              <Copy text={r.sha256} what="the digest" />
            </>,
          ],
          [
            "Id",
            <>
              <code>{r.id}</code>
              <Copy text={r.id} what="the id" />
            </>,
          ],
        ]}
      />
      <div class="links">
        <Copy text={r.url} what="the address of the record">
          Record
        </Copy>
        <Copy text={r.dataUrl} what="the address of the file">
          File
        </Copy>
        <Curl path={`/resources/${r.id}/data`} output={savedAs(r)} />
      </div>
    </>
  );
}

/** Puts another file in its place; id and address stay. */
function Replace({ resource, done }: { resource: Resource; done: (r: Resource) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [file, setFile] = useState<File | undefined>();
  const pick = () => {
    setFile(input.current!.files![0]);
    input.current!.value = ""; // so that the same file can be picked again
  };
  return (
    <>
      <input ref={input} type="file" hidden aria-label="File to replace it with" onChange={pick} />
      <Button icon="upload" onClick={() => input.current!.click()}>
        Replace
      </Button>
      {file && <ReplaceBy file={file} resource={resource} done={done} close={() => setFile(undefined)} />}
    </>
  );
}

interface ReplaceByProps {
  file: File;
  resource: Resource;
  done: (r: Resource) => void;
  close: () => void;
}

/** Unlike what is deleted, what is replaced does not come back. So nothing is sent before it is agreed to, for the version that is shown. */
function ReplaceBy({ file, resource, done, close }: ReplaceByProps) {
  const [shown, setShown] = useState(resource);
  const [sent, setSent] = useState<number | undefined>();
  const [control] = useState(() => new AbortController());
  const { signal } = control;
  useLeaveGuard(sent !== undefined);
  useEffect(() => () => control.abort(), [control]); // cancelled, or the page was left
  const send = async () => {
    try {
      return await replaceFile(shown.id, new Set([versionOf(shown)]), file, { progress: setSent, signal });
    } catch (thrown) {
      if (!(thrown instanceof Replaced) || thrown.now.state !== "active") throw thrown;
      setShown(thrown.now);
      // It may be what was sent before, and the answer did not come.
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
    <Ask title="Replace this file?" action="Replace" submit={submit} close={close}>
      <Facts
        facts={[
          [
            "Now",
            <>
              <strong>{shown.filename}</strong> <Size bytes={shown.bytes} />
              <span class="dim">
                <Time at={shown.modified} /> by <Who id={shown.modifiedBy} />
              </span>
            </>,
          ],
          [
            "Afterwards",
            <>
              <strong>{file.name}</strong> <Size bytes={file.size} />
            </>,
          ],
        ]}
      />
      <p>What is in the file now is gone for good then: it does not go to the trash. Name, description, id and address stay.</p>
      {sent !== undefined && (
        <>
          <progress max={file.size || 1} value={sent} aria-label="Sent" />
          <p role="status" class="dim">
            {size(sent)} of {size(file.size)} sent
          </p>
        </>
      )}
    </Ask>
  );
}

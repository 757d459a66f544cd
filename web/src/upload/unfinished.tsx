// Unfinished uploads of this browser, such as after a reload. The user has to select the file again: pages cannot reopen files.
import { useRef, useState } from "preact/hooks";
import type { DataSet, Resource, ResumableUpload } from "../api";
import { uploads } from "../api";
import { plural, size } from "../format";
import { Link } from "../router";
import { Button, ErrorMessage, Time } from "../ui/components";
import { useAction, useLoad } from "../ui/load";
import { useRefreshOnFocus } from "../ui/refresh";
import type { Item } from "./queue";
import { isFinished, queue, useQueue } from "./queue";
import type { StoredUpload } from "./stored";
import { storedUploads } from "./stored";

interface Unfinished extends StoredUpload, ResumableUpload {}

/** The uploads to a set or a resource that the user can resume. */
async function load(of: DataSet | Resource, signal: AbortSignal): Promise<Unfinished[]> {
  const sending = queue.items.filter((item) => !isFinished(item));
  const stored = storedUploads().filter(({ fields }) => [fields.setId, fields.resourceId, fields.within].includes(of.id));
  const idle = stored.filter((s) => !sending.some((item) => isOf(item, s)));
  const requests = idle.map(async (s) => ({ ...s, ...(await uploads.get(s.path, signal)) }));
  const answers = await Promise.allSettled(requests); // expired uploads, those of other users and those under way elsewhere are refused
  return answers.flatMap((a) => (a.status === "fulfilled" && !a.value.resourceUrl ? [a.value] : []));
}

const nameOf = ({ fields }: StoredUpload) => fields.name ?? fields.filename;

/** Whether an item of the queue is the file of a stored upload. */
const isOf = ({ selected: { path, file } }: Item, stored: StoredUpload) => path === nameOf(stored) && file.size === stored.size;

/** @param onSelect receives the file of an unfinished upload, selected again */
export function UnfinishedUploads({ of, onSelect }: { of: DataSet | Resource; onSelect: (file: File, path: string) => void }) {
  const { items } = useQueue();
  const busy = items.some((item) => !isFinished(item));
  const { value, reload, refresh } = useLoad((signal) => load(of, signal), [of.id, of.etag, busy]);
  useRefreshOnFocus(refresh);
  const shown = value?.filter((u) => !items.some((item) => isOf(item, u))) ?? []; // the upload panel can retry the others
  if (!shown.length) return null;
  return (
    <section class="note unfinished" aria-label="Unfinished uploads">
      <div>
        <p>
          <strong>{plural(shown.length, "upload is", "uploads are")} not finished.</strong> Select the same file again to resume.
        </p>
        <ul>
          {shown.map((u) => (
            <Line key={u.key} of={of} upload={u} onSelect={onSelect} discarded={reload} />
          ))}
        </ul>
      </div>
    </section>
  );
}

interface LineProps {
  of: DataSet | Resource;
  upload: Unfinished;
  onSelect: (file: File, path: string) => void;
  discarded: () => void;
}

function Line({ of, upload, onSelect, discarded }: LineProps) {
  const input = useRef<HTMLInputElement>(null);
  const [other, setOther] = useState("");
  const name = nameOf(upload);
  const { resourceId, filename } = upload.fields;
  const select = () => {
    const file = input.current!.files![0]!;
    input.current!.value = ""; // allows selecting the same file again
    const same = file.size === upload.size && file.lastModified === upload.lastModified;
    setOther(same ? "" : file.name);
    // A renamed file is sent under its earlier name.
    if (same) onSelect(file.name === filename ? file : new File([file], filename, { type: file.type, lastModified: file.lastModified }), name);
  };
  const { run: discard, problem } = useAction(() =>
    uploads
      .remove(upload.path)
      .then(() => localStorage.removeItem(upload.key))
      .finally(discarded),
  );
  return (
    <li>
      <span class="name" title={name}>
        {name}
      </span>
      <span class="num">
        {Math.floor((upload.offset / (upload.length || 1)) * 100)} % of {size(upload.length)}
      </span>
      <span class="dim">
        file changed <Time at={new Date(upload.lastModified).toISOString()} />
      </span>
      {resourceId && resourceId !== of.id ? (
        <Link to={`/resources/${resourceId}`} class="button tight">
          Open the file to replace
        </Link>
      ) : (
        <>
          <input ref={input} type="file" hidden aria-label={`Select ${name} again`} onChange={select} />
          <Button class="tight" onClick={() => input.current!.click()}>
            Select the file again
          </Button>
        </>
      )}
      <Button class="tight" onClick={discard}>
        Discard <span class="visually-hidden">{name}</span>
      </Button>
      {other && <p class="error">{other} is not the same file: its size or its modification time differs.</p>}
      {problem && <ErrorMessage problem={problem} />}
    </li>
  );
}

// Uploads that were begun in this browser and have not come to their end, such as after a reload: no page can open the file again by itself.
import { useRef, useState } from "preact/hooks";
import type { DataSet, Problem, Resource, ResumableUpload } from "../api";
import { uploads } from "../api";
import { plural, size } from "../human";
import { Link } from "../router";
import { useLook } from "../ui/again";
import { Button, Failed, Time } from "../ui/basics";
import { asProblem, useLoad } from "../ui/load";
import type { Begun } from "./parts";
import { begunUploads } from "./parts";
import type { Item } from "./queue";
import { over, queue, useQueue } from "./queue";

interface Unfinished extends Begun, ResumableUpload {}

/** Those of a set or of a resource that the service knows as the visitor's, and takes more of. */
async function find(of: DataSet | Resource, signal: AbortSignal): Promise<Unfinished[]> {
  const sending = queue.items.filter((item) => !over(item));
  const here = begunUploads().filter(({ fields }) => [fields.setId, fields.resourceId, fields.within].includes(of.id));
  const mine = here.filter((begun) => !sending.some((item) => isOf(item, begun)));
  const found = mine.map(async (begun) => ({ ...begun, ...(await uploads.get(begun.path, signal)) }));
  const known = await Promise.allSettled(found); // what is gone, another user's, or being sent elsewhere is refused
  return known.flatMap((k) => (k.status === "fulfilled" && !k.value.resourceUrl ? [k.value] : []));
}

const nameOf = ({ fields }: Begun) => fields.name ?? fields.filename;

/** Whether a file of the queue is one that was begun. */
const isOf = ({ picked: { path, file } }: Item, begun: Begun) => path === nameOf(begun) && file.size === begun.size;

/** @param choose gets a file that was chosen again */
export function UnfinishedUploads({ of, choose }: { of: DataSet | Resource; choose: (file: File, path: string) => void }) {
  const { items } = useQueue();
  const busy = items.some((item) => !over(item));
  const { value, reload, look } = useLoad((signal) => find(of, signal), [of.id, of.etag, busy]);
  useLook(look);
  const shown = value?.filter((u) => !items.some((item) => isOf(item, u))) ?? []; // the report has another try for them
  if (!shown.length) return null;
  return (
    <section class="note unfinished" aria-label="Unfinished uploads">
      <div>
        <p>
          <strong>{plural(shown.length, "upload is", "uploads are")} not finished.</strong> Choose the same file again, and it goes on where it stopped.
        </p>
        <ul>
          {shown.map((u) => (
            <Line key={u.key} of={of} upload={u} choose={choose} gone={reload} />
          ))}
        </ul>
      </div>
    </section>
  );
}

interface LineProps {
  of: DataSet | Resource;
  upload: Unfinished;
  choose: (file: File, path: string) => void;
  gone: () => void;
}

function Line({ of, upload, choose, gone }: LineProps) {
  const input = useRef<HTMLInputElement>(null);
  const [other, setOther] = useState("");
  const [problem, setProblem] = useState<Problem | undefined>();
  const name = nameOf(upload);
  const { resourceId, filename } = upload.fields;
  const take = () => {
    const file = input.current!.files![0]!;
    input.current!.value = ""; // so that the same file can be picked again
    const same = file.size === upload.size && file.lastModified === upload.lastModified;
    setOther(same ? "" : file.name);
    // It may have been renamed: it is sent as what it was begun as.
    if (same) choose(file.name === filename ? file : new File([file], filename, { type: file.type, lastModified: file.lastModified }), name);
  };
  const discard = async () => {
    setProblem(undefined);
    await uploads.remove(upload.path).then(() => localStorage.removeItem(upload.key), (thrown) => setProblem(asProblem(thrown)));
    gone();
  };
  return (
    <li>
      <span class="name" title={name}>
        {name}
      </span>
      <span class="num">
        {Math.floor((upload.offset / (upload.length || 1)) * 100)} % of {size(upload.length)}
      </span>
      <span class="dim">
        of a file changed <Time at={new Date(upload.lastModified).toISOString()} />
      </span>
      {resourceId && resourceId !== of.id ? (
        <Link to={`/resources/${resourceId}`} class="button tight">
          Open the file that it replaces
        </Link>
      ) : (
        <>
          <input ref={input} type="file" hidden aria-label={`The file ${name} again`} onChange={take} />
          <Button class="tight" onClick={() => input.current!.click()}>
            Choose the file again
          </Button>
        </>
      )}
      <Button class="tight" onClick={discard}>
        Discard <span class="unseen">{name}</span>
      </Button>
      {other && <p class="error">{other} is not the same file: its size or its time of change is another one.</p>}
      {problem && <Failed problem={problem} />}
    </li>
  );
}

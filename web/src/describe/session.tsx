// Describes the files of a set one after another: the content is next to the form of its schema.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Asked, DataSet, Dataspace, Resource } from "../api";
import { resources, schemas, search } from "../api";
import { count, plural } from "../format";
import { Preview } from "../preview/preview";
import { Link } from "../router";
import { Button, ErrorMessage, Size, Skeleton } from "../ui/components";
import { Dialog } from "../ui/dialog";
import { useAction } from "../ui/load";
import { notifyChange } from "../upload/queue";
import { DescribeForm } from "./form";
import { incompleteIn } from "./incomplete";

interface Props {
  set: DataSet;
  dataspace: Dataspace;
  /** The first file; by default the first incomplete one. */
  first?: { resource: Resource; asked: Asked } | undefined;
  /** Receives the last shown file, and whether anything was saved. */
  close: (last: Resource | undefined, changed: boolean) => void;
}

interface Shown {
  resource: Resource;
  asked: Asked;
}

const load = async (rid: string): Promise<Shown> => {
  const [resource, asked] = await Promise.all([resources.get(rid), schemas.of("resources", rid)]);
  return { resource, asked };
};

/** The batch size: after these files the search is repeated. */
const maxFiles = 1000;

/** The incomplete files of a set, by name. Described and skipped files are left out, because the
    search index follows with a delay. */
function useIncomplete(set: DataSet, dataspace: Dataspace) {
  const seen = useRef(new Set<string>());
  const [files, setFiles] = useState<string[]>([]);
  const fetch = async () => {
    const { items } = await search.list({ q: incompleteIn(dataspace, set), order: "name", limit: maxFiles, counts: "" }).all(maxFiles);
    const ids = items.map(({ record }) => record.id);
    setFiles(ids);
    return ids;
  };
  const open = (ids: string[]) => ids.filter((id) => !seen.current.has(id));
  /** The id of the next file; after the end, of the first one. */
  const next = async (after: string | undefined): Promise<string | undefined> => {
    if (after) seen.current.add(after);
    const rotated = (ids: string[]) => [...ids.slice(ids.indexOf(after ?? "") + 1), ...ids];
    return open(rotated(files))[0] ?? open(await fetch())[0];
  };
  return { fetch, next, left: (without: string) => open(files).filter((id) => id !== without).length };
}

export function DescribeFiles({ set, dataspace, first, close }: Props) {
  const [shown, setShown] = useState<Shown | undefined>(first);
  const [done, setDone] = useState(0);
  const [over, setOver] = useState(false);
  const incomplete = useIncomplete(set, dataspace);
  const go = async (after: Resource | undefined) => {
    const rid = await incomplete.next(after?.id);
    if (rid) setShown(await load(rid));
    else setOver(true);
  };
  const goOn = useAction(() => go(shown?.resource));
  // if the others cannot be loaded, only this file is described
  useEffect(() => void (first ? incomplete.fetch().catch(() => {}) : goOn.run()), []);
  const leave = (last: Resource | undefined, saved = 0) => {
    if (done + saved) notifyChange(set.id);
    close(last, done + saved > 0);
  };
  const saved = () => {
    setDone((n) => n + 1);
    void goOn.run();
  };
  if (over) return <Finished done={done} close={() => leave(shown?.resource)} />;
  if (!shown)
    return (
      <Dialog title="Describe files" onClose={() => leave(undefined)}>
        {goOn.problem ? <ErrorMessage problem={goOn.problem} retry={goOn.run} /> : <Skeleton lines={8} />}
      </Dialog>
    );
  const { resource, asked } = shown;
  const others = incomplete.left(resource.id);
  return (
    <Dialog title={resource.name} onClose={() => leave(resource)}>
      <div class="beside">
        <section class="preview" aria-label="Preview" key={resource.sha256}>
          <Preview file={resource} />
        </section>
        <div>
          <p class="dim">
            {asked.schema ? <strong>{asked.schema.title || asked.schema.name}</strong> : "No form"} · <Size bytes={resource.bytes} /> · <Link to={`/resources/${resource.id}`}>page of the file</Link>
          </p>
          <p class="dim" role="status">
            {done > 0 && `${plural(done, "file")} described. `}
            {others > 0 && `${plural(others, "other file")} in this set ${others === 1 ? "is" : "are"} incomplete.`}
          </p>
          {goOn.problem && <ErrorMessage problem={goOn.problem} retry={goOn.run} />}
          <DescribeForm<Resource>
            key={resource.id}
            kind="resource"
            was={resource}
            asked={asked}
            done={(r) => leave(r, 1)}
            cancel={() => leave(resource)}
            next={others > 0 || done > 0 ? { action: "Save and next", done: saved } : undefined}
          />
          {others > 0 && (
            <p class="skip-file">
              <Button class="tight" kind="quiet" busy={goOn.busy} onClick={goOn.run}>
                Skip this file
              </Button>
              <span class="dim">Ctrl+Enter saves and goes to the next of {count(others)}.</span>
            </p>
          )}
        </div>
      </div>
    </Dialog>
  );
}

function Finished({ done, close }: { done: number; close: () => void }) {
  return (
    <Dialog title="Done" onClose={close}>
      <p>{done ? `${plural(done, "file")} described. ` : ""}You have seen all incomplete files of this set.</p>
      <div class="actions">
        <Button kind="primary" autofocus onClick={close}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

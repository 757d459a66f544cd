import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { DataSet } from "../api";
import { dataspaces, sets } from "../api";
import { count, plural, size } from "../format";
import { Button, ErrorMessage, Size, Skeleton, Time } from "../ui/components";
import { Confirm, Dialog } from "../ui/dialog";
import type { ErrorOf } from "../ui/form";
import { Field, Form } from "../ui/form";
import { Icon } from "../ui/icons";
import { useLoad } from "../ui/load";
import { UploadWarning } from "../usage/quota";
import type { NameConflict } from "./existing";
import { nameConflicts } from "./existing";
import { notifyChange, queue } from "./queue";
import { versionOf } from "./replace";
import type { SelectedFile, Selection, Unreadable } from "./selection";
import { isSystemFile } from "./selection";

/** The destination of files: a set, or a dataspace in which the user chooses or creates a set. */
export type UploadTarget = { set: DataSet } | { dataspaceId: string };

/** Shows the files and their destination, and starts the upload. */
export function UploadDialog({ selection, target, close }: { selection: Selection; target: UploadTarget; close: () => void }) {
  const { unreadable } = selection;
  const files = selection.files.filter((f) => !isSystemFile(f));
  if (!files.length) {
    return (
      <Dialog title="Nothing to upload" onClose={close}>
        <p>
          The selection contains no {unreadable.length > 0 && "readable "}files{selection.files.length > 0 && " other than system files"}.
        </p>
        <UnreadableFiles unreadable={unreadable} />
        <div class="actions">
          <Button onClick={close}>Close</Button>
        </div>
      </Dialog>
    );
  }
  const props = { files, systemFiles: selection.files.length - files.length, unreadable, close };
  return (
    <Dialog title="Upload" onClose={close} discards={`Discard ${files.length === 1 ? "the selected file" : `${count(files.length)} selected files`}?`}>
      {"set" in target ? <UploadForm target={target} {...props} /> : <UploadFormWithSets target={target} {...props} />}
    </Dialog>
  );
}

/** The maximum number of listed files. */
const maxShown = 5;

function UnreadableFiles({ unreadable }: { unreadable: Unreadable[] }) {
  if (!unreadable.length) return null;
  return (
    <div class="note bad" role="alert">
      <Icon name="warning" />
      <div>
        <p>{count(unreadable.length)} could not be read and will not be uploaded:</p>
        <ul>
          {unreadable.slice(0, maxShown).map(({ path, error }, i) => (
            <li key={i}>
              {path} <span class="dim">{error}</span>
            </li>
          ))}
          {unreadable.length > maxShown && <li>and {plural(unreadable.length - maxShown, "other")}</li>}
        </ul>
      </div>
    </div>
  );
}

interface FormProps {
  files: SelectedFile[];
  /** The number of omitted system files. */
  systemFiles: number;
  unreadable: Unreadable[];
  close: () => void;
}

/** The sets of a dataspace, or the oldest of them. */
type Sets = { items: DataSet[]; complete: boolean };

/** Loads the sets before the form is shown, so that its layout does not shift. */
function UploadFormWithSets({ target, ...props }: FormProps & { target: { dataspaceId: string } }) {
  const { value, problem, reload } = useLoad((signal) => dataspaces.sets(target.dataspaceId, { limit: maxSets }).all(maxSets, signal), [target.dataspaceId]);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={8} />;
  return <UploadForm target={{ ...target, sets: value }} {...props} />;
}

function UploadForm({ files, systemFiles, unreadable, close, target }: FormProps & { target: { set: DataSet } | { dataspaceId: string; sets: Sets } }) {
  const onConflict = useRef<HTMLSelectElement>(null);
  const form = useRef<HTMLFormElement | null>(null);
  useLayoutEffect(() => queueMicrotask(() => form.current?.querySelector<HTMLElement>("[type=submit]")?.focus()), []); // after the dialog has opened
  const [choice, setChoice] = useState<SetChoice>("set" in target ? { set: target.set } : { name: suggestedName(files) });
  const [asking, setAsking] = useState<{ conflicts: NameConflict[]; set: DataSet } | undefined>();
  const add = (set: DataSet, conflicts?: NameConflict[]) => {
    queue.add(files, set, conflicts && new Set(conflicts.flatMap((c) => c.existing).map(versionOf)), unreadable);
    close();
  };
  const bytes = files.reduce((sum, p) => sum + p.file.size, 0);
  const submit = async () => {
    const create = async (name: string, dataspaceId: string) => {
      const set = await sets.create({ name, dataspaceId });
      notifyChange(dataspaceId);
      return set;
    };
    const replace = onConflict.current!.value === "replace";
    const set = "set" in choice ? choice.set : await create(choice.name, (target as { dataspaceId: string }).dataspaceId);
    const conflicts = replace ? await nameConflicts(set.id, files) : undefined;
    if (conflicts?.length) setAsking({ conflicts, set });
    else add(set, conflicts);
  };
  return (
    <>
      <Form action="Upload" submit={submit} onCancel={close} formRef={form}>
        {(errorOf) => (
          <>
            <p>
              <strong>
                {plural(files.length, "file")}, {size(bytes)}
              </strong>
              {systemFiles > 0 && <span class="dim"> ({plural(systemFiles, "system file")} left out)</span>}
            </p>
            <ul class="sample dim">
              {files.slice(0, maxShown).map((p) => (
                <li key={p.path}>{p.path}</li>
              ))}
              {files.length > maxShown && <li>and {plural(files.length - maxShown, "other")}</li>}
            </ul>
            <UnreadableFiles unreadable={unreadable} />
            <UploadWarning did={"set" in target ? target.set.dataspaceId : target.dataspaceId} bytes={bytes} />
            {"set" in target ? (
              <p class="into">
                To the set <strong>{target.set.title || target.set.name}</strong>.
              </p>
            ) : (
              <SetFields sets={target.sets} choice={choice} onChange={setChoice} errorOf={errorOf} />
            )}
            <Field label="If a name exists" hint="Files with the same content are not sent again, unless they are damaged on the server.">
              {(a) => (
                <select ref={onConflict} {...a}>
                  <option value="keep">Keep both</option>
                  <option value="replace">Replace the existing file</option>
                </select>
              )}
            </Field>
          </>
        )}
      </Form>
      {asking && <ConfirmReplacement conflicts={asking.conflicts} confirm={() => add(asking.set, asking.conflicts)} close={() => setAsking(undefined)} />}
    </>
  );
}

/** The maximum number of files in the confirmation. */
const maxListed = 200;

function ConfirmReplacement({ conflicts, confirm, close }: { conflicts: NameConflict[]; confirm: () => void; close: () => void }) {
  const sameSize = conflicts.filter((c) => c.existing.some((r) => r.bytes === c.file.file.size)).length;
  const one = conflicts.length === 1;
  return (
    <Confirm title={`Replace ${plural(conflicts.length, "file")}?`} action="Replace" submit={async () => confirm()} close={close}>
      <div class="conflicts">
        <table class="plain">
          <thead>
            <tr>
              <th>File</th>
              <th>Current</th>
              <th>New</th>
            </tr>
          </thead>
          <tbody>
            {conflicts.slice(0, maxListed).map(({ file, existing }) => (
              <tr key={file.path}>
                <td>{file.path}</td>
                <td>
                  <Size bytes={existing.at(-1)!.bytes} />, <Time at={existing.at(-1)!.modified} />
                </td>
                <td>
                  <Size bytes={file.file.size} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {conflicts.length > maxListed && <p class="dim">and {plural(conflicts.length - maxListed, "other")}</p>}
      <p>
        The current content of {one ? "the file stays as an older version" : "these files stays as older versions"}: it can be restored as long as the
        dataspace keeps old versions. Names, descriptions, ids and addresses stay.
      </p>
      {sameSize > 0 && (
        <p>
          {one ? "It has" : `${count(sameSize)} of them ${sameSize === 1 ? "has" : "have"}`} the same size. The content is compared first, and replaced only if it differs.
        </p>
      )}
    </Confirm>
  );
}

/** An existing set, or the name of a new one. */
type SetChoice = { set: DataSet } | { name: string };

/** A name for a new set, from the name of the folder. */
function suggestedName(files: SelectedFile[]): string {
  const first = files[0]!.path;
  const folder = first.includes("/") ? first.slice(0, first.indexOf("/")) : "";
  return folder.toLowerCase().replace(/[^a-z0-9_]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 100);
}

/** The maximum number of offered sets. */
const maxSets = 1000;

interface SetFieldsProps {
  sets: Sets;
  choice: SetChoice;
  onChange: (choice: SetChoice) => void;
  errorOf: ErrorOf;
}

function SetFields({ sets, choice, onChange, errorOf }: SetFieldsProps) {
  const name = useRef("name" in choice ? choice.name : "");
  const select = (id: string) => {
    const set = sets.items.find((s) => s.id === id);
    onChange(set ? { set } : { name: name.current });
  };
  const rename = (text: string) => {
    name.current = text;
    onChange({ name: text });
  };
  return (
    <>
      <Field
        label="Set"
        hint={!sets.complete && `These are the ${maxSets} oldest sets of the dataspace. To upload to another one, open it first.`}
        error={errorOf("dataspaceId")}
      >
        {(a) => (
          <select {...a} value={"set" in choice ? choice.set.id : ""} onChange={(e) => select(e.currentTarget.value)}>
            <option value="">New set</option>
            {sets.items.map((s) => (
              <option key={s.id} value={s.id}>
                {s.title || s.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {"name" in choice && (
        <Field label="Name of the new set" error={errorOf("name")} hint="2 to 100 lower-case letters, digits, - and _.">
          {(a) => <input {...a} required spellcheck={false} value={choice.name} onInput={(e) => rename(e.currentTarget.value)} />}
        </Field>
      )}
    </>
  );
}

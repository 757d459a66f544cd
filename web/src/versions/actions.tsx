// The actions on a version of a file: restore, label, erase.
import { useRef, useState } from "preact/hooks";
import type { Resource, Version } from "../api";
import { Problem, versions } from "../api";
import { plural } from "../format";
import { Button, ErrorMessage, Size, Time } from "../ui/components";
import { ConfirmButton, Dialog } from "../ui/dialog";
import { Field, Form } from "../ui/form";
import { useAction } from "../ui/load";
import { UserName } from "../ui/users";

/** Describes the result of restoring a version. */
export const restoredAs = (version: Version, before: Resource, now: Resource) =>
  now.version === before.version
    ? `The file already has the content of version ${version.version}.`
    : `Version ${version.version} is restored as version ${now.version}. To undo this, restore version ${before.version}.`;

const changed = new Problem(412, "changed", "The file was changed since this page was loaded, so nothing was restored. Check the newest version, then try again.");

interface RestoreProps {
  version: Version;
  /** The shown resource: the version is not restored if the resource has changed since. */
  resource: Resource;
  done: (now: Resource) => void;
  /** Loads the resource again. */
  refresh: () => void;
  /** Whether it is in a row of a list. */
  tight?: true;
}

/** Restores a version as a new version. The previous version stays, so no confirmation is needed.
 */
export function RestoreVersion({ version, resource, done, refresh, tight }: RestoreProps) {
  const { run, busy, problem, dismiss } = useAction(async () => done(await versions.restore(resource, version.version)));
  const outdated = problem?.status === 412;
  const close = () => {
    dismiss();
    if (outdated) refresh();
  };
  return (
    <>
      <Button icon="retry" class={tight ? "tight" : ""} busy={busy} onClick={run}>
        Restore {tight && <span class="visually-hidden">version {version.version}</span>}
      </Button>
      {problem && (
        <Dialog title={`Version ${version.version} was not restored`} onClose={close}>
          <ErrorMessage problem={outdated ? changed : problem} />
        </Dialog>
      )}
    </>
  );
}

interface LabelProps {
  version: Version;
  done: (version: Version) => void;
  tight?: true;
}

export function LabelVersion({ version, done, tight }: LabelProps) {
  const [editing, setEditing] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const close = () => setEditing(false);
  const submit = async () => {
    const label = String(new FormData(form.current!).get("label") ?? "").trim();
    done(await versions.label(version.resourceId, version.version, label));
    close();
  };
  return (
    <>
      <Button icon="edit" class={tight ? "tight wide-only" : ""} onClick={() => setEditing(true)}>
        Label {tight && <span class="visually-hidden">version {version.version}</span>}
      </Button>
      {editing && (
        <Dialog title={`Label version ${version.version}`} onClose={close}>
          <Form action="Save" submit={submit} onCancel={close} formRef={form}>
            {(errorOf) => (
              <Field
                label="Label"
                hint="Such as: as published. A version with a label is always kept until the file itself is deleted and purged. Leave empty to remove the label."
                error={errorOf("label")}
              >
                {(a) => <input name="label" autofocus maxLength={100} defaultValue={version.label} {...a} />}
              </Field>
            )}
          </Form>
        </Dialog>
      )}
    </>
  );
}

export function EraseVersion({ version: v, done }: { version: Version; done: (version: Version) => void }) {
  return (
    <ConfirmButton
      icon="trash"
      label="Erase"
      confirm={{
        title: `Erase version ${v.version}?`,
        action: "Erase",
        submit: () => versions.erase(v.resourceId, v.version).then(done),
        children: (
          <div class="prose">
            <p class="preserve">
              <strong>{v.name}</strong> <Size bytes={v.bytes} />{" "}
              <span class="dim">
                <Time at={v.created} /> by <UserName id={v.createdBy} />
              </span>
            </p>
            <p>
              {v.bytes === 1 ? "The byte" : `All ${plural(v.bytes, "byte")}`} of this version are immediately and permanently removed. They do not go to the trash, and nobody can
              restore them here. The record stays, with the SHA-256, and says when and by whom the version was erased.
            </p>
            {v.label && <p>Its label, “{v.label}”, does not protect it.</p>}
            <p>Earlier backups still contain the bytes. Other versions and files with the same content also keep them: erase these, too.</p>
          </div>
        ),
      }}
    />
  );
}

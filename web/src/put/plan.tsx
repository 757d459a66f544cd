import { useRef, useState } from "preact/hooks";
import type { DataSet } from "../api";
import { dataspaces, sets } from "../api";
import { plural, size } from "../human";
import { about, Dialog, Failed, Field, Form, Waiting } from "../ui/basics";
import { useLoad } from "../ui/load";
import type { Picked } from "./collect";
import { isLitter } from "./collect";
import type { Clash } from "./queue";
import { queue } from "./queue";

interface Props {
  picked: Picked[];
  /** Where the files go; or the dataspace in which a set is still to be chosen or made. */
  to: { set: DataSet } | { dataspaceId: string };
  close: () => void;
}

/** Says what will be sent where, before anything is. */
export function Plan({ picked, to, close }: Props) {
  const files = picked.filter((p) => !isLitter(p));
  const total = files.reduce((sum, p) => sum + p.file.size, 0);
  const clash = useRef<HTMLSelectElement>(null);
  const target = useRef<{ set?: DataSet; name?: string }>("set" in to ? { set: to.set } : {});
  const submit = async () => {
    const { set, name } = target.current;
    const into = set ?? ("dataspaceId" in to ? await sets.create({ name: name ?? "", dataspaceId: to.dataspaceId }) : undefined);
    if (!into) return;
    queue.add(files, into, clash.current!.value as Clash);
    close();
  };
  return (
    <Dialog title="Put files in" onClose={close}>
      <Form action="Put in" submit={submit} onCancel={close}>
        {(problem) => (
          <>
            <p>
              <strong>
                {plural(files.length, "file")}, {size(total)}
              </strong>
              {files.length < picked.length && <span class="dim"> ({plural(picked.length - files.length, "system file")} left out)</span>}
            </p>
            <ul class="sample dim">
              {files.slice(0, 5).map((p) => (
                <li key={p.path}>{p.path}</li>
              ))}
              {files.length > 5 && <li>and {plural(files.length - 5, "other")}</li>}
            </ul>
            {"set" in to ? (
              <p class="into">
                Into the set <strong>{to.set.title || to.set.name}</strong>.
              </p>
            ) : (
              <Target dataspaceId={to.dataspaceId} suggested={suggested(files)} error={about(problem, "name")} choose={(t) => (target.current = t)} />
            )}
            <Field label="If a name is there already" hint="What is there with the same content is not sent again.">
              {(a) => (
                <select ref={clash} {...a}>
                  <option value="keep">Keep both</option>
                  <option value="replace">Replace what is there</option>
                </select>
              )}
            </Field>
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** A name for a new set, after the folder that came. */
function suggested(files: Picked[]): string {
  const first = files[0]?.path ?? "";
  const folder = first.includes("/") ? first.slice(0, first.indexOf("/")) : "";
  return folder.toLowerCase().replace(/[^a-z0-9_]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 100);
}

interface TargetProps {
  dataspaceId: string;
  suggested: string;
  error: string | undefined;
  choose: (target: { set?: DataSet; name?: string }) => void;
}

function Target({ dataspaceId, suggested, error, choose }: TargetProps) {
  const { value: known, problem, reload } = useLoad((signal) => dataspaces.sets(dataspaceId, { limit: 1000 }).all(1000, signal), [dataspaceId]);
  const [chosen, setChosen] = useState("");
  const name = useRef(suggested);
  if (problem) return <Failed problem={problem} retry={reload} />;
  if (!known) return <Waiting lines={1} />;
  const take = (id: string) => {
    setChosen(id);
    const set = known.find((s) => s.id === id);
    choose(set ? { set } : { name: name.current });
  };
  if (!chosen) choose({ name: name.current });
  return (
    <>
      <Field label="Into the set">
        {(a) => (
          <select {...a} value={chosen} onChange={(e) => take(e.currentTarget.value)}>
            <option value="">a new one</option>
            {known.map((s) => (
              <option key={s.id} value={s.id}>
                {s.title || s.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {!chosen && (
        <Field label="Name of the new set" error={error} hint="2 to 100 of lower-case letters, digits, - and _.">
          {(a) => (
            <input
              {...a}
              required
              defaultValue={suggested}
              onInput={(e) => {
                name.current = e.currentTarget.value;
                choose({ name: name.current });
              }}
            />
          )}
        </Field>
      )}
    </>
  );
}

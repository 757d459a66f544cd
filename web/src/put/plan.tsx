import { useRef, useState } from "preact/hooks";
import type { DataSet } from "../api";
import { dataspaces, sets } from "../api";
import { count, plural, size } from "../human";
import type { ErrorOf } from "../ui/basics";
import { Ask, Button, Dialog, Failed, Field, Form, Size, Time, Waiting } from "../ui/basics";
import { Icon } from "../ui/icons";
import { useLoad } from "../ui/load";
import type { Found, Picked, Unread } from "./collect";
import { isLitter } from "./collect";
import type { Into } from "./drop";
import { queue, tellArrival } from "./queue";
import type { Loss } from "./replace";
import { lossesIn, versionOf } from "./replace";

/** Says what will be sent where, before anything is. */
export function Plan({ found: { picked, unread }, to, close }: { found: Found; to: Into; close: () => void }) {
  const files = picked.filter((p) => !isLitter(p));
  if (!files.length) {
    return (
      <Dialog title="Nothing to upload" onClose={close}>
        <p>
          There is no file {unread.length > 0 && "that could be read "}in it{picked.length > 0 && " other than system files"}.
        </p>
        <NotRead unread={unread} />
        <div class="actions">
          <Button onClick={close}>Close</Button>
        </div>
      </Dialog>
    );
  }
  const plan = { files, left: picked.length - files.length, unread, close };
  return (
    <Dialog title="Upload" onClose={close}>
      {"set" in to ? <PlanForm to={to} {...plan} /> : <PlanWithSets to={to} {...plan} />}
    </Dialog>
  );
}

/** Lines that are shown of many. */
const sample = 5;

function NotRead({ unread }: { unread: Unread[] }) {
  if (!unread.length) return null;
  return (
    <div class="note bad" role="alert">
      <Icon name="warning" />
      <div>
        <p>{count(unread.length)} could not be read, and will be missing:</p>
        <ul>
          {unread.slice(0, sample).map(({ path, why }, i) => (
            <li key={i}>
              {path} <span class="dim">{why}</span>
            </li>
          ))}
          {unread.length > sample && <li>and {plural(unread.length - sample, "other")}</li>}
        </ul>
      </div>
    </div>
  );
}

interface PlanProps {
  files: Picked[];
  /** How many system files are left out. */
  left: number;
  unread: Unread[];
  close: () => void;
}

/** The sets of a dataspace. */
type Known = { items: DataSet[]; whole: boolean };

/** Comes with the sets, so that nothing in it moves when they are there. */
function PlanWithSets({ to, ...plan }: PlanProps & { to: { dataspaceId: string } }) {
  const { value, problem, reload } = useLoad((signal) => dataspaces.sets(to.dataspaceId, { limit: most }).all(most, signal), [to.dataspaceId]);
  if (problem) return <Failed problem={problem} retry={reload} />;
  if (!value) return <Waiting lines={8} />;
  return <PlanForm to={{ ...to, known: value }} {...plan} />;
}

function PlanForm({ files, left, unread, close, to }: PlanProps & { to: { set: DataSet } | { dataspaceId: string; known: Known } }) {
  const clash = useRef<HTMLSelectElement>(null);
  const [target, setTarget] = useState<Target>("set" in to ? { set: to.set } : { name: suggested(files) });
  const [asking, setAsking] = useState<{ losses: Loss[]; set: DataSet } | undefined>();
  const add = (set: DataSet, losses?: Loss[]) => {
    queue.add(files, set, losses && new Set(losses.flatMap((l) => l.there).map(versionOf)), unread);
    close();
  };
  const submit = async () => {
    const made = async (name: string, dataspaceId: string) => {
      const set = await sets.create({ name, dataspaceId });
      tellArrival(dataspaceId);
      return set;
    };
    const replace = clash.current!.value === "replace";
    const set = "set" in target ? target.set : await made(target.name, (to as { dataspaceId: string }).dataspaceId);
    const losses = replace ? await lossesIn(set.id, files) : undefined;
    if (losses?.length) setAsking({ losses, set });
    else add(set, losses);
  };
  return (
    <>
      <Form action="Upload" submit={submit} onCancel={close}>
        {(errorOf) => (
          <>
            <p>
              <strong>
                {plural(files.length, "file")}, {size(files.reduce((sum, p) => sum + p.file.size, 0))}
              </strong>
              {left > 0 && <span class="dim"> ({plural(left, "system file")} left out)</span>}
            </p>
            <ul class="sample dim">
              {files.slice(0, sample).map((p) => (
                <li key={p.path}>{p.path}</li>
              ))}
              {files.length > sample && <li>and {plural(files.length - sample, "other")}</li>}
            </ul>
            <NotRead unread={unread} />
            {"set" in to ? (
              <p class="into">
                Into the set <strong>{to.set.title || to.set.name}</strong>.
              </p>
            ) : (
              <Targets known={to.known} target={target} choose={setTarget} errorOf={errorOf} />
            )}
            <Field label="If a name is there already" hint="What is there with the same content is not sent again, unless it is damaged on the server.">
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
      {asking && <Replace {...asking} agree={() => add(asking.set, asking.losses)} close={() => setAsking(undefined)} />}
    </>
  );
}

/** Files of which one reads what they replace. */
const listed = 200;

/** Says what is lost, before anything is. */
function Replace({ losses, agree, close }: { losses: Loss[]; agree: () => void; close: () => void }) {
  const alike = losses.filter((l) => l.there.some((r) => r.bytes === l.picked.file.size)).length;
  const one = losses.length === 1;
  return (
    <Ask title={`Replace ${plural(losses.length, "file")}?`} action="Replace" submit={async () => agree()} close={close}>
      <div class="losses">
        <table class="plain">
          <thead>
            <tr>
              <th>File</th>
              <th>Now</th>
              <th>Afterwards</th>
            </tr>
          </thead>
          <tbody>
            {losses.slice(0, listed).map((l) => (
              <tr key={l.picked.path}>
                <td>{l.picked.path}</td>
                <td>
                  <Size bytes={l.there.at(-1)!.bytes} />, <Time at={l.there.at(-1)!.modified} />
                </td>
                <td>
                  <Size bytes={l.picked.file.size} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {losses.length > listed && <p class="dim">and {plural(losses.length - listed, "other")}</p>}
      <p>
        What is in {one ? "the file" : "these files"} now is gone for good then: it does not go to the trash. Names, descriptions, ids and addresses stay.
      </p>
      {alike > 0 && (
        <p>
          {one ? "It has" : `${count(alike)} of them ${alike === 1 ? "has" : "have"}`} the same size as before. Content is compared first, and replaced only if it differs.
        </p>
      )}
    </Ask>
  );
}

/** A set that is there, or the name of one that will be made. */
type Target = { set: DataSet } | { name: string };

/** A name for a new set, after the folder that came. */
function suggested(files: Picked[]): string {
  const first = files[0]!.path;
  const folder = first.includes("/") ? first.slice(0, first.indexOf("/")) : "";
  return folder.toLowerCase().replace(/[^a-z0-9_]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 100);
}

/** Sets that are offered; who has more goes to the page of the set. */
const most = 1000;

interface TargetsProps {
  known: Known;
  target: Target;
  choose: (target: Target) => void;
  errorOf: ErrorOf;
}

function Targets({ known, target, choose, errorOf }: TargetsProps) {
  const name = useRef("name" in target ? target.name : "");
  const take = (id: string) => {
    const set = known.items.find((s) => s.id === id);
    choose(set ? { set } : { name: name.current });
  };
  const rename = (text: string) => {
    name.current = text;
    choose({ name: text });
  };
  return (
    <>
      <Field
        label="Into the set"
        hint={!known.whole && `These are the ${most} oldest sets of the dataspace. To upload into another one, open it first.`}
        error={errorOf("dataspaceId")}
      >
        {(a) => (
          <select {...a} value={"set" in target ? target.set.id : ""} onChange={(e) => take(e.currentTarget.value)}>
            <option value="">a new one</option>
            {known.items.map((s) => (
              <option key={s.id} value={s.id}>
                {s.title || s.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {"name" in target && (
        <Field label="Name of the new set" error={errorOf("name")} hint="2 to 100 of lower-case letters, digits, - and _.">
          {(a) => <input {...a} required spellcheck={false} value={target.name} onInput={(e) => rename(e.currentTarget.value)} />}
        </Field>
      )}
    </>
  );
}

// Moves files to another set, or copies them. No bytes are transferred.
import { useEffect, useRef, useState } from "preact/hooks";
import type { DataSet, Dataspace, Resource, User } from "../api";
import { Problem, resources, sets } from "../api";
import { plural } from "../format";
import { Link } from "../router";
import { useMe } from "../session";
import { Button, ErrorMessage, Skeleton } from "../ui/components";
import { Dialog } from "../ui/dialog";
import type { ErrorOf } from "../ui/form";
import { Field, Form } from "../ui/form";
import { asProblem, useLoad } from "../ui/load";
import { notify } from "../ui/notice";
import { notifyChange } from "../upload/queue";
import { called, ContainerField, loadDataspaces, maxOffered, useSets } from "./containers";
import { changeMany, notifyUndoable, Refusals } from "./many";

/** The maximum number of files listed by name. */
const maxNamed = 4;

interface Props {
  of: Resource[];
  /** Called with the new record of each moved or renamed file. */
  moved: (was: Resource, is: Resource) => void;
  close: () => void;
}

/** The button that moves or copies files, with its dialog. */
export function Place({ of, moved }: Omit<Props, "close">) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button icon="folder" onClick={() => setOpened(true)}>
        Move or copy …
      </Button>
      {opened && <PlaceDialog of={of} moved={moved} close={() => setOpened(false)} />}
    </>
  );
}

/** The dialog that moves or copies files. */
export function PlaceDialog(props: Props) {
  const [all] = useState(props.of); // `of` loses moved files
  const me = useMe();
  const { value, problem, reload } = useLoad((signal) => loadWritable(me, all[0]!.dataspaceId, signal), []);
  return (
    <Dialog title={all.length === 1 ? "Move or copy the file" : `Move or copy ${plural(all.length, "file")}`} onClose={props.close}>
      {problem ? <ErrorMessage problem={problem} retry={reload} /> : value ? <PlaceForm {...props} of={all} dataspaces={value} /> : <Skeleton lines={6} />}
    </Dialog>
  );
}

/** The dataspaces that the user can write to, the dataspace of the files first. */
async function loadWritable(me: User, here: string, signal: AbortSignal): Promise<Dataspace[]> {
  const { items, roles } = await loadDataspaces("me", signal);
  const offered = items.filter((d) => me.sysadmin || (roles.has(d.id) && roles.get(d.id) !== "member"));
  return [...offered.filter((d) => d.id === here), ...offered.filter((d) => d.id !== here)];
}

function PlaceForm({ of: all, moved, close, dataspaces: spaces }: Props & { dataspaces: Dataspace[] }) {
  const [did, setDid] = useState(spaces[0]?.id ?? "");
  const offered = useSets(did);
  const [sid, setSid] = useState("");
  const [name, setName] = useState(all[0]!.name);
  const [tried, setTried] = useState(0);
  const [failed, setFailed] = useState<[Resource, string][]>([]);
  const open = useRef(true);
  useEffect(() => () => void (open.current = false), []);
  const single = all.length === 1;
  const here = all[0]!.setId;
  const chosen = offered.value?.items.find((s) => s.id === sid) ?? offered.value?.items.find((s) => s.id === here && single) ?? offered.value?.items.find((s) => s.id !== here);
  const left = failed.length ? failed.map(([r]) => r) : all;

  const place = async (call: typeof resources.move, done: (was: Resource, is: Resource) => void) => {
    if (!chosen) throw new Problem(400, "", "Choose a set.", "setId");
    if (chosen.id === here && (!single || name === all[0]!.name)) throw new Problem(400, "", single ? "Choose another set, or another name." : "Choose another set.", "setId");
    const reasons: [Resource, string][] = [];
    setTried(0);
    if (single) {
      await call(all[0]!, { setId: chosen.id, name }).then(
        (is) => done(all[0]!, is),
        (thrown) => reasons.push([all[0]!, asProblem(thrown).detail]),
      );
      for (const changed of new Set([here, chosen.id])) notifyChange(changed);
    } else {
      const { done: gone, refused } = await changeMany(left, { action: call === resources.move ? "move" : "copy", setId: chosen.id }, (n) => (setTried(n), open.current)); // cancelled, or unmounted
      for (const [was, id] of gone) done(was, { ...was, id, setId: chosen.id, dataspaceId: chosen.dataspaceId });
      reasons.push(...refused);
    }
    setFailed(reasons);
    if (!reasons.length && open.current) close();
  };
  const move = async () => {
    const gone: [Resource, Resource][] = [];
    await place(resources.move, (was, is) => void gone.push([was, is]));
    if (gone.length) notifyMoved(gone, chosen!, moved);
    for (const [was, is] of gone) moved(was, is);
  };
  const copy = async () => {
    const made: Resource[] = [];
    await place(resources.copy, (_, is) => void made.push(is));
    const [first] = made;
    if (!first) return;
    const [to, label] = made.length === 1 ? [`/resources/${first.id}`, first.name] : [`/sets/${chosen!.id}`, called(chosen!)];
    notify(
      <p>
        {plural(made.length, "file")} copied to <Link to={to}>{label}</Link>.
      </p>,
      {
        label: "Undo",
        run: async () => {
          const { done, refused } = await changeMany(made, { action: "delete" }, () => true);
          return (
            <>
              <p>Undone: {plural(done.length, "copy is", "copies are")} in the trash.</p>
              <Refusals of={refused} />
            </>
          );
        },
      },
    );
  };
  if (!spaces.length) return <p>You cannot move or copy files to any dataspace, because this requires the role editor.</p>;
  return (
    <Form action="Move" also={{ action: "Copy", submit: copy }} submit={move} onCancel={close} disabled={!chosen} covers={(field) => field === "setId" || field === "dataspaceId"}>
      {(errorOf) => (
        <>
          <Choices spaces={spaces} did={did} choose={(d) => (setDid(d), setSid(""))} offered={offered} here={single ? "" : here} chosen={chosen} setSid={setSid} errorOf={errorOf} />
          {single && (
            <Field label="Name" hint="Including folders. Names may repeat: nothing is replaced." error={errorOf("name")}>
              {(a) => <input {...a} required spellcheck={false} value={name} onInput={(e) => setName(e.currentTarget.value)} />}
            </Field>
          )}
          <p class="dim">A moved file keeps its versions, tags and properties. In another set it gets a new id, and its old address leads to it. A copy has only the current version.</p>
          <p role="status" class="dim">
            {tried > 0 && `${tried} of ${left.length} done`}
          </p>
          {failed.slice(0, maxNamed).map(([r, why]) => (
            <p class="error" key={r.id}>
              {r.name}: {why}
            </p>
          ))}
          {failed.length > maxNamed && <p class="error">{plural(failed.length - maxNamed, "other")} failed, too.</p>}
        </>
      )}
    </Form>
  );
}

interface ChoicesProps {
  spaces: Dataspace[];
  did: string;
  choose: (did: string) => void;
  offered: ReturnType<typeof useSets>;
  /** The set that is not offered. */
  here: string;
  chosen: DataSet | undefined;
  setSid: (sid: string) => void;
  errorOf: ErrorOf;
}

function Choices({ spaces, did, choose, offered, here, chosen, setSid, errorOf }: ChoicesProps) {
  return (
    <>
      <ContainerField label="Dataspace" error={errorOf("dataspaceId")} of={spaces} value={did} choose={choose} />
      {offered.problem && <ErrorMessage problem={offered.problem} retry={offered.reload} />}
      <ContainerField
        label="Set"
        hint={offered.value && (!chosen ? "This dataspace has no other set." : !offered.value.complete && `These are the ${maxOffered} oldest sets of the dataspace.`)}
        error={errorOf("setId")}
        of={offered.value?.items}
        value={chosen?.id ?? ""}
        choose={setSid}
        except={here}
        disabled={!chosen}
      />
    </>
  );
}

/** Reports moved files, with a button that moves them back. */
function notifyMoved(gone: [Resource, Resource][], set: DataSet, moved: Props["moved"]) {
  const within = gone[0]![0].setId === set.id;
  const text = within ? (
    "Renamed."
  ) : (
    <>
      {plural(gone.length, "file")} moved to <Link to={`/sets/${set.id}`}>{called(set)}</Link>.
    </>
  );
  if (gone.length > 1) {
    const was = new Map(gone.map(([before, is]) => [is.id, before]));
    notifyUndoable(text, gone.map(([, is]) => is), { action: "move", setId: gone[0]![0].setId }, (is, id) => moved(is, { ...was.get(is.id)!, id }));
    return;
  }
  const [was, is] = gone[0]!;
  notify(<p>{text}</p>, {
    label: "Undo",
    run: async () => {
      moved(is, await resources.move({ id: is.id }, { setId: was.setId, name: was.name }));
      for (const changed of new Set([set.id, was.setId])) notifyChange(changed);
      return <p>Undone: 1 file is back.</p>;
    },
  });
}

/** The new location of a moved file. */
export function MovedTo({ id }: { id: string }) {
  const { value } = useLoad(async () => {
    const file = await resources.get(id);
    return { file, set: await sets.get(file.setId) };
  }, [id]);
  return (
    <>
      This file was moved to{" "}
      {value && (
        <>
          <Link to={`/sets/${value.set.id}`}>{called(value.set)}</Link> as{" "}
        </>
      )}
      <Link to={`/resources/${id}`}>{value?.file.name ?? id}</Link>
      {value?.file.state === "deleted" && ", which is deleted"}. Move it back to get this address again. Restoring it here creates a second file.
    </>
  );
}

// Describes many files at once: adds and removes tags, and sets properties. A preview shows the
// changes first.
import { useRef, useState } from "preact/hooks";
import type { Asked, BulkOutcome, FormField, ManyChange, Resource } from "../api";
import { edits } from "../api";
import { Changes, Problems, summary } from "../edits/changes";
import { notifyEdit } from "../edits/undo";
import { count, plural } from "../format";
import { Button, IconButton } from "../ui/components";
import { Dialog } from "../ui/dialog";
import { Form } from "../ui/form";
import type { Cell } from "./cells";
import { cellOf, read } from "./cells";
import { FormFields } from "./fields";
import { useFocusOnRows } from "./focus";
import type { Row } from "./properties";
import { emptyRow, propertiesOf, PropertyRow } from "./properties";
import { added, Words } from "./tags";

interface Props {
  sid: string;
  of: Resource[];
  /** The schema of the first file. */
  asked: Asked;
  close: () => void;
}

/** A form field or another property that is set in each file. */
type Setting = { key: number } & ({ field: FormField; cell: Cell } | { row: Row });

export function DescribeMany({ sid, of, asked, close }: Props) {
  const [all] = useState(of);
  const [tags, setTags] = useState<{ add: string[]; remove: string[] }>({ add: [], remove: [] });
  const [typed, setTyped] = useState({ add: "", remove: "" });
  const [settings, setSettings] = useState<Setting[]>([]);
  const [outcome, setOutcome] = useState<BulkOutcome | undefined>();
  const keys = useRef(0);
  const settingsRef = useFocusOnRows<HTMLFieldSetElement>(settings.length, ".setting");
  const fields = asked.form?.fields ?? [];
  const many = plural(all.length, "file");

  const change = (): ManyChange => {
    const [addTags, removeTags] = [added(tags.add, typed.add), added(tags.remove, typed.remove)];
    const properties = Object.assign({}, ...settings.map((s) => ("row" in s ? propertiesOf([s.row]) : { [s.field.name!]: read(s.field, s.cell).value ?? null })));
    return {
      ids: all.map((r) => r.id),
      ...(addTags.length && { addTags }),
      ...(removeTags.length && { removeTags }),
      ...(Object.keys(properties).length && { metadata: { properties } }),
    };
  };
  const preview = async () => setOutcome(await edits.apply(sid, change(), true));
  const apply = async () => {
    const done = await edits.apply(sid, change(), false);
    notifyEdit(done, sid);
    if (done.problems.length) setOutcome(done);
    else close();
  };
  const add = (setting: { field: FormField; cell: Cell } | { row: Row }) => setSettings((s) => [...s, { key: ++keys.current, ...setting }]);
  const update = (to: Setting) => setSettings((s) => s.map((one) => (one.key === to.key ? to : one)));
  const remove = (key: number) => setSettings((s) => s.filter((one) => one.key !== key));
  const nothing = !settings.length && !added(tags.add, typed.add).length && !added(tags.remove, typed.remove).length;
  const free = fields.filter((f) => !settings.some((s) => "field" in s && s.field.name === f.name));

  if (outcome)
    return (
      <Dialog title={`Describe ${many}`} onClose={close}>
        <Form action={outcome.edit ? "Try again" : `Change ${plural(outcome.changed, "file")}`} submit={apply} onCancel={() => setOutcome(undefined)} cancel="Back" disabled={!outcome.changed || (!outcome.edit && outcome.problems.length > 0)}>
          {() => (
            <div class="describe many">
              <p role="status">
                <strong>{outcome.edit ? `${plural(outcome.changed, "file")} changed.` : !outcome.problems.length && summary(outcome)}</strong>
              </p>
              <Problems of={outcome.problems} title={outcome.edit ? "These were not changed" : `${plural(outcome.problems.length, "file")} cannot be changed this way, so no file was changed`} />
              <Changes of={outcome} form={fields} />
            </div>
          )}
        </Form>
      </Dialog>
    );
  return (
    <Dialog title={`Describe ${many}`} onClose={close}>
      <Form action="Show what changes" submit={preview} onCancel={close} disabled={nothing}>
        {() => (
          <div class="describe many">
            <Words
              label="Add tags"
              hint="Press Enter after each. Existing tags of a file stay."
              words={tags.add}
              typed={typed.add}
              onChange={(add) => setTags((t) => ({ ...t, add }))}
              onType={(add) => setTyped((t) => ({ ...t, add }))}
              error={undefined}
            />
            <Words
              label="Remove tags"
              hint=""
              words={tags.remove}
              typed={typed.remove}
              onChange={(remove) => setTags((t) => ({ ...t, remove }))}
              onType={(remove) => setTyped((t) => ({ ...t, remove }))}
              error={undefined}
            />
            <fieldset ref={settingsRef}>
              <legend>Set properties</legend>
              <p class="hint">These values replace the properties of each file. An empty field is removed. Other properties stay as they are.</p>
              {settings.map((s, i) => (
                <div class="setting" key={s.key}>
                  {"row" in s ? (
                    <PropertyRow row={s.row} number={i + 1} onChange={(row) => update({ ...s, row })} remove={() => remove(s.key)} error={undefined} />
                  ) : (
                    <>
                      <FormFields
                        fields={[{ ...s.field, required: false }]}
                        cells={[s.cell]}
                        onChange={([cell]) => update({ ...s, cell: cell! })}
                        problemsAt={() => ""}
                        refusedAt={() => ""}
                        enforce={false}
                      />
                      <IconButton icon="cross" label={`Do not set ${s.field.label}`} onClick={() => remove(s.key)} />
                    </>
                  )}
                </div>
              ))}
              <div class="add-setting">
                {free.map((f) => (
                  <Button key={f.name} icon="plus" class="tight" onClick={() => add({ field: f, cell: cellOf(f) })}>
                    {f.label}
                  </Button>
                ))}
                <Button icon="plus" class="tight" onClick={() => add({ row: emptyRow() })}>
                  {fields.length ? "Another property" : "Set a property"}
                </Button>
              </div>
            </fieldset>
            <p class="dim">Before anything changes, you see the changes of all {count(all.length)} files. They can be undone.</p>
          </div>
        )}
      </Form>
    </Dialog>
  );
}

// The form of a link.
import { useRef } from "preact/hooks";
import type { LinkFields, LinkKind, LinkRecord } from "../api";
import { dayOf, inDays } from "../format";
import { DecimalInput, typedNumber } from "../ui/decimal";
import { Field, Form } from "../ui/form";
import type { Target } from "./target";

const MB = 1e6;
const GB = 1e9;

/** The default lifetime of a new link in days; it does not exceed the limit of the service. */
const defaultDays = Math.min(30, Number(document.documentElement.dataset.linkDays ?? 30));

interface Props {
  kind: LinkKind;
  /** The target of a new link; it cannot be changed later. */
  of?: Target;
  was?: LinkRecord;
  submit: (fields: LinkFields) => Promise<void>;
  cancel: () => void;
}

/** The values of the form. Fields that do not apply to the kind of link, and unchanged ones, are
    left out. */
function fieldsOf(form: HTMLFormElement, { kind, was }: Pick<Props, "kind" | "was">): LinkFields {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? "").trim();
  const number = (name: string, unit = 1) => text(name) ? Math.round(typedNumber(text(name)) * unit) : 0;
  const fields: LinkFields = { label: text("label"), maxUses: number("maxUses") };
  if (!was || text("expires") !== dayOf(was.expires)) fields.expires = text("expires");
  const password = String(data.get("password") ?? "");
  if (password || data.has("removePassword")) fields.password = data.has("removePassword") ? "" : password;
  if (kind === "share") fields.hidesPeople = data.has("hidesPeople");
  else Object.assign(fields, { maxFileBytes: number("maxFileBytes", MB), maxBytes: number("maxBytes", GB), types: text("types").split(/[\s,]+/).filter(Boolean) });
  if (text("folder")) fields.folder = text("folder");
  if (data.has("version")) fields.version = number("version");
  return fields;
}

/** Makes a link, or changes `was`. */
export function LinkForm({ kind, of, was, submit, cancel }: Props) {
  const form = useRef<HTMLFormElement | null>(null);
  const share = kind === "share";
  const file = of?.files?.length === 1 ? of.files[0] : undefined;
  const amount = (n: number | undefined, unit = 1) => (n ? String(n / unit) : "");
  return (
    <Form action={was ? "Save" : "Make link"} formRef={form} submit={() => submit(fieldsOf(form.current!, { kind, ...(was && { was }) }))} onCancel={cancel}>
      {(errorOf) => (
        <>
          <Field
            label="Label"
            hint={share ? "A name for the files, shown to visitors." : "A name for the request, shown to visitors. Uploaded files go into a folder of this name."}
            error={errorOf("label")}
          >
            {(a) => <input name="label" autofocus required={!share} maxLength={100} defaultValue={was?.label} {...a} />}
          </Field>
          {share && of && !of.files && (
            <Field label="Folder" hint="Shows only this folder, such as raw/2026. Empty: the whole set." error={errorOf("folder")}>
              {(a) => <input name="folder" spellcheck={false} autocomplete="off" defaultValue={of.folder} {...a} />}
            </Field>
          )}
          <Field label="Expires" hint="At the start of this day (UTC). Empty: never." error={errorOf("expires")}>
            {(a) => <input name="expires" type="date" defaultValue={was ? dayOf(was.expires) : inDays(defaultDays)} {...a} />}
          </Field>
          <Field
            label={was?.hasPassword ? "New password" : "Password"}
            hint={was?.hasPassword ? "Empty: the password stays as it is." : "Visitors must enter it. Send it separately from the link. Empty: no password."}
            error={errorOf("password")}
          >
            {(a) => <input name="password" type="text" autocomplete="off" spellcheck={false} minLength={6} {...a} />}
          </Field>
          {was?.hasPassword && (
            <label class="option">
              <input type="checkbox" name="removePassword" /> Remove the password
            </label>
          )}
          <Field
            label={share ? "Downloads at most" : "Files at most"}
            hint={share ? "Each file or zip counts once; parts and resumed downloads do not count. Empty: any number." : "Empty: any number."}
            error={errorOf("maxUses")}
          >
            {(a) => <input name="maxUses" type="number" min={0} inputmode="numeric" defaultValue={amount(was?.maxUses)} {...a} />}
          </Field>
          {!share && <RequestLimits was={was} amount={amount} errorOf={errorOf} />}
          {share && (
            <label class="option">
              <input type="checkbox" name="hidesPeople" defaultChecked={was?.hidesPeople ?? false} /> Hide the names of people (for reviewers)
            </label>
          )}
          {file && file.version > 1 && (
            <label class="option">
              <input type="checkbox" name="version" value={file.version} /> Always this version ({file.version}), also when the file is replaced
            </label>
          )}
        </>
      )}
    </Form>
  );
}

interface LimitsProps {
  was: LinkRecord | undefined;
  amount: (n: number | undefined, unit: number) => string;
  errorOf: (field: string) => string | undefined;
}

function RequestLimits({ was, amount, errorOf }: LimitsProps) {
  return (
    <>
      <Field label="Largest file in MB" hint="Empty: any size." error={errorOf("maxFileBytes")}>
        {(a) => <DecimalInput name="maxFileBytes" min={0} defaultValue={amount(was?.maxFileBytes, MB)} {...a} />}
      </Field>
      <Field label="All files together in GB" hint="Empty: any size." error={errorOf("maxBytes")}>
        {(a) => <DecimalInput name="maxBytes" min={0} defaultValue={amount(was?.maxBytes, GB)} {...a} />}
      </Field>
      <Field label="Kinds of files" hint="Such as .tif image/* text/csv. Empty: all kinds." error={errorOf("types")}>
        {(a) => <input name="types" spellcheck={false} autocomplete="off" defaultValue={was?.types.join(" ")} {...a} />}
      </Field>
    </>
  );
}

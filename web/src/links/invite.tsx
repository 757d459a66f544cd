// The dialog that invites a person, and the form of an invitation.
import { useRef, useState } from "preact/hooks";
import type { Dataspace, LinkFields, LinkRecord, NewLink, Role } from "../api";
import { links } from "../api";
import { Link } from "../router";
import { Dialog } from "../ui/dialog";
import { Field, Form } from "../ui/form";
import { RoleField } from "../ui/roles";
import { NewLinkDialog } from "./dialog";

/** Invites a person into a dataspace or, without one, to create an account. */
export function InviteDialog({ into, close }: { into?: Pick<Dataspace, "id" | "name" | "title"> | undefined; close: () => void }) {
  const [made, setMade] = useState<NewLink | undefined>();
  const [role, setRole] = useState<Role>("editor");
  if (made) return <NewLinkDialog of={made} close={close} />;
  return (
    <Dialog title={`Invite to ${into ? into.title || into.name : "an account"}`} onClose={close}>
      <p class="dim">
        For one person, who creates an account{into && ", or gets the role with an existing one"}. <Link to="/links">Links and invitations</Link>
      </p>
      <InvitationForm submit={async (fields) => setMade(await links.create({ ...fields, kind: "invitation", ...(into && { dataspaceId: into.id, role }) }))} cancel={close}>
        {into && <RoleField role={role} choose={setRole} />}
      </InvitationForm>
    </Dialog>
  );
}

interface Props {
  was?: LinkRecord;
  submit: (fields: LinkFields) => Promise<void>;
  cancel: () => void;
  children?: preact.ComponentChildren;
}

/** Makes an invitation, or changes `was`. */
export function InvitationForm({ was, submit, cancel, children }: Props) {
  const form = useRef<HTMLFormElement | null>(null);
  const ends = was?.expires.slice(0, 10) ?? "";
  const fields = (): LinkFields => {
    const data = new FormData(form.current!);
    const expires = String(data.get("expires") ?? "");
    return { label: String(data.get("label") ?? "").trim(), ...(expires && expires !== ends && { expires }) };
  };
  return (
    <Form action={was ? "Save" : "Make invitation"} formRef={form} submit={() => submit(fields())} onCancel={cancel}>
      {(errorOf) => (
        <>
          <Field label="For whom" hint="A note for yourself, such as a name. The invited person does not see it." error={errorOf("label")}>
            {(a) => <input name="label" autofocus maxLength={100} autocomplete="off" defaultValue={was?.label} {...a} />}
          </Field>
          {children}
          <Field label="Expires" hint={`At the start of this day (UTC), after 30 days at most.${was ? "" : " Empty: in 7 days."}`} error={errorOf("expires")}>
            {(a) => <input name="expires" type="date" defaultValue={ends} {...a} />}
          </Field>
        </>
      )}
    </Form>
  );
}

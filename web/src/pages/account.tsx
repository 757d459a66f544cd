import { useEffect, useRef, useState } from "preact/hooks";
import type { User } from "../api";
import { users } from "../api";
import { Keys } from "../edit/keys";
import { useEdit } from "../edit/save";
import { useMe, useSession } from "../session";
import { Badge, Copy, PageHeader } from "../ui/components";
import { Field, Form } from "../ui/form";
import { useTitle } from "../ui/title";

/** The account of the signed-in user: its profile and its keys. */
export function AccountPage() {
  const me = useMe();
  useTitle("Your account");
  return (
    <>
      <PageHeader
        title={me.fullname || me.username}
        lead={
          <>
            <code>{me.username}</code> {me.sysadmin && <Badge tone="accent">sysadmin</Badge>} <Copy text={me.id} what="your id" />
          </>
        }
      />
      <div class="with-sidebar">
        <Keys of={me} />
        <Profile />
      </div>
    </>
  );
}

/** The form shows the latest saved profile, unless the user has typed since it was loaded. */
function Profile() {
  const me = useMe();
  const { setUser } = useSession();
  const [was, setWas] = useState(me);
  const [saved, setSaved] = useState(false);
  const [edited, setEdited] = useState(false);
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!edited) setWas(me);
  }, [me, edited]);
  useEffect(() => {
    // the form was rendered again with another key
    if (saved) section.current!.querySelector<HTMLElement>("[type=submit]")!.focus();
  }, [was]);
  const done = (user: User) => {
    setEdited(false);
    setSaved(true);
    setUser(user);
  };
  return (
    <section class="sheet" ref={section} onInput={() => (setEdited(true), setSaved(false))}>
      <h2>Your profile</h2>
      <ProfileForm key={was.etag} was={was} done={done} />
      <p role="status" class="dim">
        {saved && "Saved."}
      </p>
    </section>
  );
}

function ProfileForm({ was, done }: { was: User; done: (user: User) => void }) {
  const { save, conflicts } = useEdit(was, users, { fullname: "Full name", about: "About you" });
  const fullname = useRef<HTMLInputElement>(null);
  const text = useRef<HTMLTextAreaElement>(null);
  const submit = async () => done(await save({ fullname: fullname.current!.value, about: text.current!.value }));
  return (
    <Form action="Save" submit={submit}>
      {(errorOf) => (
        <>
          <Field label="Full name" error={errorOf("fullname")}>
            {(a) => <input ref={fullname} defaultValue={was.fullname} autocomplete="name" {...a} />}
          </Field>
          <Field label="About you" error={errorOf("about")}>
            {(a) => <textarea ref={text} defaultValue={was.about} {...a} />}
          </Field>
          {conflicts}
        </>
      )}
    </Form>
  );
}

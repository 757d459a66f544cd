import { useEffect, useRef } from "preact/hooks";
import { usePlace } from "../router";
import { useSession } from "../session";
import { Field, Form } from "../ui/basics";

/** The key that a link brings behind its # (labshelf demo prints such links), or "". That part of an address is sent to no server. */
export function keyInAddress(): string {
  const text = location.hash.slice(1);
  return text.startsWith("lsk_") ? text : "";
}

/** Trades a key for a session. One that was given is tried at once, whoever is signed in, and is taken off the address. */
export function SignIn({ given, done }: { given: string; done: () => void }) {
  const { signIn, ended, unended } = useSession();
  const { path } = usePlace();
  const key = useRef<HTMLInputElement>(null);

  useEffect(() => {
    document.title = "Sign in · labshelf";
    if (!given) return key.current?.focus();
    history.replaceState(null, "", location.pathname + location.search);
    key.current!.value = given;
    key.current!.form!.requestSubmit();
  }, []);

  const submit = async () => {
    await signIn(key.current!.value.trim());
    done();
  };
  return (
    <section class="signin">
      <h1>Sign in</h1>
      <p class="dim">
        {path === "/signin" || path === "/" ? "Files of your lab, in one place." : "This page is for people who are signed in. You will come back to it."}
      </p>
      {ended && (
        <p class="note" role="alert">
          Your session has ended: it ran out, its key was revoked, or you signed out in another tab. Sign in again to go on.
        </p>
      )}
      {unended && (
        <p class="note bad" role="alert">
          You are signed out of this browser, but the service could not end your session: {unended.detail}. Who has a copy of its cookie could go on until it
          runs out. If somebody may have one, have the key revoked that you signed in with, as soon as the service takes changes again.
        </p>
      )}
      <Form action="Sign in" submit={submit}>
        {(errorOf) => (
          <Field
            label="Your API key"
            error={errorOf("key")}
            hint={
              <>
                It begins with <code>lsk_</code>. Whoever runs this service gives you one; the very first stands in{" "}
                <code>initial-admin.key</code> in its data directory.
              </>
            }
          >
            {(attributes) => (
              <input ref={key} name="key" type="password" autocomplete="current-password" spellcheck={false} required {...attributes} />
            )}
          </Field>
        )}
      </Form>
    </section>
  );
}

import { useEffect, useRef } from "preact/hooks";
import type { User } from "../api";
import { session } from "../api";
import { plural } from "../human";
import { running, useQueue, useUploadsElsewhere } from "../put/queue";
import { usePlace } from "../router";
import { useSession } from "../session";
import { Failed, Field, Form, Waiting } from "../ui/basics";
import { useLoad } from "../ui/load";

/** The key that a link brings behind its # (labshelf demo prints such links), or "". That part of an address is sent to no server. */
export function keyInAddress(): string {
  const text = location.hash.slice(1);
  return text.startsWith("lsk_") ? text : "";
}

/** What asks for a key, or for consent to the one that a link brings. */
export function SignIn({ given, done }: { given: string; done: () => void }) {
  const { user } = useSession();
  useEffect(() => {
    document.title = "Sign in · labshelf";
    if (given) history.replaceState(null, "", location.pathname + location.search);
  }, [given]);
  return given && user ? <Change key={given} given={given} user={user} done={done} /> : <KeyForm given={given} done={done} />;
}

const nameOf = (user: User) => user.fullname || user.username;

/**
 * Asks before a link changes who is signed in: it may come from somebody who wants to be sent what the person uploads next. Whose key it is
 * is shown before; for a key of the same person there is nothing to ask.
 */
function Change({ given, user, done }: { given: string; user: User; done: () => void }) {
  const { signIn } = useSession();
  const { value: other, problem, reload } = useLoad(() => session.whose(given), [given]);
  const files = useUploadsElsewhere() + running(useQueue());
  const own = other?.id === user.id;
  useEffect(() => {
    if (own) done();
  }, [own]);
  if (own || (!other && !problem)) return <Waiting />;
  return (
    <section class="signin">
      <h1>Sign in as somebody else?</h1>
      <p>
        You are signed in as <strong>{nameOf(user)}</strong>
        {other && (
          <>
            . The link that you have opened signs you in as <strong>{nameOf(other)}</strong>: you would work under that name, in all windows of this browser
          </>
        )}
        .
      </p>
      {files > 0 && (
        <p class="note bad" role="alert">
          {plural(files, "file")} of {nameOf(user)} {files === 1 ? "is" : "are"} still being uploaded. That ends if you sign in as somebody else.
        </p>
      )}
      {problem && <Failed problem={problem} {...(problem.status !== 401 && { retry: reload })} />}
      <Form action={other ? `Sign in as ${nameOf(other)}` : "Sign in with the key of the link"} danger submit={() => signIn(given).then(done)} onCancel={done} cancel={`Stay signed in as ${nameOf(user)}`}>
        {() => null}
      </Form>
    </section>
  );
}

/** Trades a key for a session. One that was given is tried at once: nobody is signed in. */
function KeyForm({ given, done }: { given: string; done: () => void }) {
  const { signIn, ended, unended } = useSession();
  const { path } = usePlace();
  const key = useRef<HTMLInputElement>(null);

  useEffect(() => {
    if (!given) return key.current?.focus();
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

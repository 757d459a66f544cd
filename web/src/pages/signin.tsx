import { useEffect, useRef } from "preact/hooks";
import type { User } from "../api";
import { Problem, session } from "../api";
import { plural } from "../format";
import { useLocation } from "../router";
import { useSession } from "../session";
import { ErrorMessage, Skeleton } from "../ui/components";
import { Dialog } from "../ui/dialog";
import { Field, Form } from "../ui/form";
import { useLoad } from "../ui/load";
import { useTitle } from "../ui/title";
import { unfinished, useQueue, useUploadsElsewhere } from "../upload/queue";

/** The key in the hash of a sign-in link, such as from labshelf demo, or "". Browsers do not send
    the hash to a server. */
export function keyInAddress(): string {
  const text = location.hash.slice(1);
  return text.startsWith("lsk_") ? text : "";
}

/** Requests a key, or confirms the key of a sign-in link. */
export function SignIn({ linkKey, done }: { linkKey: string; done: () => void }) {
  const { user } = useSession();
  useTitle("Sign in");
  useEffect(() => {
    if (linkKey) history.replaceState(null, "", location.pathname + location.search);
  }, [linkKey]);
  return linkKey && user ? <SwitchUser key={linkKey} linkKey={linkKey} user={user} done={done} /> : <KeyForm linkKey={linkKey} done={done} />;
}

/** Explains a failed sign-in. The service does not distinguish wrong, expired and revoked keys. */
function keyProblem(thrown: unknown): unknown {
  if (!(thrown instanceof Problem) || thrown.status !== 401) return thrown;
  return new Problem(401, thrown.code, "This key is not valid: it may be mistyped, expired or revoked. Check it, or ask your administrator for a new one.", "key");
}

const refuse = (thrown: unknown) => {
  throw keyProblem(thrown);
};

const nameOf = (user: User) => user.fullname || user.username;

/** Confirms before a link signs in another user, and shows that user: an attacker could send
    the link to receive later uploads. A key of the same user needs no confirmation. */
function SwitchUser({ linkKey, user, done }: { linkKey: string; user: User; done: () => void }) {
  const { signIn } = useSession();
  const { value: other, problem, reload } = useLoad(() => session.userOf(linkKey).catch(refuse), [linkKey]);
  const files = useUploadsElsewhere() + unfinished(useQueue());
  const own = other?.id === user.id;
  useEffect(() => {
    if (own) done();
  }, [own]);
  if (own || (!other && !problem)) return <Skeleton />;
  return (
    <section class="signin">
      <h1>Sign in as another user?</h1>
      <p>
        You are signed in as <strong>{nameOf(user)}</strong>
        {other && (
          <>
            . This link signs you in as <strong>{nameOf(other)}</strong>, in all windows of this browser
          </>
        )}
        .
      </p>
      {files > 0 && (
        <p class="note bad" role="alert">
          {plural(files, "file")} of {nameOf(user)} {files === 1 ? "is" : "are"} still being uploaded. Signing in as another user cancels that.
        </p>
      )}
      {problem && <ErrorMessage problem={problem} {...(problem.status !== 401 && { retry: reload })} />}
      <Form action={other ? `Sign in as ${nameOf(other)}` : "Sign in with the key of the link"} danger submit={() => signIn(linkKey).then(done, refuse)} onCancel={done} cancel={`Stay signed in as ${nameOf(user)}`}>
        {() => null}
      </Form>
    </section>
  );
}

/** Signs in again over a page with unsaved input, which is hidden in the meantime. For the same user
    the page then continues; for another user the document is loaded anew. */
export function SignInAgain() {
  return (
    <Dialog title="Sign in again" onClose={() => location.reload()} stays>
      <KeyForm linkKey="" done={() => {}} kept />
    </Dialog>
  );
}

/** Signs in with a key. The key of a link is submitted immediately if no user is signed in. */
function KeyForm({ linkKey, done, kept = false }: { linkKey: string; done: () => void; /** A page with unsaved input waits. */ kept?: boolean }) {
  const { signIn, ended, unended } = useSession();
  const { path } = useLocation();
  const key = useRef<HTMLInputElement>(null);

  useEffect(() => {
    if (!linkKey) return key.current?.focus();
    key.current!.value = linkKey;
    key.current!.form!.requestSubmit();
  }, []);

  const submit = async () => {
    await signIn(key.current!.value.trim()).catch(refuse);
    done();
  };
  return (
    <section class="signin">
      {!kept && (
        <>
          <h1>Sign in</h1>
          <p class="dim">{path === "/signin" || path === "/" ? "Files of your lab, in one place." : "Sign in to see this page."}</p>
        </>
      )}
      {ended && (
        <p class="note" role="alert">
          Your session has ended: it expired, its key was revoked, or you signed out in another tab. Sign in again to continue.
          {kept && " What you typed is kept, and not saved yet."}
        </p>
      )}
      {unended && (
        <p class="note bad" role="alert">
          You are signed out of this browser, but the service could not end your session: {unended.detail}. A copy of its cookie stays valid until it
          expires. If someone may have copied it, revoke the key that you signed in with as soon as the service accepts changes again.
        </p>
      )}
      <Form action="Sign in" submit={submit}>
        {(errorOf) => (
          <Field
            label="Your API key"
            error={errorOf("key")}
            hint={
              <>
                It begins with <code>lsk_</code>. The administrator of this service gives you one; the first one is in{" "}
                <code>initial-admin.key</code> in the data directory.
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

import { useEffect, useRef } from "preact/hooks";
import { go, usePlace } from "../router";
import { useSession } from "../session";
import { about, Field, Form } from "../ui/basics";

/**
 * Trades a key for a session. A link may bring the key behind its # (labshelf demo prints such links): that part is sent to no
 * server; it is taken off the address at once.
 */
export function SignIn() {
  const { signIn } = useSession();
  const { path } = usePlace();
  const key = useRef<HTMLInputElement>(null);

  useEffect(() => {
    document.title = "Sign in · labshelf";
    const given = decodeURIComponent(location.hash.slice(1));
    if (!given.startsWith("lsk_")) return key.current?.focus();
    history.replaceState(null, "", location.pathname + location.search);
    key.current!.value = given;
    key.current!.form!.requestSubmit();
  }, []);

  const submit = async () => {
    await signIn(key.current!.value.trim());
    if (path === "/signin") go(new URLSearchParams(location.search).get("to") || "/", { replace: true });
  };
  return (
    <section class="signin">
      <h1>Sign in</h1>
      <p class="dim">
        {path === "/signin" || path === "/" ? "Files of your lab, in one place." : "This page is for people who are signed in. You will come back to it."}
      </p>
      <Form action="Sign in" submit={submit}>
        {(problem) => (
          <Field
            label="Your API key"
            error={about(problem, "key")}
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

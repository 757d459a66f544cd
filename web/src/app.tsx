import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { signIn, signOut, whoAmI, type Session } from "./client";

function message(err: unknown): string {
  return err instanceof Error ? err.message : String(err);
}

function SignIn({ done }: { done: (session: Session) => void }) {
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const key = new FormData(event.currentTarget as HTMLFormElement).get("key");
    setBusy(true);
    try {
      done(await signIn(String(key ?? "").trim()));
    } catch (err) {
      setFailure(message(err));
      setBusy(false);
    }
  };
  return (
    <form onSubmit={submit}>
      <label for="key">Key</label>
      <input id="key" name="key" type="password" autocomplete="current-password" required />
      <button disabled={busy}>Sign in</button>
      {failure && <p role="alert">{failure}</p>}
    </form>
  );
}

function App() {
  const [session, setSession] = useState<Session | null>();
  const [failure, setFailure] = useState("");
  useEffect(() => {
    whoAmI().then(setSession, (err) => setFailure(message(err)));
  }, []);
  const leave = () => signOut().then(() => setSession(null), (err) => setFailure(message(err)));
  return (
    <>
      <h1>labshelf</h1>
      {failure && <p role="alert">{failure}</p>}
      {session === null && <SignIn done={setSession} />}
      {session && (
        <p>
          Signed in as {session.username}. <button onClick={leave}>Sign out</button>
        </p>
      )}
    </>
  );
}

render(<App />, document.getElementById("app")!);

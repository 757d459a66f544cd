// The session of the signed-in user. No script can read its cookie; the pages only know the
// response of GET /users/me.
import type { ComponentChildren } from "preact";
import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { Problem, User } from "./api";
import { base, session, whenSignedOut } from "./api";
import { listen } from "./events";
import { hasUnsavedInput } from "./router";
import { asProblem } from "./ui/load";

export interface Session {
  /** The signed-in user. */
  user: User | undefined;
  /** The user whose session ended other than by signing out in this tab: it expired, its key was revoked, or another tab signed out. */
  ended: User | undefined;
  /** The session ended while the page had unsaved input: the page stays until the user has signed in again. */
  kept: boolean;
  /** The reason why the service could not end the session at sign-out. The browser no longer has
      the cookie, but a copy of it would still be valid. */
  unended: Problem | undefined;
  signIn: (key: string) => Promise<void>;
  /** Throws a Problem if the user is still signed in, or may be. */
  signOut: () => Promise<void>;
  /** Replaces the record of the signed-in user after a change. */
  setUser: (user: User) => void;
}

const Context = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(Context);
  if (!session) throw new Error("useSession needs a SessionProvider");
  return session;
}

/** The signed-in user, on pages that need one; while a page is kept, the user whose session ended. */
export function useMe(): User {
  const { user: now, ended } = useSession();
  const user = now ?? ended;
  if (!user) throw new Error("useMe needs a signed-in user");
  return user;
}

interface ProviderProps {
  children: ComponentChildren;
  /** Shown until the user is known. */
  waiting: ComponentChildren;
  /** Shown if the user cannot be determined. */
  failed: (problem: Problem, retry: () => void) => ComponentChildren;
}

/** All tabs share the session: each notifies the others after signing in or out. */
const tabs = new BroadcastChannel(`labshelf${base}`);

/** Calls `update` when another tab has signed in or out, and when this one becomes visible. */
function useSessionEvents(update: () => Promise<void>) {
  useEffect(() => listen(tabs, "message", update), []);
  useEffect(() => listen(document, "visibilitychange", () => document.visibilityState === "visible" && update()), []);
}

type Next = "" | "reload" | "home";

/** Loads a new document with the same address or the home page, so that the next user sees no
    data of the last one. The pages are unmounted first, so that their leave guards do not ask. */
function useNextDocument(): [Next, (next: Next) => void] {
  const [next, setNext] = useState<Next>("");
  useEffect(() => {
    if (next === "reload") location.reload();
    if (next === "home") location.assign(`${base}/`);
  }, [next]);
  // The Back button can restore this document from the browser's cache.
  useEffect(() => listen(window, "pageshow", (e: PageTransitionEvent) => void (e.persisted && setNext(""))), []);
  return [next, setNext];
}

export function SessionProvider({ children, waiting, failed }: ProviderProps) {
  const [{ user, ended, kept = false, unended }, setState] = useState<{ user?: User; ended?: User; kept?: boolean; unended?: Problem }>({});
  const [known, setKnown] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const [next, setNext] = useNextDocument();
  const owner = useRef(""); // the id of the user whose data this document shows
  const lastRequest = useRef(0); // answers to earlier requests are dropped

  const load = async () => {
    const request = ++lastRequest.current;
    const me = await session.me();
    if (request !== lastRequest.current) return;
    if (owner.current && owner.current !== me.id) return setNext("reload");
    owner.current = me.id;
    setState({ user: me });
    setKnown(true);
  };
  const update = async () => {
    setProblem(undefined);
    await load().catch((e) => {
      const p = asProblem(e);
      if (p.status === 401) setKnown(true);
      else setProblem(p);
    });
  };
  useEffect(() => {
    whenSignedOut(() => setState((was) => (was.user ? { ended: was.user, kept: hasUnsavedInput() } : was)));
    void update();
  }, []);
  useSessionEvents(update);

  if (!known && problem) return <>{failed(problem, update)}</>;
  if (!known || next) return <>{waiting}</>;
  const value: Session = {
    user,
    ended,
    kept,
    unended,
    setUser: (user) => setState({ user }),
    async signIn(key) {
      await session.signIn(key);
      tabs.postMessage("signed in");
      await load();
    },
    async signOut() {
      const unended = await session.signOut().then(() => undefined, onlyIfSignedOut);
      tabs.postMessage("signed out");
      lastRequest.current++;
      setState(unended ? { unended } : {});
      if (!unended) setNext("home");
    },
  };
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

/** Returns the error of signing out if the browser is signed out nevertheless; otherwise throws it.
 */
async function onlyIfSignedOut(thrown: unknown): Promise<Problem> {
  const signedOut = await session.me().then(() => false, (e) => asProblem(e).status === 401);
  if (!signedOut) throw thrown;
  return asProblem(thrown);
}

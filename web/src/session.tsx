// Who is signed in. The cookie is the browser's and no script sees it; what the pages know is what GET /users/me says.
import type { ComponentChildren } from "preact";
import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { Problem, User } from "./api";
import { base, session, whenSignedOut } from "./api";
import { asProblem } from "./ui/load";

export interface Session {
  /** Undefined until somebody signs in. */
  user: User | undefined;
  /** Whose session came to an end without their doing here: it ran out, its key was revoked, or they signed out in another tab. */
  ended: User | undefined;
  /** Why the service could not end the session of who has signed out: it has taken the cookie away, but a copy would still count. */
  unended: Problem | undefined;
  signIn: (key: string) => Promise<void>;
  /** Throws a Problem where whoever is signed in still is afterwards, or may be. */
  signOut: () => Promise<void>;
  /** Takes over a change of one's own record. */
  changed: (user: User) => void;
}

const Context = createContext<Session | undefined>(undefined);

/** Whoever is signed in. */
export function useSession(): Session {
  const found = useContext(Context);
  if (!found) throw new Error("useSession is only for what is within SessionProvider");
  return found;
}

/** Whoever is signed in, where nobody else comes. */
export function useMe(): User {
  const { user } = useSession();
  if (!user) throw new Error("useMe is only for pages of those who are signed in");
  return user;
}

interface ProviderProps {
  children: ComponentChildren;
  /** Shown until it is known who calls. */
  waiting: ComponentChildren;
  /** Shown where it cannot be found out. */
  failed: (problem: Problem, retry: () => void) => ComponentChildren;
}

/** All tabs have the same session: each tells the others when somebody has signed in or out in it. */
const tabs = new BroadcastChannel(`labshelf${base}`);

/** Calls look when another tab has signed in or out, and when this one comes to the front. */
function useOccasions(look: () => Promise<void>) {
  useEffect(() => {
    const lookIfSeen = () => void (document.visibilityState === "visible" && look());
    tabs.addEventListener("message", look);
    document.addEventListener("visibilitychange", lookIfSeen);
    return () => {
      tabs.removeEventListener("message", look);
      document.removeEventListener("visibilitychange", lookIfSeen);
    };
  }, []);
}

type Next = "" | "again" | "start";

/**
 * The document that follows this one: the same address or the first page, in a new one, so that nothing that was shown to one person
 * stays for the next. Nothing of the pages may be shown by then: what they held back goes with them, and asks nobody to stay.
 */
function useNext(): [Next, (next: Next) => void] {
  const [next, setNext] = useState<Next>("");
  useEffect(() => {
    if (next === "again") location.reload();
    if (next === "start") location.assign(`${base}/`);
  }, [next]);
  useEffect(() => {
    const comeBack = (e: PageTransitionEvent) => void (e.persisted && setNext("")); // the browser had kept this document
    addEventListener("pageshow", comeBack);
    return () => removeEventListener("pageshow", comeBack);
  }, []);
  return [next, setNext];
}

export function SessionProvider({ children, waiting, failed }: ProviderProps) {
  const [{ user, ended, unended }, setWho] = useState<{ user?: User; ended?: User; unended?: Problem }>({});
  const [known, setKnown] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const [next, setNext] = useNext();
  const owner = useRef(""); // whoever has been shown something in this document
  const turn = useRef(0); // only the answer to the last question counts

  const ask = async () => {
    const mine = ++turn.current;
    const found = await session.me();
    if (mine !== turn.current) return;
    if (owner.current && owner.current !== found.id) return setNext("again");
    owner.current = found.id;
    setWho({ user: found });
    setKnown(true);
  };
  const look = async () => {
    setProblem(undefined);
    await ask().catch((e) => {
      const p = asProblem(e);
      if (p.status === 401) setKnown(true);
      else setProblem(p);
    });
  };
  useEffect(() => {
    whenSignedOut(() => setWho((was) => (was.user ? { ended: was.user } : was)));
    void look();
  }, []);
  useOccasions(look);

  if (!known && problem) return <>{failed(problem, look)}</>;
  if (!known || next) return <>{waiting}</>;
  const value: Session = {
    user,
    ended,
    unended,
    changed: (user) => setWho({ user }),
    async signIn(key) {
      await session.signIn(key);
      tabs.postMessage("signed in");
      await ask();
    },
    async signOut() {
      const unended = await session.signOut().then(() => undefined, onlyIfSignedOut);
      tabs.postMessage("signed out");
      turn.current++;
      setWho(unended ? { unended } : {});
      if (!unended) setNext("start");
    },
  };
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

/** What went wrong with signing out, where this browser has signed out all the same. Else it is thrown. */
async function onlyIfSignedOut(thrown: unknown): Promise<Problem> {
  const gone = await session.me().then(() => false, (e) => asProblem(e).status === 401);
  if (!gone) throw thrown;
  return asProblem(thrown);
}

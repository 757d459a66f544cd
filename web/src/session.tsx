// Who is signed in. The cookie is the browser's and no script sees it; what the pages know is what GET /users/me says.
import type { ComponentChildren } from "preact";
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Problem, User } from "./api";
import { session, whenSignedOut } from "./api";
import { asProblem } from "./ui/load";

export interface Session {
  /** Nobody, until he signs in. */
  user: User | undefined;
  /** Whose session came to an end without his doing: it ran out, or its key was revoked. */
  ended: User | undefined;
  signIn: (key: string) => Promise<void>;
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

export function SessionProvider({ children, waiting, failed }: ProviderProps) {
  const [{ user, ended }, setWho] = useState<{ user?: User; ended?: User }>({});
  const [known, setKnown] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();

  const look = async () => {
    setProblem(undefined);
    try {
      setWho({ user: await session.me() });
      setKnown(true);
    } catch (e) {
      const p = asProblem(e);
      if (p.status === 401) setKnown(true);
      else setProblem(p);
    }
  };
  useEffect(() => {
    whenSignedOut(() => setWho((was) => (was.user ? { ended: was.user } : was)));
    void look();
  }, []);

  if (problem) return <>{failed(problem, look)}</>;
  if (!known) return <>{waiting}</>;
  const value: Session = {
    user,
    ended,
    changed: (user) => setWho({ user }),
    async signIn(key) {
      await session.signIn(key);
      setWho({ user: await session.me() });
    },
    async signOut() {
      await session.signOut();
      setWho({});
    },
  };
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

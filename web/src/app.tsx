// The frame around every page, and the table of pages.
import type { ComponentType } from "preact";
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "./api";
import { go, inside, Link, match, usePlace } from "./router";
import { SessionProvider, useSession } from "./session";
import { keyInAddress, SignIn } from "./pages/signin";
import { Home } from "./pages/home";
import { DataspacePage } from "./pages/dataspace";
import { SetPage } from "./pages/set";
import { ResourcePage } from "./pages/resource";
import { refuseDrops } from "./put/drop";
import { Uploads } from "./put/panel";
import { queue } from "./put/queue";
import { Button, Dialog, Failed, Waiting } from "./ui/basics";
import { Icon, type IconName } from "./ui/icons";
import { asProblem } from "./ui/load";
import { applyTheme, ThemeSwitch } from "./ui/theme";

export type PageProps = { params: Record<string, string> };
type Page = ComponentType<PageProps>;

interface Row {
  path: string;
  /** Part of the first script, or fetched when it is first visited. */
  page: Page | (() => Promise<Page>);
  lazy?: true;
  /** Also for those who have not signed in. */
  open?: true;
}

const later = (load: () => Promise<Page>) => ({ page: load, lazy: true }) as const;

/** All pages. The service answers each of these paths with the shell (handlers, package web). */
const pages: Row[] = [
  { path: "/", page: Home },
  { path: "/dataspaces/:did", page: DataspacePage },
  { path: "/sets/:sid", page: SetPage },
  { path: "/resources/:rid", page: ResourcePage },
  { path: "/dataspaces/:did/members", ...later(() => import("./pages/members").then((m) => m.MembersPage)) },
  { path: "/trash", ...later(() => import("./pages/trash").then((m) => m.TrashPage)) },
  { path: "/usage", ...later(() => import("./pages/usage").then((m) => m.UsagePage)) },
  { path: "/account", ...later(() => import("./pages/account").then((m) => m.AccountPage)) },
  { path: "/users", ...later(() => import("./pages/users").then((m) => m.UsersPage)) },
  { path: "/service", ...later(() => import("./pages/service").then((m) => m.ServicePage)) },
  { path: "/docs", ...later(() => import("./pages/guide").then((m) => m.GuidePage)), open: true },
  { path: "/docs/interface", ...later(() => import("./pages/reference").then((m) => m.ReferencePage)), open: true },
];

const links: { to: string; label: string; icon: IconName; sysadmin?: true }[] = [
  { to: "/", label: "Browse", icon: "dataspace" },
  { to: "/trash", label: "Trash", icon: "trash" },
  { to: "/usage", label: "Usage", icon: "chart" },
  { to: "/users", label: "Users", icon: "people", sysadmin: true },
  { to: "/service", label: "Service", icon: "server", sysadmin: true },
  { to: "/docs", label: "Help", icon: "book" },
];

function App() {
  const { path, query } = usePlace();
  const { user, ended } = useSession();
  const [row, params] = find(path);
    const [given, setGiven] = useGivenKey();
  const signIn = path === "/signin" || !!given || (!user && !row?.open);
  const main = useRef<HTMLElement>(null);

  useEffect(() => {
    if (user && path === "/signin" && !given) go(inside(query.get("to")), { replace: true });
  }, [user, path, given]);
  useEffect(() => {
    if (user) queue.resume();
    else if (!ended) queue.drop();
  }, [user?.id, ended?.id]);
  useEffect(() => () => queue.drop(), []); // somebody else has signed in
  const first = useRef(true);
  useEffect(() => {
    // Who reads by ear, or goes by keys, begins a new page at its start.
    if (!first.current && !main.current!.contains(document.activeElement)) main.current!.focus({ preventScroll: true });
    first.current = false;
  }, [path, !user]);

  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Bar path={path} />
      <main id="main" tabIndex={-1} ref={main}>
        {signIn ? (
          user && !given ? null : <SignIn given={given} done={() => setGiven("")} />
        ) : row ? (
          <Shown key={path} row={row} params={params} />
        ) : (
          <Nowhere />
        )}
      </main>
      {(user || ended) && <Uploads />}
    </>
  );
}

/** The key that a link brings: also one that is opened in this window, where the browser only tells that the address has changed. */
function useGivenKey() {
  const [given, setGiven] = useState(keyInAddress);
  useEffect(() => {
    const look = () => keyInAddress() && setGiven(keyInAddress());
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  return [given, setGiven] as const;
}

function Nowhere() {
  useEffect(() => {
    document.title = "No such page · labshelf";
  }, []);
  return (
    <>
      <h1>There is no such page</h1>
      <p>
        <Link to="/">Go to the dataspaces</Link>
      </p>
    </>
  );
}

function find(path: string): [Row | undefined, Record<string, string>] {
  for (const row of pages) {
    const params = match(row.path, path);
    if (params) return [row, params];
  }
  return [undefined, {}];
}

const missing = new Problem(0, "script", "This page could not be fetched. The service may be restarting, or has been upgraded.");

/** A page; its script is fetched first where it is not here yet. */
function Shown({ row, params }: { row: Row; params: Record<string, string> }) {
  const [page, setPage] = useState<{ Page: Page } | undefined>(row.lazy ? undefined : { Page: row.page as Page });
  const [problem, setProblem] = useState<Problem | undefined>();
  useEffect(() => {
    if (row.lazy) (row.page as () => Promise<Page>)().then((Page) => setPage({ Page }), () => setProblem(missing));
  }, [row]);
  // A browser may remember a script that it could not fetch; and after an upgrade of the service this one is gone.
  if (problem) return <Failed problem={problem} retry={() => location.reload()} />;
  if (!page) return <Waiting />;
  return <page.Page params={params} />;
}

function Bar({ path }: { path: string }) {
  const { user, signOut } = useSession();
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  const here = (to: string) => (to === "/" ? !links.some((l) => l.to !== "/" && path.startsWith(l.to)) : path.startsWith(to));
  const [problem, setProblem] = useState<Problem | undefined>();
  const leave = () => {
    if (queue.totals().running && !confirm("Files are still being uploaded. Sign out and leave the rest?")) return;
    setProblem(undefined);
    signOut().catch((thrown) => setProblem(asProblem(thrown)));
  };
  return (
    <header class="bar">
      <Link to="/" class="brand">
        <span class="mark" aria-hidden="true" />
        labshelf
      </Link>
      {user && (
        <Button kind="quiet" icon="menu" class="burger" aria-expanded={open} aria-controls="menu" onClick={() => setOpen(!open)}>
          Menu
        </Button>
      )}
      {user && (
        <nav id="menu" aria-label="Main" class={open ? "open" : ""}>
          {links
            .filter((l) => !l.sysadmin || user.sysadmin)
            .map((l) => (
              <Link key={l.to} to={l.to} aria-current={here(l.to) ? "page" : undefined}>
                <Icon name={l.icon} />
                {l.label}
              </Link>
            ))}
        </nav>
      )}
      <div class="end">
        <ThemeSwitch />
        {user ? (
          <>
            <Link to="/account" class="me" title="Your account and keys" aria-current={path === "/account" ? "page" : undefined}>
              <Icon name="user" />
              <span>{user.fullname || user.username}</span>
            </Link>
            <Button kind="quiet" class="leave" title="Sign out" onClick={leave}>
              <Icon name="leave" />
              <span>Sign out</span>
            </Button>
          </>
        ) : (
          <Link to="/docs">Help</Link>
        )}
      </div>
      {problem && <StillSignedIn problem={problem} retry={leave} close={() => setProblem(undefined)} />}
    </header>
  );
}

/** Where the session could not be ended, as far as one knows here: no script can take its cookie away, and it outlives the windows. */
function StillSignedIn({ problem, retry, close }: { problem: Problem; retry: () => void; close: () => void }) {
  return (
    <Dialog title="You are still signed in" onClose={close}>
      <Failed problem={problem} />
      <p>
        The service could not end your session. Whoever uses this browser next can do what you can, also after it was closed. Try again later. If somebody
        else uses it before that, delete the cookies of this site in the settings of the browser: without them nobody is signed in here.
      </p>
      <div class="actions">
        <Button onClick={close}>Stay signed in</Button>
        <Button kind="primary" icon="retry" onClick={retry}>
          Try again
        </Button>
      </div>
    </Dialog>
  );
}

applyTheme();
refuseDrops();
render(
  <SessionProvider waiting={<Waiting />} failed={(problem, retry) => <Failed problem={problem} retry={retry} />}>
    <App />
  </SessionProvider>,
  document.getElementById("app")!,
);

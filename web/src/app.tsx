// The frame around every page, and the table of pages.
import type { ComponentType } from "preact";
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "./api";
import { go, Link, match, usePlace } from "./router";
import { SessionProvider, useSession } from "./session";
import { SignIn } from "./pages/signin";
import { Home } from "./pages/home";
import { DataspacePage } from "./pages/dataspace";
import { SetPage } from "./pages/set";
import { ResourcePage } from "./pages/resource";
import { Uploads } from "./put/panel";
import { Button, Empty, Failed, Waiting } from "./ui/basics";
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
  const { user } = useSession();
  const [row, params] = find(path);
  const signIn = path === "/signin" || (!user && !row?.open);

  useEffect(() => {
    if (user && path === "/signin") go(query.get("to") || "/", { replace: true });
  }, [user, path]);

  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Bar path={path} />
      <main id="main" tabIndex={-1}>
        {signIn ? (
          user ? null : <SignIn />
        ) : row ? (
          <Shown key={path} row={row} params={params} />
        ) : (
          <Empty icon="warning" title="There is no such page">
            <Link to="/">Go to the dataspaces</Link>
          </Empty>
        )}
      </main>
      {user && <Uploads />}
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

/** A page; its script is fetched first where it is not here yet. */
function Shown({ row, params }: { row: Row; params: Record<string, string> }) {
  const [page, setPage] = useState<{ Page: Page } | undefined>(row.lazy ? undefined : { Page: row.page as Page });
  const [problem, setProblem] = useState<Problem | undefined>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (!row.lazy) return;
    setProblem(undefined);
    (row.page as () => Promise<Page>)().then((Page) => setPage({ Page }), (thrown) => setProblem(asProblem(thrown)));
  }, [row, turn]);
  if (problem) return <Failed problem={problem} retry={() => setTurn((t) => t + 1)} />;
  if (!page) return <Waiting />;
  return <page.Page params={params} />;
}

function Bar({ path }: { path: string }) {
  const { user, signOut } = useSession();
  const [open, setOpen] = useState(false);
  const menu = useRef<HTMLElement>(null);
  useEffect(() => setOpen(false), [path]);
  const here = (to: string) => (to === "/" ? !links.some((l) => l.to !== "/" && path.startsWith(l.to)) : path.startsWith(to));
  const [problem, setProblem] = useState<Problem | undefined>();
  const leave = () => signOut().then(() => go("/"), (thrown) => setProblem(asProblem(thrown)));
  return (
    <header class="bar">
      <Link to="/" class="brand">
        <span class="mark" aria-hidden="true" />
        labshelf
      </Link>
      {user && (
        <Button kind="quiet" class="burger" aria-expanded={open} aria-controls="menu" onClick={() => setOpen(!open)}>
          Menu
        </Button>
      )}
      {user && (
        <nav id="menu" aria-label="Main" class={open ? "open" : ""} ref={menu}>
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
            <Link to="/account" class="me" title="Your account and keys">
              <Icon name="user" />
              <span>{user.fullname || user.username}</span>
            </Link>
            <Button kind="quiet" onClick={leave}>
              Sign out
            </Button>
          </>
        ) : (
          <Link to="/docs">Help</Link>
        )}
      </div>
      {problem && <Failed problem={problem} />}
    </header>
  );
}

applyTheme();
render(
  <SessionProvider waiting={<Waiting />} failed={(problem, retry) => <Failed problem={problem} retry={retry} />}>
    <App />
  </SessionProvider>,
  document.getElementById("app")!,
);

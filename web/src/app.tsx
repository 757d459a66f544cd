// The entry point: the table of pages, and the layout around every page.
import type { ComponentType } from "preact";
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { anonymous, dataspaces, Problem, resources, sets } from "./api";
import { listen } from "./events";
import { SearchBox } from "./find/box";
import { KeyboardHelp } from "./keyboard/help";
import { follow } from "./live";
import { DataspacePage } from "./pages/dataspace";
import { Home } from "./pages/home";
import type { PageProps } from "./pages/props";
import { SetPage } from "./pages/set";
import { keyInAddress, SignIn, SignInAgain } from "./pages/signin";
import { insideOrRoot, Link, match, navigate, useLocation } from "./router";
import { OpenDataspaces, type OpenObject, OpenPage } from "./open";
import { SessionProvider, useSession } from "./session";
import { Button, ErrorMessage, Skeleton } from "./ui/components";
import { Dialog } from "./ui/dialog";
import { Icon, type IconName } from "./ui/icons";
import { useAction } from "./ui/load";
import { Notices } from "./ui/notice";
import { applyTheme, ThemeSwitch } from "./ui/theme";
import { useTitle } from "./ui/title";
import { refuseDrops } from "./upload/window";
import { Uploads } from "./upload/panel";
import { queue } from "./upload/queue";

type Page = ComponentType<PageProps>;

interface Route {
  path: string;
  /** The page, or the function that loads its script at the first visit. */
  page: Page | (() => Promise<Page>);
  lazy?: true;
  /** Requires no session. */
  public?: true;
  /** The subject of the page. If it is open, the page requires no session. */
  open?: (params: Record<string, string>) => Promise<OpenObject>;
}

const lazy = (load: () => Promise<Page>) => ({ page: load, lazy: true }) as const;

/** All pages. The service answers each of these paths with the shell (handlers, package web). */
const pages: Route[] = [
  { path: "/", page: Home },
  { path: "/dataspaces/:did", page: DataspacePage, open: (p) => dataspaces.get(p.did!) },
  { path: "/sets/:sid", page: SetPage, open: (p) => sets.get(p.sid!) },
  { path: "/resources/:rid", ...lazy(() => import("./pages/resource").then((m) => m.ResourcePage)), open: (p) => resources.get(p.rid!) },
  { path: "/resources/:rid/versions/:number", ...lazy(() => import("./pages/version").then((m) => m.VersionPage)) },
  { path: "/dataspaces/:did/history", ...lazy(() => import("./pages/history").then((m) => m.DataspaceHistory)) },
  { path: "/sets/:sid/history", ...lazy(() => import("./pages/history").then((m) => m.SetHistory)) },
  { path: "/resources/:rid/history", ...lazy(() => import("./pages/history").then((m) => m.ResourceHistory)) },
  { path: "/audit", ...lazy(() => import("./pages/audit").then((m) => m.AuditPage)) },
  { path: "/webhooks", ...lazy(() => import("./pages/webhooks").then((m) => m.WebhooksPage)) },
  { path: "/webhooks/:wid", ...lazy(() => import("./pages/deliveries").then((m) => m.DeliveriesPage)) },
  { path: "/dataspaces/:did/members", ...lazy(() => import("./pages/members").then((m) => m.MembersPage)) },
  { path: "/dataspaces/:did/schemas/new", ...lazy(() => import("./pages/schemabuilder").then((m) => m.NewSchemaPage)) },
  { path: "/schemas/:kid", ...lazy(() => import("./pages/schema").then((m) => m.SchemaPage)) },
  { path: "/schemas/:kid/edit", ...lazy(() => import("./pages/schemabuilder").then((m) => m.EditSchemaPage)) },
  { path: "/sets/:sid/file", ...lazy(() => import("./pages/named").then((m) => m.NamedFilePage)), open: (p) => sets.get(p.sid!) },
  { path: "/sets/:sid/table", ...lazy(() => import("./pages/table").then((m) => m.TablePage)) },
  { path: "/search", ...lazy(() => import("./pages/search").then((m) => m.SearchPage)) },
  { path: "/links", ...lazy(() => import("./pages/links").then((m) => m.LinksPage)) },
  { path: "/trash", ...lazy(() => import("./pages/trash").then((m) => m.TrashPage)) },
  { path: "/usage", ...lazy(() => import("./pages/usage").then((m) => m.UsagePage)) },
  { path: "/account", ...lazy(() => import("./pages/account").then((m) => m.AccountPage)) },
  { path: "/users", ...lazy(() => import("./pages/users").then((m) => m.UsersPage)) },
  { path: "/service", ...lazy(() => import("./pages/service").then((m) => m.ServicePage)) },
  { path: "/docs", ...lazy(() => import("./pages/guide").then((m) => m.GuidePage)), public: true },
  { path: "/docs/interface", ...lazy(() => import("./pages/reference").then((m) => m.ReferencePage)), public: true },
  { path: "/docs/:page", ...lazy(() => import("./pages/manual").then((m) => m.ManualPage)), public: true },
];

const links: { to: string; label: string; icon: IconName; sysadmin?: true }[] = [
  { to: "/", label: "Browse", icon: "dataspace" },
  { to: "/links", label: "Links", icon: "share" },
  { to: "/trash", label: "Trash", icon: "trash" },
  { to: "/usage", label: "Usage", icon: "chart" },
  { to: "/users", label: "Users", icon: "people", sysadmin: true },
  { to: "/audit", label: "Audit log", icon: "clock", sysadmin: true },
  { to: "/webhooks", label: "Webhooks", icon: "link", sysadmin: true },
  { to: "/service", label: "Service", icon: "server", sysadmin: true },
  { to: "/docs", label: "Help", icon: "book" },
];

function App() {
  const { path, query } = useLocation();
  const { user, ended, kept } = useSession();
  const [route, params] = routeOf(path);
  const [linkKey, setLinkKey] = useLinkKey();
  const mayBeOpen = anonymous && !user && !ended && !!route?.open;
  const signIn = path === "/signin" || !!linkKey || (!user && !kept && !route?.public && !mayBeOpen);
  const main = useRef<HTMLElement>(null);

  useEffect(() => {
    if (user && path === "/signin" && !linkKey) navigate(insideOrRoot(query.get("to")), { replace: true });
  }, [user, path, linkKey]);
  useEffect(() => {
    if (user) queue.resume();
    else if (!ended) queue.drop();
  }, [user?.id, ended?.id]);
  useEffect(() => (user ? follow(user.id) : undefined), [user?.id]);
  useEffect(() => () => queue.drop(), []); // another user has signed in
  const first = useRef(true);
  useEffect(() => {
    // Screen readers and the keyboard start at the beginning of a new page.
    if (!first.current && !main.current!.contains(document.activeElement)) main.current!.focus({ preventScroll: true });
    first.current = false;
  }, [path, !user]);

  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Bar path={path} />
      <main id="main" tabIndex={-1} ref={main} hidden={kept}>
        {signIn ? (
          user && !linkKey ? null : (
            <>
              <SignIn linkKey={linkKey} done={() => setLinkKey("")} />
              {anonymous && path === "/" && <OpenDataspaces />}
            </>
          )
        ) : mayBeOpen ? (
          <OpenPage key={path} load={() => route.open!(params)} signIn={<SignIn linkKey="" done={() => {}} />}>
            <RoutedPage route={route} params={params} />
          </OpenPage>
        ) : route ? (
          <RoutedPage key={path} route={route} params={params} />
        ) : (
          <NotFound />
        )}
      </main>
      {kept && <SignInAgain />}
      {(user || ended) && <Uploads />}
      {user && <Notices />}
      <KeyboardHelp />
    </>
  );
}

/** The key in a sign-in link, also if the link is opened in this window, where the document stays and only the hash changes. */
function useLinkKey() {
  const [key, setKey] = useState(keyInAddress);
  useEffect(() => listen(window, "hashchange", () => keyInAddress() && setKey(keyInAddress())), []);
  return [key, setKey] as const;
}

function NotFound() {
  useTitle("Page not found");
  return (
    <>
      <h1>Page not found</h1>
      <p>
        <Link to="/">Go to the dataspaces</Link>
      </p>
    </>
  );
}

function routeOf(path: string): [Route | undefined, Record<string, string>] {
  for (const route of pages) {
    const params = match(route.path, path);
    if (params) return [route, params];
  }
  return [undefined, {}];
}

const missing = new Problem(0, "script", "This page could not be loaded. The service may be restarting, or has been upgraded.");

/** A page; a lazy page is loaded first. */
function RoutedPage({ route, params }: { route: Route; params: Record<string, string> }) {
  const [page, setPage] = useState<{ Page: Page } | undefined>(route.lazy ? undefined : { Page: route.page as Page });
  const [problem, setProblem] = useState<Problem | undefined>();
  useEffect(() => {
    if (route.lazy) (route.page as () => Promise<Page>)().then((Page) => setPage({ Page }), () => setProblem(missing));
  }, [route]);
  // A reload, because browsers cache a script that failed to load, and because an upgrade of the service removes old scripts.
  if (problem) return <ErrorMessage problem={problem} retry={() => location.reload()} />;
  if (!page) return <Skeleton />;
  return <page.Page params={params} />;
}

function Bar({ path }: { path: string }) {
  const { user, signOut } = useSession();
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  const isCurrent = (to: string) => (to === "/" ? path !== "/search" && !links.some((l) => l.to !== "/" && path.startsWith(l.to)) : path.startsWith(to));
  const { run, problem, dismiss } = useAction(signOut);
  const leave = () => {
    if (queue.totals().running && !confirm("Files are still being uploaded. Sign out and cancel the rest?")) return;
    void run();
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
              <Link key={l.to} to={l.to} aria-current={isCurrent(l.to) ? "page" : undefined}>
                <Icon name={l.icon} />
                {l.label}
              </Link>
            ))}
        </nav>
      )}
      {user && <SearchBox />}
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
          <>
            {path !== "/signin" && <Link to={`/signin?to=${encodeURIComponent(path)}`}>Sign in</Link>}
            <Link to="/docs">Help</Link>
          </>
        )}
      </div>
      {problem && <StillSignedIn problem={problem} retry={leave} close={dismiss} />}
    </header>
  );
}

/** Shown if the session may still be valid: no script can remove its cookie, which outlives the
    windows. */
function StillSignedIn({ problem, retry, close }: { problem: Problem; retry: () => void; close: () => void }) {
  return (
    <Dialog title="You are still signed in" onClose={close}>
      <ErrorMessage problem={problem} />
      <p>
        The service could not end your session. Anyone who uses this browser has your access, even after it is closed. Try again later. If somebody
        else uses the browser before that, delete the cookies of this site in its settings: that signs you out here.
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
const app = document.getElementById("app")!;
app.replaceChildren(); // the content that the service sends to clients without scripts
render(
  <SessionProvider waiting={<Skeleton />} failed={(problem, retry) => <ErrorMessage problem={problem} retry={retry} />}>
    <App />
  </SessionProvider>,
  app,
);

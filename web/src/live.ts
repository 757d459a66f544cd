// Live changes of the service: all windows of a browser share one stream of events. The window that
// holds the lock has the stream and forwards each event. When it closes, the next window resumes
// after the last event. A SharedWorker would do the same, but need another script. Over plain HTTP,
// browsers offer locks only on localhost. Then each visible window has its own stream, because a
// browser makes at most six connections to a service.
import { base, queryOf, root, session } from "./api";
import { listen } from "./events";

interface Change {
  /** The id of the event. */
  id: string;
  /** The action, such as resource.replace, or "reload": anything may have changed. */
  kind: string;
  object?: { kind: string; id: string };
  dataspaceId?: string;
  setId?: string;
}

/** The delay between a change and the requests that it triggers, in ms, to batch further changes.
 */
const debounce = 500;

/** The minimum time between two rounds of such requests, in ms. */
const interval = 2000;

/** The pause before a refused stream is requested again, in ms. After a broken connection, the
    browser reconnects automatically. */
const backoff = 10_000;

const listeners = new Set<() => void>();
let due = 0;
let fired = -interval;

/** Calls `refresh` after a change that the page may show, unless the window is hidden. Returns a
    function that ends this. */
export function onChange(refresh: () => void): () => void {
  listeners.add(refresh);
  return () => listeners.delete(refresh);
}

/** Whether the page at a path below the base path may show a change. */
function concerns(path: string, { kind, object, dataspaceId, setId }: Change): boolean {
  const of = object?.kind;
  if (kind === "reload") return true;
  const [, page, id] = /^\/(dataspaces|sets|resources)\/([^/]+)/.exec(path) ?? [];
  if (page === "dataspaces") return dataspaceId === id;
  if (page === "sets") return setId === id || of === "dataspace";
  if (page === "resources") return object?.id === id || of === "set" || of === "dataspace";
  const shown: Record<string, string> = { "/account": "key", "/users": "user" };
  return !shown[path] || shown[path] === of;
}

function announce(change: Change) {
  if (due || !concerns(location.pathname.slice(base.length), change)) return;
  due = setTimeout(fire, Math.max(debounce, fired + interval - performance.now()));
}

function fire() {
  due = 0;
  if (document.visibilityState !== "visible") return; // it is refreshed when it becomes visible
  if (document.querySelector("dialog[open]")) {
    due = setTimeout(fire, debounce); // no page is replaced during input
    return;
  }
  fired = performance.now();
  for (const refresh of listeners) refresh();
}

/** Follows the events of the signed-in user. Returns a function that ends this. */
export function follow(user: string): () => void {
  let end = () => {};
  const start = () => {
    end();
    end = share(`labshelf-events${base} ${user}`);
  };
  start();
  // A document in the back/forward cache has neither lock nor stream.
  const remove = [listen(window, "pagehide", () => end()), listen(window, "pageshow", (e: PageTransitionEvent) => e.persisted && start())];
  return () => {
    end();
    for (const each of remove) each();
  };
}

/** Shares a stream with the other windows. Returns a function that ends this for this window. */
function share(name: string): () => void {
  const control = new AbortController();
  const { signal } = control;
  const channel = new BroadcastChannel(name);
  let last = "";
  const take = (change: Change) => {
    last = change.id;
    announce(change);
  };
  const lead = (change: Change) => {
    take(change);
    if (!signal.aborted) channel.postMessage(change);
  };
  const hold = () =>
    new Promise<void>((release) => {
      const close = stream(() => last, lead);
      signal.addEventListener("abort", () => (close(), release()));
    });
  signal.addEventListener("abort", () => channel.close());
  if (navigator.locks) {
    channel.onmessage = (e: MessageEvent<Change>) => take(e.data);
    // aborted while it waited
    navigator.locks.request(name, { signal }, () => (signal.aborted ? undefined : hold())).catch(() => {});
  } else {
    whileVisible(signal, () => stream(() => last, take));
  }
  return () => control.abort();
}

/** Opens something while the window is visible, until the signal. */
function whileVisible(signal: AbortSignal, open: () => () => void) {
  let close: (() => void) | undefined;
  const update = () => {
    const wanted = document.visibilityState === "visible" && !signal.aborted;
    if (wanted) close ??= open();
    else close = void close?.();
  };
  const remove = listen(document, "visibilitychange", update);
  signal.addEventListener("abort", () => (remove(), update()));
  update();
}

/** Opens the stream after the event `after`. Returns a function that closes it. `data-events` of
    the document is "open" while this window has it. */
function stream(after: () => string, take: (change: Change) => void): () => void {
  const state = document.documentElement.dataset;
  let source: EventSource | undefined;
  let timer = 0;
  const open = () => {
    const opened = (source = new EventSource(`${root}/events${queryOf({ after: after() })}`));
    const hear = (e: MessageEvent<string>) => take({ ...JSON.parse(e.data), id: e.lastEventId });
    opened.addEventListener("change", hear);
    opened.addEventListener("reload", hear);
    opened.onopen = () => (state.events = "open");
    opened.onerror = () => {
      delete state.events;
      if (opened.readyState !== EventSource.CLOSED) return;
      session.me().catch(() => {}); // if the session has ended, this also ends the stream
      timer = setTimeout(open, backoff);
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    source?.close();
    delete state.events;
  };
}

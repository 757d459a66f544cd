// What changes in the service, while it changes: all windows of a browser share one stream of events. The window that holds the lock has the
// stream and passes each event on; when it is closed, the next one goes on behind the last event. A SharedWorker would do the same, and be a
// script of its own. Over plain HTTP, browsers have no locks except on this machine: then each window has a stream for as long as it is visible,
// since a browser makes six connections to a service at most.
import { base, queryOf, root, session } from "./api";
import { listen } from "./events";

interface Change {
  /** Of the event. */
  id: string;
  /** The action, such as resource.replace, or "reload": anything may have changed. */
  kind: string;
  object?: { kind: string; id: string };
  dataspaceId?: string;
  setId?: string;
}

/** The pause between a change and the requests for what it has changed, in which others may follow, in ms. */
const debounce = 500;

/** The time between two rounds of such requests at least, in ms. */
const interval = 2000;

/** The pause until a stream that was refused is requested again, in ms. Where the connection breaks, the browser reconnects by itself. */
const backoff = 10_000;

const listeners = new Set<() => void>();
let due = 0;
let fired = -interval;

/** Calls `refresh` some time after something has changed that the page may show, unless the window is hidden. Returns what ends that. */
export function onChange(refresh: () => void): () => void {
  listeners.add(refresh);
  return () => listeners.delete(refresh);
}

/** Whether the page at a path below the base path may show what has changed. */
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
  if (document.visibilityState !== "visible") return; // it is refreshed when it is shown
  if (document.querySelector("dialog[open]")) {
    due = setTimeout(fire, debounce); // no page is replaced behind what is being typed
    return;
  }
  fired = performance.now();
  for (const refresh of listeners) refresh();
}

/** Follows what the signed-in user hears of. Returns what ends that. */
export function follow(user: string): () => void {
  let end = () => {};
  const start = () => {
    end();
    end = share(`labshelf-events${base} ${user}`);
  };
  start();
  // A document that waits for the Back button has neither lock nor stream.
  const remove = [listen(window, "pagehide", () => end()), listen(window, "pageshow", (e: PageTransitionEvent) => e.persisted && start())];
  return () => {
    end();
    for (const each of remove) each();
  };
}

/** Shares a stream with the other windows. Returns what ends that for this window. */
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
    navigator.locks.request(name, { signal }, () => (signal.aborted ? undefined : hold())).catch(() => {}); // aborted while it waited
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

/** Opens the stream behind the event `after`. Returns what closes it. `data-events` of the document is "open" while this window has it. */
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
      session.me().catch(() => {}); // if the session has ended, this ends the stream, too
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

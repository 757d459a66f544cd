// Automatic requests: when a window regains the focus, after a change, and when the service
// recovers.
import { useEffect, useRef } from "preact/hooks";
import type { Problem } from "../api";
import { service } from "../api";
import { listen } from "../events";
import { onChange } from "../live";

/** Calls `refresh` when other clients have changed the shown data, and when the window is shown or
    focused, because events can have been missed. */
export function useRefreshOnFocus(refresh: () => void) {
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    let due = 0;
    const schedule = () => {
      if (document.visibilityState !== "visible") return;
      due ||= setTimeout(() => {
        due = 0;
        latest.current();
      });
    };
    const remove = listen(window, "visibilitychange focus", schedule); // of two visible windows only one has the focus
    const unfollow = onChange(schedule);
    return () => {
      clearTimeout(due);
      remove();
      unfollow();
    };
  }, []);
}

/** The first and the longest backoff between status requests, in ms. */
const minBackoff = 1000;
const maxBackoff = 15_000;

/** If a service fails again within this time of the last retry, in ms, it has not recovered: the
    backoff continues. */
const stableAfter = 60_000;

/** The time of the last automatic retry, and the backoff before it. */
const last = { at: -stableAfter, backoff: minBackoff };

/** Whether a problem is temporary: the service is unreachable or not ready. */
const isTemporary = ({ status, code }: Problem) => (status === 0 && code !== "cut_off") || status === 502 || status === 503 || status === 504;

/** Whether this document is the result of a reload. */
const isReloaded = () => (performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming | undefined)?.type === "reload";

/** Calls `retry` when the service answers again after a temporary problem. */
export function useRetryOnRecovery(problem: Problem, retry: (() => void) | undefined) {
  const latest = useRef(retry);
  latest.current = retry;
  useEffect(() => {
    if (!retry || !isTemporary(problem)) return;
    let timer = 0;
    let asking = false;
    let ended = false;
    let backoff = performance.now() - last.at < stableAfter ? Math.min(2 * last.backoff, maxBackoff) : minBackoff;
    // After an upgrade a script is missing although the service responds. A reload that did not
    // help is not repeated.
    let failing = problem.code !== "script" || !isReloaded();
    const probe = async () => {
      clearTimeout(timer);
      if (ended || asking || document.visibilityState !== "visible") return;
      asking = true;
      const answers = await service.status().then(({ status }) => status !== "FAILING", () => false);
      asking = false;
      if (ended) return;
      if (answers && failing) {
        last.at = performance.now();
        last.backoff = backoff;
        latest.current?.();
      }
      if (answers) return;
      failing = true;
      timer = setTimeout(probe, backoff);
      backoff = Math.min(2 * backoff, maxBackoff);
    };
    timer = setTimeout(probe, problem.code === "script" ? 0 : backoff);
    const remove = listen(window, "visibilitychange online", probe);
    return () => {
      ended = true;
      clearTimeout(timer);
      remove();
    };
  }, [problem, !retry]);
}

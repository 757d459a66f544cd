// When the service is asked again without being told to: when a window is looked at again, and when the service comes back.
import { useEffect, useRef } from "preact/hooks";
import type { Problem } from "../api";
import { service } from "../api";

/** Calls `look` when the window is looked at again: others may have changed what it shows. */
export function useLook(look: () => void) {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    let due = 0;
    const soon = () => {
      if (document.visibilityState !== "visible") return;
      due ||= setTimeout(() => {
        due = 0;
        latest.current();
      });
    };
    document.addEventListener("visibilitychange", soon);
    addEventListener("focus", soon); // of two windows, both can be in sight
    return () => {
      clearTimeout(due);
      document.removeEventListener("visibilitychange", soon);
      removeEventListener("focus", soon);
    };
  }, []);
}

/** Waits between two questions whether the service is back, in ms: the first and the longest. */
const shortest = 1000;
const longest = 15_000;

/** Longer than this after the service came back, it counts as working, in ms. */
const steady = 60_000;

/** When the pages last went on by themselves, and how long they waited for it. What answers, and refuses the same thing again, is not pressed. */
const last = { at: -steady, wait: shortest };

/** Whether a problem is that of a service which cannot be reached, or is not ready. */
const passes = ({ status, code }: Problem) => (status === 0 && code !== "cut_off") || status === 502 || status === 503 || status === 504;

/** Calls `retry` when the service answers again after a problem that passes. */
export function useComeBack(problem: Problem, retry: (() => void) | undefined) {
  const latest = useRef(retry);
  latest.current = retry;
  useEffect(() => {
    if (!retry || !passes(problem)) return;
    let timer = 0;
    let asking = false;
    let over = false;
    let wait = performance.now() - last.at < steady ? Math.min(2 * last.wait, longest) : shortest;
    let gone = problem.code !== "script"; // that one is also missing after an upgrade: then nothing comes back
    const probe = async () => {
      clearTimeout(timer);
      if (over || asking || document.visibilityState !== "visible") return;
      asking = true;
      const back = await service.status().then(({ status }) => status !== "FAILING", () => false);
      asking = false;
      if (over) return;
      if (back && gone) {
        last.at = performance.now();
        last.wait = wait;
        latest.current?.();
      }
      if (back) return;
      gone = true;
      timer = setTimeout(probe, wait);
      wait = Math.min(2 * wait, longest);
    };
    timer = setTimeout(probe, gone ? wait : 0);
    document.addEventListener("visibilitychange", probe);
    addEventListener("online", probe);
    return () => {
      over = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", probe);
      removeEventListener("online", probe);
    };
  }, [problem, !retry]);
}

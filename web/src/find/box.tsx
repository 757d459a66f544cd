import { useEffect, useRef } from "preact/hooks";
import { listen } from "../events";
import { navigate, useLocation } from "../router";
import { Icon } from "../ui/icons";
import { searchAddress } from "./query";

/** Whether a key is typed into something. */
const isTyped = (e: KeyboardEvent) => {
  const to = e.target as HTMLElement;
  return e.ctrlKey || e.metaKey || e.altKey || e.isComposing || to.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(to.tagName);
};

/** The search of every page. The key / goes to it. */
export function SearchBox() {
  const { path, query } = useLocation();
  const input = useRef<HTMLInputElement>(null);
  const q = path === "/search" ? (query.get("q") ?? "") : "";
  useEffect(() => {
    input.current!.value = q;
  }, [q, path]);
  useEffect(
    () =>
      listen(window, "keydown", (e: KeyboardEvent) => {
        if (e.key !== "/" || isTyped(e) || document.querySelector("dialog[open]")) return;
        e.preventDefault();
        input.current!.focus();
        input.current!.select();
      }),
    [],
  );
  const submit = (e: Event) => {
    e.preventDefault();
    const order = path === "/search" ? (query.get("order") ?? "") : "";
    navigate(searchAddress(input.current!.value.trim(), order));
  };
  return (
    <form class="search" role="search" onSubmit={submit}>
      <Icon name="search" />
      <input ref={input} type="search" name="q" placeholder="Search" title="Search (key /)" aria-label="Search" aria-keyshortcuts="/" spellcheck={false} autocomplete="off" enterKeyHint="search" />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}

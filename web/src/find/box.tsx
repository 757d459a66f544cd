import { useEffect, useRef } from "preact/hooks";
import { useKey } from "../keyboard/keys";
import { navigate, useLocation } from "../router";
import { Icon } from "../ui/icons";
import { searchAddress } from "./query";

/** The search of every page. The key / goes to it. */
export function SearchBox() {
  const { path, query } = useLocation();
  const input = useRef<HTMLInputElement>(null);
  const q = path === "/search" ? (query.get("q") ?? "") : "";
  useEffect(() => {
    input.current!.value = q;
  }, [q, path]);
  useKey("/", "search", () => {
    input.current!.focus();
    input.current!.select();
  });
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

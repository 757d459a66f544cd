// A button with a menu of actions or choices, in addition to the main action of a page.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { listen } from "../events";
import { Link } from "../router";
import { Button } from "./components";
import { Icon, type IconName } from "./icons";

export interface MenuItem {
  label: string;
  icon: IconName;
  /** The action; or the page `to` which it leads, or the address of a download. */
  run?: () => void;
  to?: string;
  download?: string;
  /** For a choice: whether it is selected. */
  chosen?: boolean;
}

interface Props {
  /** The label of the button; with `icon`, it is only the tooltip and the accessible name. */
  label: string;
  icon?: IconName;
  /** Shown before the text. */
  before?: IconName;
  /** The items; unavailable ones are left out. */
  items: (MenuItem | false | undefined)[];
}

/** The width that a menu needs to the left of the right edge of its button, in px. */
const width = 250;

/** A menu button with its keys: arrows, Home, End, and first letters. Escape and a choice return
    the focus to the button. */
export function Menu({ label, icon, before, items }: Props) {
  const [open, setOpen] = useState(false);
  const [rightwards, setRightwards] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  // absent if a link has left the page
  const button = () => box.current?.querySelector<HTMLElement>("button");
  const entries = () => [...box.current!.querySelectorAll<HTMLElement>('[role^="menuitem"]')];
  useLayoutEffect(() => {
    if (open) (box.current!.querySelector<HTMLElement>('[aria-checked="true"]') ?? entries()[0])?.focus();
  }, [open]);
  useEffect(() => {
    if (open) return listen(window, "pointerdown", (e: PointerEvent) => !box.current?.contains(e.target as Node) && setOpen(false));
  }, [open]);
  const offered = items.filter((i): i is MenuItem => !!i);
  if (!offered.length) return null;
  const show = () => {
    setRightwards(button()!.getBoundingClientRect().right < width);
    setOpen(!open);
  };
  const close = () => {
    setOpen(false);
    button()?.focus();
  };
  const onKeyDown = (e: KeyboardEvent) => {
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const step: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 };
    if (!open) {
      if (e.key !== "ArrowDown") return;
      show();
    } else if (e.key === "Escape") {
      close();
    } else if (e.key === "Tab") {
      return setOpen(false);
    } else if (e.key in step) {
      all[step[e.key]! % all.length]!.focus();
    } else if (e.key.length === 1 && e.key !== " " && !e.ctrlKey && !e.metaKey && !e.altKey) {
      const begins = (one: HTMLElement) => one.innerText.trim().toLowerCase().startsWith(e.key.toLowerCase());
      [...all.slice(at + 1), ...all].find(begins)?.focus();
    } else {
      return;
    }
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div class="menu" ref={box} onKeyDown={onKeyDown} onFocusOut={(e) => e.relatedTarget && !box.current!.contains(e.relatedTarget as Node) && setOpen(false)}>
      <Button kind={icon ? "quiet" : "plain"} class={icon ? "only-icon" : ""} aria-haspopup="menu" aria-expanded={open} aria-controls={open ? id : undefined} aria-label={icon && label} title={icon && label} onClick={show}>
        {before && <Icon name={before} />}
        {icon ? <Icon name={icon} /> : label}
      </Button>
      {open && (
        <div role="menu" id={id} aria-label={label} class={rightwards ? "rightwards" : ""} onClick={close}>
          {offered.map((item) => (
            <Item key={item.label} of={item} />
          ))}
        </div>
      )}
    </div>
  );
}

function Item({ of: { label, icon, run, to, download, chosen } }: { of: MenuItem }) {
  const shows: ComponentChildren = (
    <>
      <Icon name={icon} /> {label}
    </>
  );
  if (to) return <Link to={to} role="menuitem" tabIndex={-1}>{shows}</Link>;
  if (download) return <a href={download} download role="menuitem" tabIndex={-1}>{shows}</a>;
  const choice = chosen === undefined ? { role: "menuitem" as const } : { role: "menuitemradio" as const, "aria-checked": chosen };
  return (
    <button type="button" tabIndex={-1} {...choice} onClick={(e) => ((e.currentTarget.closest(".menu")!.querySelector("button") as HTMLElement).focus(), run!())}>
      {shows}
    </button>
  );
}

/** The menu "⋯" of a page. */
export const More = ({ label = "More actions", items }: Pick<Props, "items"> & { label?: string }) => <Menu label={label} icon="more" items={items} />;

import { useState } from "preact/hooks";
import { Lazy } from "../ui/lazy";
import { useKey } from "./keys";

/** Opens the dialog of keys on ?. Its script is loaded on demand. */
export function KeyboardHelp() {
  const [open, setOpen] = useState(false);
  useKey("?", "show these keys", () => setOpen(true));
  if (!open) return null;
  return <Lazy load={() => import("./dialog").then((m) => m.KeyboardDialog)} props={{ onClose: () => setOpen(false) }} lines={0} />;
}

import { useEffect } from "preact/hooks";

/** Sets the title of the document, once there is one. */
export function useTitle(title: string | undefined) {
  useEffect(() => {
    if (title) document.title = `${title} · labshelf`;
  }, [title]);
}

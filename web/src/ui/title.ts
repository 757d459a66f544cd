import { useEffect } from "preact/hooks";

/** Sets the title of the document, if it is not empty. */
export function useTitle(title: string | undefined) {
  useEffect(() => {
    if (title) document.title = `${title} · labshelf`;
  }, [title]);
}

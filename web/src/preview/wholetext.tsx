// Viewers that need the whole text of a file.
import type { ComponentChildren } from "preact";
import { Skeleton } from "../ui/components";
import { useLoad } from "../ui/load";
import type { ViewerProps } from "./props";
import { ReadError, Source } from "./source";
import { TextView } from "./text";

interface Props extends ViewerProps {
  /** A file with more bytes is shown as plain text. */
  bound: number;
  /** Why a larger file is shown as text. */
  tooLarge: string;
  children: (text: string) => ComponentChildren;
}

/** Loads the text of a file and renders it by `children`. */
export function WholeText({ tooLarge, ...props }: Props) {
  if (props.file.bytes > props.bound) return <TextView file={props.file} why={tooLarge} />;
  return <Loaded {...props} />;
}

function Loaded({ file, bound, children }: Omit<Props, "tooLarge">) {
  const { value, problem, reload } = useLoad((signal) => new Source(file).next(bound, signal), [file.dataUrl, file.sha256]);
  if (problem) return <ReadError problem={problem} retry={reload} />;
  if (value === undefined) return <Skeleton lines={10} />;
  return <>{children(value)}</>;
}

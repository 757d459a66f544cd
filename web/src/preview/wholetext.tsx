// Viewers that need the whole text of a file.
import type { ComponentChildren } from "preact";
import { Skeleton } from "../ui/components";
import { useLoad } from "../ui/load";
import { EncodingChoice, useChosenEncoding } from "./encodingchoice";
import type { ViewerProps } from "./props";
import { ReadError, Source } from "./source";
import { TextView } from "./text";

interface Props extends ViewerProps {
  /** A file with more bytes is shown as plain text. */
  bound: number;
  /** The reason why a larger file is shown as text. */
  tooLarge: string;
  children: (text: string) => ComponentChildren;
}

/** Loads the text of a file and renders it by `children`. */
export function WholeText({ tooLarge, ...props }: Props) {
  if (props.file.bytes > props.bound) return <TextView file={props.file} why={tooLarge} />;
  return <Loaded {...props} />;
}

function Loaded({ file, bound, children }: Omit<Props, "tooLarge">) {
  const chosen = useChosenEncoding();
  const { value, problem, reload } = useLoad(
    async (signal) => {
      const source = new Source(file, chosen);
      return { text: await source.next(bound, signal), encoding: source.encoding };
    },
    [file.dataUrl, file.sha256, chosen],
  );
  if (problem) return <ReadError problem={problem} retry={reload} />;
  if (value === undefined) return <Skeleton lines={10} />;
  return (
    <>
      {(chosen || value.encoding !== "UTF-8") && (
        <p class="filters">
          <EncodingChoice detected={value.encoding} />
        </p>
      )}
      {children(value.text)}
    </>
  );
}

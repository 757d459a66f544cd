// The encoding menu of a text. The choice is in the address.
import { useEffect, useRef } from "preact/hooks";
import { encodingOf, encodings, nameOf } from "../encoding/encodings";
import { setQuery, useLocation } from "../router";

/** The label of the encoding that the reader has chosen; undefined: detected. */
export const useChosenEncoding = (): string | undefined => encodingOf(useLocation().query.get("encoding") ?? "")?.label;

interface Props {
  /** The name of the current encoding. */
  detected: string;
  /** Whether the reader has used this menu: it keeps the focus when a choice renders the view
      again. */
  used?: { current: boolean };
}

export function EncodingChoice({ detected, used }: Props) {
  const chosen = useChosenEncoding();
  const select = useRef<HTMLSelectElement>(null);
  useEffect(() => {
    if (used?.current) select.current!.focus();
  }, []);
  const choose = (label: string) => {
    if (used) used.current = true;
    setQuery({ encoding: label });
  };
  return (
    <label class="encoding">
      Encoding
      <select ref={select} value={chosen ?? ""} onChange={(e) => choose(e.currentTarget.value)}>
        <option value="">{chosen ? "detect" : `detected: ${detected}`}</option>
        {encodings.map(({ label, languages }) => (
          <option key={label} value={label}>
            {nameOf(label)} ({languages})
          </option>
        ))}
      </select>
    </label>
  );
}

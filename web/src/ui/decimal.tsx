// A control for a decimal number. The number inputs of browsers refuse 37,5 if the browser's
// language differs from the reader's.
import { readNumber } from "../numbers";

interface Props {
  name?: string;
  min?: number;
  defaultValue?: string;
  /** The current number, which `onChange` replaces. */
  value?: string;
  size?: number;
  onChange?: (e: Event) => void;
  id?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: boolean;
}

/** The reason why the input is not a number of at least `min`; "" if it is valid or empty. */
function objectionTo(typed: string, min: number | undefined): string {
  if (!typed.trim()) return "";
  const { number, error } = readNumber(typed);
  if (error !== undefined) return error;
  return min !== undefined && Number(number) < min ? `This must be ${min} or more.` : "";
}

/** The entered number; NaN without one. */
export const typedNumber = (typed: string): number => Number(readNumber(typed).number ?? NaN);

export function DecimalInput({ min, ...attributes }: Props) {
  return (
    <input
      inputMode="decimal"
      autocomplete="off"
      spellcheck={false}
      {...attributes}
      onInput={(e) => e.currentTarget.setCustomValidity(objectionTo(e.currentTarget.value, min))}
    />
  );
}

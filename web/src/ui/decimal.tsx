// A control for a number with decimals, which browsers with another language than the reader's refuse in a field of numbers: 37,5.
import { readNumber } from "../numbers";

interface Props {
  name?: string;
  min?: number;
  defaultValue?: string;
  /** The number that the page shows, which `onChange` replaces. */
  value?: string;
  size?: number;
  onChange?: (e: Event) => void;
  id?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: boolean;
}

/** Why what is typed is not a number of at least `min`; "" for one, and for nothing. */
function objectionTo(typed: string, min: number | undefined): string {
  if (!typed.trim()) return "";
  const { number, error } = readNumber(typed);
  if (error !== undefined) return error;
  return min !== undefined && Number(number) < min ? `This must be ${min} or more.` : "";
}

/** The number that is typed; NaN for none. */
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

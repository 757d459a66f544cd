import { useRef } from "preact/hooks";
import { IconButton } from "../ui/components";
import { Field } from "../ui/form";

/** The words of a text, separated by commas, without existing ones. */
export function added(words: readonly string[], text: string): string[] {
  const all = text.split(",").map((word) => word.trim().replace(/\s+/g, " ").normalize("NFC"));
  return [...new Set([...words, ...all.filter(Boolean)])];
}

interface Props {
  label: string;
  hint?: string | undefined;
  words: string[];
  onChange: (words: string[]) => void;
  /** The input that is not added yet; the form adds it when it is sent. */
  typed: string;
  onType: (text: string) => void;
  error: string | undefined;
}

/** Words that Enter or a comma adds. Backspace in an empty field moves the last word back into the
    field. */
export function Words({ label, hint = "Type a word and press Enter.", words, onChange, typed, onType, error }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const onKeyDown = (e: KeyboardEvent) => {
    const { value } = input.current!; // newer than `typed` if keys follow each other fast
    if (e.isComposing) return;
    if ((e.key === "Enter" || e.key === ",") && value.trim()) {
      e.preventDefault(); // Enter in an empty field sends the form
      onChange(added(words, value));
      onType("");
    } else if (e.key === "Backspace" && !value && words.length) {
      e.preventDefault();
      onType(words.at(-1)!);
      onChange(words.slice(0, -1));
    }
  };
  const remove = (word: string) => {
    onChange(words.filter((w) => w !== word));
    input.current!.focus();
  };
  return (
    <Field label={label} hint={hint} error={error}>
      {(a) => (
        <div class="words">
          <ul class="chips" aria-label={`Added ${label.toLowerCase()}`}>
            {words.map((word) => (
              <li class="chip" key={word}>
                {word} <IconButton icon="cross" class="inline" label={`Remove ${word}`} onClick={() => remove(word)} />
              </li>
            ))}
          </ul>
          <input ref={input} value={typed} onInput={(e) => onType(e.currentTarget.value)} onKeyDown={onKeyDown} enterKeyHint="done" {...a} />
        </div>
      )}
    </Field>
  );
}

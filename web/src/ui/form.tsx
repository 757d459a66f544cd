import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import type { Problem } from "../api";
import { Button, ErrorMessage } from "./components";
import { useAction } from "./load";

/** A labelled control. `children` receives the attributes of the control: its id, and the ids of
    its hint and its error. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  children: (attributes: { id: string; "aria-describedby": string; "aria-invalid": boolean }) => ComponentChildren;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": `${id}-hint ${id}-error`, "aria-invalid": !!error })}
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      <p class="error" id={`${id}-error`} role="alert">
        {error}
      </p>
    </div>
  );
}

/** The error message of a field, by its name in the API. */
export type ErrorOf = (field: string) => string | undefined;

/** A form that sends a request. An error is shown next to its field, or else above the buttons. */
export function Form({
  submit,
  action,
  also,
  danger = false,
  disabled = false,
  onCancel,
  cancel = "Cancel",
  formRef,
  covers,
  children,
}: {
  submit: () => Promise<void>;
  /** The label of the submit button, which Enter and Ctrl+Enter press. */
  action: string;
  /** Another button that sends the form. */
  also?: { action: string; submit: () => Promise<void> } | undefined;
  danger?: boolean;
  /** Whether there is nothing to send. */
  disabled?: boolean;
  onCancel?: () => void;
  /** The label of the cancel button. */
  cancel?: string;
  /** Receives the element, so that its controls can be read. */
  formRef?: { current: HTMLFormElement | null };
  /** Whether the children show the error of a field without `errorOf`. */
  covers?: (field: string) => boolean;
  children: (errorOf: ErrorOf, problem: Problem | undefined) => ComponentChildren;
}) {
  const other = useRef(false);
  const { run, busy, problem } = useAction(() => (other.current ? also!.submit() : submit()));
  const shown = new Set<string>();
  const errorOf = (field: string) => {
    shown.add(field);
    return problem?.field === field ? problem.detail : undefined;
  };
  const fields = children(errorOf, problem);
  const onSubmit = (e: SubmitEvent) => {
    e.preventDefault();
    other.current = e.submitter?.dataset.also !== undefined;
    void run();
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey) || e.isComposing) return;
    e.preventDefault();
    (e.currentTarget as HTMLFormElement).requestSubmit();
  };
  return (
    <form onSubmit={onSubmit} onKeyDown={onKeyDown} ref={formRef ?? null}>
      {fields}
      {problem && !shown.has(problem.field) && !covers?.(problem.field) && <ErrorMessage problem={problem} />}
      <div class="actions">
        {onCancel && <Button onClick={onCancel}>{cancel}</Button>}
        <Button type="submit" kind={danger ? "danger" : "primary"} busy={busy} disabled={disabled}>
          {action}
        </Button>
        {also && (
          <Button type="submit" data-also busy={busy}>
            {also.action}
          </Button>
        )}
      </div>
    </form>
  );
}

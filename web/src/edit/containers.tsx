// Chooses a dataspace, or a set of a dataspace.
import type { ComponentChildren } from "preact";
import type { DataSet, Dataspace, Role } from "../api";
import { dataspaces, privileges, sets } from "../api";
import { Field } from "../ui/form";
import { useLoad } from "../ui/load";

/** The maximum number of offered dataspaces, or sets of one. */
export const maxOffered = 1000;

/** The displayed name. */
export const called = (c: Dataspace | DataSet) => c.title || c.name;

/** The active dataspaces that the signed-in user can read, and the roles of a user in them, by the
    id of the dataspace. */
export async function loadDataspaces(userId: string, signal: AbortSignal): Promise<{ items: Dataspace[]; roles: Map<string, Role> }> {
  const [{ items }, granted] = await Promise.all([
    dataspaces.list({ state: "active", limit: maxOffered }).all(maxOffered, signal),
    privileges.list({ userId, state: "active" }).all(maxOffered, signal),
  ]);
  return { items, roles: new Map(granted.items.map((p) => [p.dataspaceId, p.role])) };
}

/** The active sets of a dataspace; of none if the id is empty. */
export function useSets(did: string) {
  return useLoad((signal) => (did ? sets.list({ dataspaceId: did, state: "active", limit: maxOffered }).all(maxOffered, signal) : Promise.resolve({ items: [], complete: true })), [did]);
}

interface Props {
  label: string;
  hint?: ComponentChildren;
  error: string | undefined;
  /** The offered containers; undefined while they are loaded. */
  of: (Dataspace | DataSet)[] | undefined;
  /** The id of the selected container, which need not be offered. */
  value: string;
  choose: (id: string) => void;
  /** Shown while nothing is selected. Then the form cannot be sent. */
  prompt?: string;
  /** The id of a container that cannot be selected. */
  except?: string;
  disabled?: boolean;
}

/** Selects a dataspace or a set. */
export function ContainerField({ label, hint, error, of, value, choose, prompt, except = "", disabled = false }: Props) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(a) => (
        <select {...a} value={value} required={!!prompt} disabled={disabled} onChange={(e) => choose(e.currentTarget.value)}>
          {prompt && (
            <option value="" disabled>
              {of ? prompt : "…"}
            </option>
          )}
          {value && !of?.some((c) => c.id === value) && <option value={value}>{of ? value : "…"}</option>}
          {of?.map((c) => (
            <option key={c.id} value={c.id} disabled={c.id === except}>
              {called(c)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

// The quota of a dataspace or a user, which sysadmins set.
import { DecimalInput, typedNumber } from "../ui/decimal";
import { Field } from "../ui/form";
import type { Calls } from "./save";

/** Bytes of the unit in which quotas are entered. */
const GB = 1e9;

/** A record with its quota as a text in GB, as forms have it; "" is no limit. */
export type Flat<T> = Omit<T, "quota"> & { quota: string };

export const flat = <T extends { quota?: number }>({ quota, ...record }: T) => ({ ...record, quota: quota ? String(quota / GB) : "" }) as Flat<T>;

/** The inverse of `flat`, also for some of the fields. */
export const withQuota = <T extends { quota?: number }>({ quota, ...fields }: Partial<Flat<T>>) =>
  ({ ...fields, ...(quota !== undefined && { quota: String(quota).trim() ? Math.round(typedNumber(String(quota)) * GB) : 0 }) }) as unknown as T;

/** The requests for records whose forms have a quota. */
export const flatCalls = <T extends { quota?: number }>({ get, edit }: Calls<T>): Calls<Flat<T>> => ({
  get: async (id) => flat(await get(id)),
  edit: async (of, fields) => flat(await edit(of, withQuota<T>(fields))),
});

export function QuotaField({ was, error }: { was: string; error: string | undefined }) {
  return (
    <Field
      label="Quota in GB"
      hint="All versions of all files count, deleted ones until a purge. Empty: no limit. Less than what is used removes nothing, and nothing more fits."
      error={error}
    >
      {(a) => <DecimalInput name="quota" min={0} defaultValue={was} {...a} />}
    </Field>
  );
}

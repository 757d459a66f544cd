// The form of a key: its actions, places, addresses and expiry.
import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import type { Dataspace, Key, KeyFields, KeyScope, Role, User } from "../api";
import { dayOf, inDays } from "../format";
import { useMe } from "../session";
import { ErrorMessage } from "../ui/components";
import { type ErrorOf, Field, Form } from "../ui/form";
import { useLoad } from "../ui/load";
import { ContainerField, loadDataspaces, maxOffered, useSets } from "./containers";
import { isNarrow } from "./permitted";

type Where = "everywhere" | "dataspace" | "set";

interface Limits {
  scope: KeyScope;
  where: Where;
  /** The selected dataspace; empty before the user selects one. */
  dataspaceId: string;
  setId: string;
  expires: string;
}

interface Purpose extends Pick<Limits, "scope" | "where"> {
  label: string;
  hint: string;
  /** The proposed lifetime in days; the longest possible if absent. */
  days?: number;
}

/** The purposes of a key, each with the limits that it proposes. */
const purposes: Purpose[] = [
  { label: "An instrument", hint: "It adds files to one set, and can neither read nor delete any.", scope: "add", where: "set", days: 365 },
  { label: "A script", hint: "It reads, adds, changes and deletes files in one dataspace.", scope: "write", where: "dataspace", days: 365 },
  { label: "A colleague’s program", hint: "It reads one dataspace for 90 days, and changes nothing.", scope: "read", where: "dataspace", days: 90 },
];

const scopes: [KeyScope, string][] = [
  ["read", "read files"],
  ["add", "add files, and nothing else"],
  ["write", "read, add, change and delete files"],
  ["all", "do everything, including new keys"],
];

const places: [Where, string][] = [
  ["everywhere", "everywhere"],
  ["dataspace", "in one dataspace"],
  ["set", "in one set"],
];

const unlimited: Limits = { scope: "all", where: "everywhere", dataspaceId: "", setId: "", expires: "" };

const limitsOf = ({ scope, dataspaceId = "", setId = "", expires = "" }: Key): Limits => ({
  scope,
  where: setId ? "set" : dataspaceId ? "dataspace" : "everywhere",
  dataspaceId,
  setId,
  expires: dayOf(expires),
});

/** The dataspaces, the writable ones first, then those with the role member. */
const sorted = (items: Dataspace[], roles: Map<string, Role>) => {
  const rank = ({ id }: Dataspace) => (!roles.has(id) ? 2 : roles.get(id) === "member" ? 1 : 0);
  return [...items].sort((a, b) => rank(a) - rank(b));
};

interface Props {
  /** The user of the key. */
  of: User;
  /** The key to change; absent for a new one. */
  was?: Key;
  action: string;
  submit: (fields: KeyFields) => Promise<void>;
  cancel: () => void;
  /** Shown if the limits make an unlimited key narrow. */
  narrowing?: ComponentChildren;
}

/** Creates or changes a key. A new key shows its fields after a purpose is selected. */
export function KeyForm({ of, was, action, submit, cancel, narrowing }: Props) {
  const own = of.id === useMe().id;
  const label = useRef<HTMLInputElement>(null);
  const networks = useRef<HTMLTextAreaElement>(null);
  const [before] = useState(was ? limitsOf(was) : unlimited);
  const [limits, setLimits] = useState(before);
  const [purpose, setPurpose] = useState("");
  const change = (fields: Partial<Limits>) => setLimits({ ...limits, ...fields });
  const found = useLoad((signal) => loadDataspaces(own ? "me" : of.id, signal), [of.id]);
  const spaces = found.value && sorted(found.value.items, found.value.roles);
  const everywhere = limits.where === "everywhere";
  const did = everywhere ? "" : limits.dataspaceId || spaces?.[0]?.id || "";
  const narrow = isNarrow({ scope: limits.scope, dataspaceId: did });
  const latest = was?.madeWith ? "together with the key that created it" : own && !was ? "together with the key that you are signed in with" : "never";

  const choose = ({ label, scope, where, days }: Purpose) => {
    setPurpose(label);
    const proposed = days ? inDays(days) : before.expires;
    change({ scope, where, expires: before.expires && before.expires < proposed ? before.expires : proposed });
  };
  const send = () =>
    submit({
      label: label.current!.value,
      scope: limits.scope,
      dataspaceId: did,
      setId: limits.where === "set" ? limits.setId : "",
      networks: networks.current!.value.split(/[\s,]+/).filter(Boolean),
      ...(limits.expires !== before.expires && { expires: limits.expires }),
    });
  return (
    <Form action={action} submit={send} onCancel={cancel}>
      {(errorOf) => (
        <>
          <Field label="Label" hint="Where the key is used, such as “laptop” or “microscope 2”." error={errorOf("label")}>
            {(a) => <input ref={label} autofocus defaultValue={was?.label} {...a} />}
          </Field>
          <Purposes own={own} name={of.fullname || of.username} required={!was} chosen={purpose} choose={choose} />
          {(was || purpose) && (
            <>
              <Choice label="The key may" of={scopes} value={limits.scope} choose={(scope) => change({ scope })} error={errorOf("scope")} />
              <Choice label="Where" of={places} value={limits.where} choose={(where) => change({ where })} error={undefined} />
              {!everywhere && found.problem && <ErrorMessage problem={found.problem} retry={found.reload} />}
              {!everywhere && (
                <ContainerField
                  label="Dataspace"
                  prompt="Choose a dataspace"
                  hint={spaces?.length === 0 ? "No dataspace is available yet." : <Missing of={of} did={did} scope={limits.scope} role={found.value?.roles.get(did)} />}
                  error={errorOf("dataspaceId")}
                  of={spaces}
                  value={did}
                  choose={(dataspaceId) => change({ dataspaceId, setId: "" })}
                />
              )}
              {limits.where === "set" && <SetField did={did} value={limits.setId} choose={(setId) => change({ setId })} errorOf={errorOf} />}
              <Field
                label="Network addresses"
                hint="Where it can be used from, such as 192.0.2.0/24. One a line, or separated by commas. Empty: from everywhere."
                error={errorOf("networks")}
              >
                {(a) => <textarea ref={networks} class="short" spellcheck={false} autocomplete="off" defaultValue={was?.networks?.join("\n")} {...a} />}
              </Field>
              <Field label="Expires" hint={`At the start of this day (UTC). Empty: ${latest}.`} error={errorOf("expires")}>
                {(a) => <input type="date" value={limits.expires} onInput={(e) => change({ expires: e.currentTarget.value })} {...a} />}
              </Field>
              {narrow && narrowing}
            </>
          )}
          {own && !was && <p class="hint">The new key depends on the key that you are signed in with: both are revoked together.</p>}
        </>
      )}
    </Form>
  );
}

interface PurposesProps {
  own: boolean;
  /** The user of the key. */
  name: string;
  required: boolean;
  /** The label of the selected purpose; "" if none is selected. */
  chosen: string;
  choose: (purpose: Purpose) => void;
}

/** Selects the purpose of a key, which fills in its limits. */
function Purposes({ own, name, required, chosen, choose }: PurposesProps) {
  const id = useId();
  const everything: Purpose = {
    label: `Everything ${own ? "I" : name} may do`,
    hint: "For a browser or the command line.",
    scope: "all",
    where: "everywhere",
  };
  return (
    <fieldset class="purposes">
      <legend>Purpose of the key</legend>
      {[...purposes, everything].map((p) => (
        <label class="option" key={p.label}>
          <input type="radio" name={id} required={required} checked={chosen === p.label} onChange={() => choose(p)} />
          <span>
            {p.label}
            <span class="dim">{p.hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  of: [T, string][];
  value: T;
  choose: (value: T) => void;
  error: string | undefined;
}

function Choice<T extends string>({ label, of, value, choose, error }: ChoiceProps<T>) {
  return (
    <Field label={label} error={error}>
      {(a) => (
        <select {...a} value={value} onChange={(e) => choose(e.currentTarget.value as T)}>
          {of.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function SetField({ did, value, choose, errorOf }: { did: string; value: string; choose: (sid: string) => void; errorOf: ErrorOf }) {
  const { value: offered, problem, reload } = useSets(did);
  const hint = offered && (offered.items.length === 0 ? "This dataspace has no set." : !offered.complete && `These are the ${maxOffered} oldest sets of the dataspace.`);
  return (
    <>
      {problem && <ErrorMessage problem={problem} retry={reload} />}
      <ContainerField label="Set" prompt="Choose a set" hint={hint} error={errorOf("setId")} of={offered?.items} value={value} choose={choose} />
    </>
  );
}

/** The role that the user of a key lacks in a dataspace, if the key requires it. */
function Missing({ of, did, scope, role }: { of: User; did: string; scope: KeyScope; role: Role | undefined }) {
  const own = of.id === useMe().id;
  const name = of.fullname || of.username;
  if (!did || of.sysadmin || scope === "read" || (role && role !== "member")) return null;
  return <>{own ? "You have" : `${name} has`} no permission to add files there yet: this requires the role editor.</>;
}

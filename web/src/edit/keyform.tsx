// The form of a key: its scope, place, networks and expiry.
import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import type { Dataspace, Key, KeyFields, KeyScope, Role, User } from "../api";
import { dayOf, inDays } from "../format";
import { useMe } from "../session";
import { ErrorMessage } from "../ui/components";
import { type ErrorOf, Field, Form } from "../ui/form";
import { useLoad } from "../ui/load";
import { ContainerField, loadDataspaces, maxOffered, useSets } from "./containers";
import { isNarrow, Permitted } from "./permitted";

type Where = "everywhere" | "dataspace" | "set";

interface Limits {
  scope: KeyScope;
  where: Where;
  /** The selected dataspace; empty before the user selects one. */
  dataspaceId: string;
  setId: string;
  networks: string;
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
  ["all", "do everything"],
];

/** The places, each inside the one before. */
const places: [Where, string][] = [
  ["everywhere", "everywhere"],
  ["dataspace", "in one dataspace"],
  ["set", "in one set"],
];

const unlimited: Limits = { scope: "all", where: "everywhere", dataspaceId: "", setId: "", networks: "", expires: "" };

const limitsOf = ({ scope, dataspaceId = "", setId = "", networks = [], expires = "" }: Key): Limits => ({
  scope,
  where: setId ? "set" : dataspaceId ? "dataspace" : "everywhere",
  dataspaceId,
  setId,
  networks: networks.join("\n"),
  expires: dayOf(expires),
});

const networksIn = (text: string) => text.split(/[\s,]+/).filter(Boolean);

/** The scopes that permit no more than this one. */
const scopesIn = (scope: KeyScope) => scopes.filter(([s]) => s === scope || scope === "all" || (scope === "write" && s !== "all"));

/** The places inside this one. */
const placesIn = (where: Where) => places.slice(places.findIndex(([p]) => p === where));

/** The dataspaces, the writable ones first, then those with the role member. */
const sorted = (items: Dataspace[], roles: Map<string, Role>) => {
  const rank = ({ id }: Dataspace) => (!roles.has(id) ? 2 : roles.get(id) === "member" ? 1 : 0);
  return [...items].sort((a, b) => rank(a) - rank(b));
};

interface Props {
  /** The user of the key. */
  of: User;
  /** The key to limit; absent for a new one. */
  was?: Key;
  action: string;
  submit: (fields: KeyFields) => Promise<void>;
  cancel: () => void;
  /** Shown if the scope, the place or the networks of the key change. */
  ends?: ComponentChildren;
}

/** Creates a key, or makes one narrower. A new key shows its fields after a purpose is selected; an
    existing one offers only values that are not wider. */
export function KeyForm({ of, was, action, submit, cancel, ends }: Props) {
  const own = of.id === useMe().id;
  const label = useRef<HTMLInputElement>(null);
  const [before] = useState(was ? limitsOf(was) : unlimited);
  const [limits, setLimits] = useState(before);
  const [purpose, setPurpose] = useState("");
  const change = (fields: Partial<Limits>) => setLimits({ ...limits, ...fields });
  const found = useLoad((signal) => loadDataspaces(own ? "me" : of.id, signal), [of.id]);
  const spaces = found.value && sorted(found.value.items, found.value.roles);
  const { scope, where, networks, expires } = limits;
  const did = where === "everywhere" ? "" : limits.dataspaceId || spaces?.[0]?.id || "";
  const setId = where === "set" ? limits.setId : "";
  const moved = where !== before.where || setId !== before.setId;
  const otherNetworks = networksIn(networks).join() !== networksIn(before.networks).join();

  const choose = ({ label, scope, where, days }: Purpose) => {
    setPurpose(label);
    change({ scope, where, expires: days ? inDays(days) : "" });
  };
  const send = () =>
    submit({
      label: label.current!.value,
      ...(scope !== before.scope && { scope }),
      ...(moved && { dataspaceId: did, setId }),
      ...(otherNetworks && { networks: networksIn(networks) }),
      ...(expires !== before.expires && { expires }),
    });
  return (
    <Form action={action} submit={send} onCancel={cancel}>
      {(errorOf) => (
        <>
          {was && (
            <p class="field">
              The key {was.scope === "all" && "permits "}
              {isNarrow(was) ? <Permitted by={was} /> : "everything"}. It can only become narrower, and this cannot be undone. For a wider key,
              create a new one.
            </p>
          )}
          <Field label="Label" hint="Where the key is used, such as “laptop” or “microscope 2”." error={errorOf("label")}>
            {(a) => <input ref={label} autofocus defaultValue={was?.label} {...a} />}
          </Field>
          {!was && <Purposes own={own} name={of.fullname || of.username} chosen={purpose} choose={choose} />}
          {(was || purpose) && (
            <>
              <Choice label="The key may" of={scopesIn(before.scope)} value={scope} choose={(scope) => change({ scope })} />
              <Choice label="Where" of={placesIn(before.where)} value={where} choose={(where) => change({ where })} />
              {moved && found.problem && <ErrorMessage problem={found.problem} retry={found.reload} />}
              {moved && before.where === "everywhere" && (
                <ContainerField
                  label="Dataspace"
                  prompt="Choose a dataspace"
                  hint={spaces?.length === 0 ? "No dataspace is available yet." : <Missing of={of} did={did} scope={scope} role={found.value?.roles.get(did)} />}
                  error={errorOf("dataspaceId")}
                  of={spaces}
                  value={did}
                  choose={(dataspaceId) => change({ dataspaceId, setId: "" })}
                />
              )}
              {moved && where === "set" && <SetField did={did} value={setId} choose={(setId) => change({ setId })} errorOf={errorOf} />}
              <Field
                label="Network addresses"
                hint={
                  before.networks
                    ? "Remove addresses, or replace them with parts of them."
                    : `Where it can be used from, such as 192.0.2.0/24. One a line, or separated by commas. Empty: ${own && !was ? "as for the key that you are signed in with" : "from everywhere"}.`
                }
                error={errorOf("networks")}
              >
                {(a) => (
                  <textarea
                    class="short"
                    spellcheck={false}
                    autocomplete="off"
                    required={!!before.networks}
                    value={networks}
                    onInput={(e) => change({ networks: e.currentTarget.value })}
                    {...a}
                  />
                )}
              </Field>
              <Expires was={was} own={own} latest={before.expires} value={expires} choose={(expires) => change({ expires })} error={errorOf("expires")} />
              {(scope !== before.scope || moved || otherNetworks) && ends}
            </>
          )}
          {own && !was && <p class="hint">The new key depends on the key that you are signed in with: both are revoked together.</p>}
        </>
      )}
    </Form>
  );
}

interface ExpiresProps {
  was: Key | undefined;
  own: boolean;
  /** The latest possible day; "" if any day is possible. */
  latest: string;
  value: string;
  choose: (day: string) => void;
  error: string | undefined;
}

function Expires({ was, own, latest, value, choose, error }: ExpiresProps) {
  const never = was?.madeWith ? "together with the key that created it" : own && !was ? "together with the key that you are signed in with" : "never";
  return (
    <Field
      label="Expires"
      hint={`At the start of this day (UTC)${was ? ", with all keys that were created with it" : ""}.${latest ? "" : ` Empty: ${never}.`}`}
      error={error}
    >
      {(a) => <input type="date" max={latest || undefined} required={!!latest} value={value} onInput={(e) => choose(e.currentTarget.value)} {...a} />}
    </Field>
  );
}

interface PurposesProps {
  own: boolean;
  /** The user of the key. */
  name: string;
  /** The label of the selected purpose; "" if none is selected. */
  chosen: string;
  choose: (purpose: Purpose) => void;
}

/** Selects the purpose of a new key, which fills in its limits. */
function Purposes({ own, name, chosen, choose }: PurposesProps) {
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
          <input type="radio" name={id} required checked={chosen === p.label} onChange={() => choose(p)} />
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
}

/** Selects one of several values. Shows nothing if only one is offered. */
function Choice<T extends string>({ label, of, value, choose }: ChoiceProps<T>) {
  if (of.length === 1) return null;
  return (
    <Field label={label}>
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

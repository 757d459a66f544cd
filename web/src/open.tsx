// Pages of what is open, for somebody who is not signed in.
import type { ComponentChildren } from "preact";
import type { Dataspace, DataSet, Resource } from "./api";
import { ErrorMessage, Skeleton, Time } from "./ui/components";
import { asProblem, useLoad } from "./ui/load";
import { useTitle } from "./ui/title";

/** What a page is about. */
export type OpenObject = Dataspace | DataSet | Resource;

interface Props {
  load: () => Promise<OpenObject>;
  /** Shown where it is not open, or not there: nobody learns which. */
  signIn: ComponentChildren;
  /** The page. */
  children: ComponentChildren;
}

export function OpenPage({ load, signIn, children }: Props) {
  const { value, problem, reload } = useLoad(() => load().then((of) => ({ of }), closed), []);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={10} />;
  if (!value.of) return <>{signIn}</>;
  return value.of.state === "deleted" ? <Gone of={value.of} /> : <>{children}</>;
}

function closed(thrown: unknown): { of?: OpenObject } {
  if (asProblem(thrown).status === 401) return {};
  throw thrown;
}

function Gone({ of }: { of: OpenObject }) {
  const name = ("title" in of && of.title) || of.name;
  useTitle(name);
  return (
    <>
      <h1>{name}</h1>
      <p class="note" role="status">
        This was deleted <Time at={of.modified} />
      </p>
    </>
  );
}

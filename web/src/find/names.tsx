// The location of a hit: the names of the dataspace and the set that contain it.
import { dataspaces, sets } from "../api";
import { Link } from "../router";
import { Cache } from "../ui/cache";
import { useLoad } from "../ui/load";

/** The names of dataspaces and sets, by id. */
export const names = {
  dataspaces: new Cache((id) => dataspaces.get(id).then((d) => d.title || d.name)),
  sets: new Cache((id) => sets.get(id).then((s) => s.title || s.name)),
};

interface Props {
  kind: keyof typeof names;
  id: string;
}

/** The name of a dataspace or set, or its id if it cannot be read. */
export function NameOf({ kind, id }: Props) {
  const { value, problem } = useLoad(() => names[kind].get(id), [kind, id]);
  return <>{value ?? (problem ? id : "…")}</>;
}

function Container({ kind, id }: Props) {
  return (
    <Link to={`/${kind}/${id}`}>
      <NameOf kind={kind} id={id} />
    </Link>
  );
}

/** Links to the containers of a hit. */
export function Where({ dataspaceId, setId }: { dataspaceId: string; setId?: string }) {
  return (
    <>
      <Container kind="dataspaces" id={dataspaceId} />
      {setId && (
        <>
          {" / "}
          <Container kind="sets" id={setId} />
        </>
      )}
    </>
  );
}

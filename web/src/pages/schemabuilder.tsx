// Creates or changes a schema of a dataspace.
import { dataspaces, schemas } from "../api";
import { navigate } from "../router";
import { Builder } from "../schemas/builder";
import { useMe } from "../session";
import { Breadcrumbs, breadcrumbsTo, ErrorMessage, PageHeader, Skeleton } from "../ui/components";
import { useLoad } from "../ui/load";
import { permissionsIn } from "../ui/permissions";
import { useTitle } from "../ui/title";
import type { PageProps } from "./props";

const toList = (did: string) => `/dataspaces/${did}?view=schemas`;

export function NewSchemaPage({ params: { did = "" } }: PageProps) {
  return <Page load={async () => ({ did })} title="New form" back={toList(did)} />;
}

export function EditSchemaPage({ params: { kid = "" } }: PageProps) {
  return (
    <Page
      load={async () => {
        const was = await schemas.get(kid);
        return { did: was.dataspaceId, was };
      }}
      title="Edit the form"
      back={`/schemas/${kid}`}
    />
  );
}

interface Props {
  load: () => Promise<{ did: string; was?: Awaited<ReturnType<typeof schemas.get>> }>;
  title: string;
  back: string;
}

function Page({ load, title, back }: Props) {
  const me = useMe();
  const { value, problem, reload } = useLoad(async (signal) => {
    const { did, was } = await load();
    const [dataspace, may, all] = await Promise.all([dataspaces.get(did), permissionsIn(did, me, signal), schemas.list(did, signal)]);
    return { did, was, dataspace, may, all };
  }, []);
  useTitle(value?.was ? `${value.was.title || value.was.name} · ${title}` : title);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={10} />;
  const { did, was, dataspace, may, all } = value;
  const path = [...breadcrumbsTo(dataspace), { to: toList(did), label: "Forms" }];
  return (
    <>
      <Breadcrumbs path={was ? [...path, { to: `/schemas/${was.id}`, label: was.title || was.name }] : path} />
      <PageHeader title={title} lead={was ? "Saving creates a new version. Values that were filled in before keep their version until someone switches to the new one." : "The fields that people fill in for each file or set."} />
      {may.manage ? (
        <Builder did={did} was={was} all={all} done={(saved) => navigate(`/schemas/${saved.id}`)} cancel={() => navigate(back)} />
      ) : (
        <p class="note">Only admins of the dataspace can create and change forms.</p>
      )}
    </>
  );
}

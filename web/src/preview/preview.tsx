// The preview of a file. A table maps its type and extension to a viewer, whose script is loaded on
// demand.
import type { ComponentChildren, ComponentType } from "preact";
import { Component } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Problem, StoredFile } from "../api";
import { Empty, ErrorMessage, Skeleton } from "../ui/components";
import { asProblem } from "../ui/load";
import { sourceExtensions } from "./languages";
import { pictureExtensions, pictureTypes, vague } from "./pictures";
import type { ViewerProps } from "./props";

type Viewer = ComponentType<ViewerProps>;

interface ViewerKind {
  name: string;
  /** Media types without parameters. */
  types: RegExp;
  /** Extensions of file names, for types that are not specific. */
  extensions: string;
  load: () => Promise<Viewer>;
}

const text = () => import("./text").then((m) => m.TextPreview);
const media = () => import("./media");
const unknown = () => import("./unknown").then((m) => m.UnknownPreview);

/** The first matching row applies. HTML is shown as text, and SVG as an image, so that their
    scripts do not run. */
const kinds: ViewerKind[] = [
  { name: "notebook", types: /^application\/x-ipynb\+json$/, extensions: "ipynb", load: () => import("./notebook").then((m) => m.NotebookPreview) },
  { name: "table", types: /^text\/(csv|tab-separated-values)$/, extensions: "csv tsv tab psv dat xvg xy asc", load: () => import("./table").then((m) => m.TablePreview) },
  { name: "bytes", types: /^chemical\/x-jcamp-dx$/, extensions: "jdx dx jcm spc", load: () => import("./unknown").then((m) => m.UnknownPreview) },
  { name: "markdown", types: /^text\/(x-)?markdown$/, extensions: "md markdown rmd qmd", load: () => import("./markdown").then((m) => m.MarkdownPreview) },
  { name: "json", types: /^application\/(json|[\w.-]+\+json)$/, extensions: "json geojson jsonld", load: () => import("./json").then((m) => m.JsonPreview) },
  { name: "bytes", types: /^(text|chemical|application)\/(x-)?(seq-[an]a-)?(fast[aq]|vcf|vcard|sam|gff3?|gtf|bed)$/, extensions: "fa fasta fna ffn faa frn fas fq fastq vcf sam gff gff3 gtf bed", load: unknown },
  { name: "image", types: /^image\/svg/, extensions: "svg", load: () => import("./image").then((m) => m.DrawingPreview) },
  { name: "text", types: /^text\/(?!plain$)|[/+]xml$|^application\/(yaml|toml|sql|jsonl|x-sh|x-tex|n-quads|n-triples|javascript)$/, extensions: "html htm xhtml xml", load: text },
  { name: "image", types: pictureTypes, extensions: pictureExtensions, load: () => import("./image").then((m) => m.ImagePreview) },
  { name: "pdf", types: /^application\/pdf$/, extensions: "", load: () => import("./pdf").then((m) => m.PdfPreview) },
  { name: "audio", types: /^audio\//, extensions: "", load: () => media().then((m) => m.AudioPreview) },
  { name: "video", types: /^video\//, extensions: "", load: () => media().then((m) => m.VideoPreview) },
  { name: "text", types: /^text\/plain$/, extensions: sourceExtensions, load: text },
  { name: "bytes", types: /^/, extensions: "stl ply obj pdb ent cif mmcif mcif xyz extxyz mol mdl sdf sd", load: unknown },
];

/** Types that are not specific, or that the service can have guessed from the content: the
    extension takes precedence. */
const unspecific = /^(application\/(octet-stream|json|xml)|text\/(plain|csv|tab-separated-values|xml)|image\/svg\+xml|)$/;

function kindOf({ mimetype, filename, name }: StoredFile): ViewerKind {
  const type = mimetype.split(";", 1)[0]!.trim().toLowerCase();
  if (unspecific.test(type) || vague.test(type)) {
    for (const extension of [filename, name].map((n) => /\.(\w+)$/.exec(n)?.[1]?.toLowerCase())) {
      const kind = extension && kinds.find((k) => k.extensions.split(" ").includes(extension));
      if (kind) return kind;
    }
  }
  return kinds.find((k) => k.types.test(type))!;
}

export function Preview({ file }: ViewerProps) {
  const kind = kindOf(file);
  const [loaded, setLoaded] = useState<{ kind: ViewerKind; Viewer: Viewer } | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    setProblem(undefined);
    kind.load().then((Viewer) => setLoaded({ kind, Viewer }), (thrown) => setProblem(asProblem(thrown)));
  }, [kind, attempt]);
  const retry = () => setAttempt((n) => n + 1);
  if (!file.bytes) return <Empty icon="file" title="This file is empty" />;
  if (problem) return <ErrorMessage problem={problem} retry={retry} />;
  if (loaded?.kind !== kind) return <Skeleton lines={10} />;
  return (
    <ErrorBoundary key={`${kind.name}${attempt}`} failed={(thrown) => <ErrorMessage problem={asProblem(thrown)} retry={retry} />}>
      <div class={`preview-${kind.name}`} data-preview={kind.name}>
        <loaded.Viewer file={file} Preview={Preview} />
      </div>
    </ErrorBoundary>
  );
}

/** Shows an error that a viewer throws while rendering, and keeps the rest of the page. */
class ErrorBoundary extends Component<{ children: ComponentChildren; failed: (thrown: unknown) => ComponentChildren }, { thrown?: unknown }> {
  static override getDerivedStateFromError(thrown: unknown) {
    return { thrown };
  }
  override render() {
    return this.state.thrown === undefined ? this.props.children : this.props.failed(this.state.thrown);
  }
}

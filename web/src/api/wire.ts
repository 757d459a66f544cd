// Made from handlers/openapi.yaml by go generate: the objects of the interface, which that document explains. Do not edit.

export type DataspaceId = string;

export type SetId = string;

export type ResourceId = string;

export type UserId = string;

export type KeyId = string;

export type PrivilegeId = string;

export type UploadId = string;

export type State = "active" | "deleted";

export type Timestamp = string;

export type Epoch = number;

export type Count = number;

export type ETag = string;

export type Digest = string;

export type Sha256 = string;

export type ContainerName = string;

export type Title = string;

export type Description = string;

export type Format = string;

export type Origin = string;

export type Quota = number;

export type QuotaChoice = number;

export type Retention = string;

export type Visibility = "private" | "public" | "open";

export type VisibilityChoice = "private" | "public" | "open" | string;

export type Role = "member" | "editor" | "admin";

export type Fullname = string;

export type About = string;

export type Sysadmin = boolean;

export type Dataspace = {
  id: DataspaceId;
  url: string;
  name: ContainerName;
  title: Title;
  description: Description;
  visibility: Visibility;
  origin: Origin;
  resources: string;
  sets: string;
  state: State;
  created: Timestamp;
  created_epoch: Epoch;
  modified: Timestamp;
  modified_epoch: Epoch;
  createdBy: UserId;
  modifiedBy: UserId;
  retention: Retention;
  quota?: Quota;
  metadata?: DataspaceMetadata;
};

export type DataspaceCreation = {
  name: ContainerName;
  title?: Title;
  description?: Description;
  visibility?: VisibilityChoice;
  origin?: Origin;
  retention?: Retention;
  quota?: QuotaChoice;
  metadata?: DataspaceMetadataPatch;
};

export type DataspaceUpdate = {
  title?: Title;
  description?: Description;
  visibility?: VisibilityChoice;
  origin?: Origin;
  retention?: Retention;
  quota?: QuotaChoice;
  metadata?: DataspaceMetadataPatch;
  id?: DataspaceId;
  url?: string;
  name?: ContainerName;
  resources?: string;
  sets?: string;
  state?: State;
  created?: Timestamp;
  created_epoch?: Epoch;
  modified?: Timestamp;
  modified_epoch?: Epoch;
  createdBy?: UserId;
  modifiedBy?: UserId;
};

export type Set = {
  id: SetId;
  url: string;
  name: ContainerName;
  title: Title;
  description: Description;
  dataspaceId: DataspaceId;
  dataspaceUrl: string;
  resources: string;
  state: State;
  created: Timestamp;
  created_epoch: Epoch;
  modified: Timestamp;
  modified_epoch: Epoch;
  createdBy: UserId;
  modifiedBy: UserId;
  extract: Extract;
  metadata?: Metadata;
};

export type SetCreation = {
  name: ContainerName;
  dataspaceId: DataspaceId;
  title?: Title;
  description?: Description;
  extract?: Extract;
  metadata?: MetadataPatch;
};

export type SetUpdate = {
  title?: Title;
  description?: Description;
  extract?: Extract;
  metadata?: MetadataPatch;
  id?: SetId;
  url?: string;
  name?: ContainerName;
  dataspaceId?: DataspaceId;
  dataspaceUrl?: string;
  resources?: string;
  state?: State;
  created?: Timestamp;
  created_epoch?: Epoch;
  modified?: Timestamp;
  modified_epoch?: Epoch;
  createdBy?: UserId;
  modifiedBy?: UserId;
};

export type Extract = ("sidecar" | "header")[];

export type Resource = {
  id: ResourceId;
  url: string;
  dataUrl: string;
  viewDataUrl: string;
  name: ResourceName;
  description: Description;
  format: Format;
  mimetype: string;
  size: number;
  created: Timestamp;
  created_epoch: Epoch;
  modified: Timestamp;
  modified_epoch: Epoch;
  setId: SetId;
  state: State;
  bytes: number;
  "sha256": Sha256;
  filename: string;
  dataspaceId: DataspaceId;
  createdBy: UserId;
  modifiedBy: UserId;
  version: number;
  purged?: true;
  damaged?: true;
  movedTo?: ResourceId;
  linkId?: LinkId;
  metadata?: ResourceMetadata;
};

export type Destination = {
  setId?: SetId;
  name?: ResourceName;
};

export type ResourceName = string;

export type Upload = {
  id: UploadId;
  url: string;
  length: number;
  offset: number;
  created: Timestamp;
  expires: Timestamp;
  setId?: SetId;
  resourceId?: ResourceId;
  resourceUrl?: string;
};

export type ResourceCreation = {
  file: string;
  setId: SetId;
  name?: UploadName;
  format?: Format;
  description?: Description;
  metadata?: UploadMetadata;
  "sha256"?: UploadSha256;
};

export type ResourceReplacement = {
  file: string;
  setId?: string;
  name?: UploadName;
  format?: Format;
  description?: Description;
  metadata?: UploadMetadata;
  "sha256"?: UploadSha256;
};

export type UploadName = string;

export type UploadSha256 = string;

export type ResourceEdit = {
  name?: ResourceName;
  description?: Description;
  format?: string;
  metadata?: ResourceMetadataPatch;
  id?: ResourceId;
  url?: string;
  dataUrl?: string;
  viewDataUrl?: string;
  mimetype?: string;
  size?: number;
  setId?: SetId;
  bytes?: number;
  "sha256"?: Sha256;
  filename?: string;
  dataspaceId?: DataspaceId;
  state?: State;
  created?: Timestamp;
  created_epoch?: Epoch;
  modified?: Timestamp;
  modified_epoch?: Epoch;
  createdBy?: UserId;
  modifiedBy?: UserId;
  version?: number;
  purged?: boolean;
  damaged?: boolean;
  movedTo?: ResourceId;
  linkId?: LinkId;
};

export type Metadata = {
  creators?: Creators;
  publisher?: Publisher;
  publicationYear?: PublicationYear;
  resourceType?: ResourceType;
  licence?: Licence;
  keywords?: Keywords;
  related?: RelatedThings;
  dates?: DatedEvents;
  funding?: Fundings;
  places?: Places;
  tags?: Tags;
  properties?: Properties;
  schema?: MetadataSchema;
};

export type MetadataPatch = {
  creators?: Creators | null;
  publisher?: Publisher | null;
  publicationYear?: PublicationYear | null;
  resourceType?: ResourceType | null;
  licence?: Licence | null;
  keywords?: Keywords | null;
  related?: RelatedThings | null;
  dates?: DatedEvents | null;
  funding?: Fundings | null;
  places?: Places | null;
  tags?: Tags | null;
  properties?: Record<string, PropertyValue | null> | null;
  schema?: MetadataSchemaPatch | null;
} | null;

export type DataspaceMetadata = {
  creators?: Creators;
  publisher?: Publisher;
  licence?: Licence;
  keywords?: Keywords;
  funding?: Fundings;
  tags?: Tags;
  properties?: Properties;
};

export type DataspaceMetadataPatch = {
  creators?: Creators | null;
  publisher?: Publisher | null;
  licence?: Licence | null;
  keywords?: Keywords | null;
  funding?: Fundings | null;
  tags?: Tags | null;
  properties?: Record<string, PropertyValue | null> | null;
} | null;

export type ResourceMetadata = {
  tags?: Tags;
  properties?: Properties;
  schema?: MetadataSchema;
  sources?: PropertySources;
};

export type ResourceMetadataPatch = {
  tags?: Tags | null;
  properties?: Record<string, PropertyValue | null> | null;
  schema?: MetadataSchemaPatch | null;
  sources?: Record<string, PropertySource | null> | null;
} | null;

export type MetadataSchema = {
  id: SchemaId;
  version: SchemaNumber;
};

export type MetadataSchemaPatch = {
  id?: SchemaId;
  version?: SchemaNumber;
};

export type PropertySource = "header" | "sidecar";

export type PropertySources = Record<string, PropertySource>;

export type Creators = Creator[];

export type Publisher = string;

export type PublicationYear = number;

export type ResourceType = string;

export type Licence = string;

export type Keywords = string[];

export type RelatedThings = Related[];

export type DatedEvents = DatedEvent[];

export type Fundings = Funding[];

export type Places = Place[];

export type Tags = string[];

export type Properties = Record<string, PropertyValue>;

export type UploadMetadata = string;

export type PropertyValue = string | number | boolean | unknown[] | Record<string, unknown>;

export type Creator = {
  name: string;
  givenName?: string;
  familyName?: string;
  type?: "person" | "organization";
  orcid?: string;
  affiliations?: string[];
};

export type Related = {
  identifier: string;
  type: string;
  relation: string;
};

export type DatedEvent = {
  date: string;
  type: string;
  information?: string;
};

export type Funding = {
  funder: string;
  funderId?: string;
  award?: string;
  title?: string;
  uri?: string;
};

export type Place = {
  name?: string;
  latitude?: number;
  longitude?: number;
  box?: {
    west: number;
    east: number;
    south: number;
    north: number;
  };
};

export type Version = {
  version: number;
  url: string;
  dataUrl: string;
  resourceId: ResourceId;
  name: ResourceName;
  description: Description;
  format: Format;
  mimetype: string;
  bytes: Count;
  "sha256": Sha256;
  filename: string;
  created: Timestamp;
  created_epoch: Epoch;
  createdBy: UserId;
  label: VersionLabelText;
  current: boolean;
  replaced?: Timestamp;
  replaced_epoch?: Epoch;
  replacedBy?: UserId;
  removed?: Timestamp;
  rule?: string;
  removedBy?: UserId;
  damaged?: true;
  shared?: true;
};

export type VersionLabelText = string;

export type VersionLabel = {
  label: VersionLabelText;
};

export type AuditEntry = {
  number: number;
  time: Timestamp;
  time_epoch: Epoch;
  action: string;
  userId?: UserId;
  keyId?: AuditId;
  session?: string;
  requestId?: string;
  cause?: number;
  objectKind?: "dataspace" | "set" | "resource" | "user" | "key" | "webhook" | "schema" | "edit" | "link";
  objectId?: AuditId;
  dataspaceId?: AuditId;
  setId?: AuditId;
  subjectId?: UserId;
  previous?: number;
  "sha256"?: Sha256;
  "sha256Before"?: Sha256;
  bytes?: Count;
  version?: number;
  values?: Record<string, unknown>;
  texts?: Record<string, string | {
    before: string;
    now: string;
  }>;
  address?: string;
  erased?: true;
};

export type AuditId = string;

export type AuditHead = {
  origin: string;
  size: number;
  root: string;
  head: string;
  key: string;
};

export type AuditProof = {
  hashes: string[];
};

export type User = {
  id: UserId;
  url: string;
  username: Username;
  fullname: Fullname;
  about: About;
  sysadmin?: Sysadmin;
  state: State;
  quota?: Quota;
};

export type Username = string;

export type UserCreation = {
  username: Username;
  fullname?: Fullname;
  about?: About;
  sysadmin?: Sysadmin;
  quota?: QuotaChoice;
};

export type UserUpdate = {
  fullname?: Fullname;
  about?: About;
  sysadmin?: Sysadmin;
  quota?: QuotaChoice;
  id?: UserId;
  url?: string;
  username?: Username;
  state?: State;
};

export type Key = {
  id: KeyId;
  label: KeyLabel;
  prefix: KeyPrefix;
  created: Timestamp;
  expires?: Timestamp;
  lastUsed?: Timestamp;
  madeWith?: MadeWith;
  scope: KeyScope;
  dataspaceId?: KeyDataspace;
  setId?: KeySet;
  networks?: KeyNetworks;
  state: KeyState;
};

export type SignIn = {
  key: string;
};

export type Session = {
  username: string;
  sysadmin: boolean;
};

export type NewKey = {
  id: KeyId;
  label: KeyLabel;
  prefix: KeyPrefix;
  created: Timestamp;
  expires?: Timestamp;
  lastUsed?: Timestamp;
  madeWith?: MadeWith;
  scope: KeyScope;
  dataspaceId?: KeyDataspace;
  setId?: KeySet;
  networks?: KeyNetworks;
  state: KeyState;
  key: string;
};

export type MadeWith = KeyId;

export type KeyDependents = {
  sessions: number;
  count: number;
  data: KeyDependent[];
};

export type KeyDependent = {
  kind: "key" | "share" | "request" | "invitation" | "webhook";
  id: string;
  label: string;
  created: Timestamp;
  expires?: Timestamp;
  madeWith: MadeWith;
};

export type KeyLabel = string;

export type KeyPrefix = string;

export type KeyState = "active" | "revoked" | "expired";

export type KeyCreation = {
  label?: KeyLabel;
  expires?: string;
  scope?: KeyScope;
  dataspaceId?: KeyDataspace;
  setId?: KeySet;
  networks?: KeyNetworks;
};

export type KeyUpdate = {
  id?: KeyId;
  label?: KeyLabel;
  prefix?: KeyPrefix;
  created?: Timestamp;
  expires?: string;
  lastUsed?: unknown;
  madeWith?: MadeWith;
  scope?: KeyScope;
  dataspaceId?: KeyDataspace;
  setId?: KeySet;
  networks?: KeyNetworks;
  state?: KeyState;
};

export type KeyScope = "all" | "write" | "add" | "read";

export type KeyDataspace = string;

export type KeySet = string;

export type KeyNetworks = string[];

export type Privilege = {
  id: PrivilegeId;
  url: string;
  userId: UserId;
  userUrl: string;
  dataspaceId: DataspaceId;
  dataspaceUrl: string;
  role: Role;
  state: State;
};

export type PrivilegeGrant = {
  userId: UserId;
  dataspaceId: DataspaceId;
  role: Role;
};

export type Usage = {
  activeFiles: Count;
  activeBytes: Count;
  deletedFiles: Count;
  deletedBytes: Count;
  oldVersions: Count;
  oldBytes: Count;
  days: UsageDays;
  dataspaces: {
    dataspaceId: DataspaceId;
    activeFiles: Count;
    activeBytes: Count;
    deletedFiles: Count;
    deletedBytes: Count;
    oldVersions: Count;
    oldBytes: Count;
    quota?: QuotaShown;
  }[];
};

export type QuotaShown = number;

export type UserUsage = {
  used: Count;
  quota?: Quota;
};

export type DataspaceUsage = {
  activeFiles: Count;
  activeBytes: Count;
  deletedFiles: Count;
  deletedBytes: Count;
  oldVersions: Count;
  oldBytes: Count;
  days: UsageDays;
  quota?: QuotaShown;
};

export type UsageDays = {
  day: string;
  activeFiles: Count;
  activeBytes: Count;
  deletedFiles: Count;
  deletedBytes: Count;
  oldVersions: Count;
  oldBytes: Count;
}[];

export type Status = {
  status: "OK" | "READ-ONLY" | "FAILING";
  hostname: string;
  node: string;
  engine: string;
  version: string;
  anonymous: boolean;
  detail?: StatusDetail;
};

export type StatusDetail = {
  failing: string;
  readOnly: string;
  clockBehind: number;
  damaged: number;
  scrub: {
    begun: Timestamp | "";
    checked: Count;
    found: Count;
    passes: Count;
  };
  background: Record<string, string>;
  held: {
    files: Count;
    bytes: Count;
  };
  started: Timestamp;
  identity: string;
  epoch: {
    id: string;
    base: Timestamp | "";
    began: Timestamp | "";
  };
  unreferenced: FileCount;
  room: {
    bytes: number;
    files: number;
  };
  nodes: {
    name: string;
    version: string;
    since: Timestamp;
    seen: Timestamp;
  }[];
};

export type FileCount = {
  files: Count;
  bytes: Count;
};

export type CheckRequest = {
  noData?: boolean;
  subset?: string;
};

export type CheckLine = {
  violation: {
    part: "pages" | "rows" | "rules" | "blobs" | "files" | "history";
    kind: string;
    id: string;
    name: string;
    wrong: string;
  };
} | {
  progress: {
    done: Count;
    total: Count;
  };
} | {
  end: {
    stamp: number;
    resources: Count;
    blobs: Count;
    bytes: Count;
    violations: Count;
    unreferenced: Count;
    unreferencedBytes: Count;
  };
} | {
  error: {
    code: string;
    detail: string;
  };
};

export type Age = string;

export type SchemaId = string;

export type SchemaFor = "files" | "sets";

export type SchemaTypes = string[];

export type SchemaEnforce = boolean;

export type SchemaNumber = number;

export type SchemaText = Record<string, unknown> | boolean;

export type SchemaForm = {
  title?: string;
  help?: string;
  fields: {
    name?: string;
    label: string;
    kind: string;
  }[];
  open: boolean;
};

export type Schema = {
  id: SchemaId;
  url: string;
  dataspaceId: DataspaceId;
  name: ContainerName;
  title: Title;
  description: Description;
  for: SchemaFor;
  types: SchemaTypes;
  enforce: SchemaEnforce;
  version: SchemaNumber;
  schema: SchemaText;
  form: SchemaForm;
  state: State;
  created: Timestamp;
  created_epoch: Epoch;
  modified: Timestamp;
  modified_epoch: Epoch;
  createdBy: UserId;
  modifiedBy: UserId;
};

export type Schemas = {
  data: Schema[];
};

export type SchemaCreation = {
  name: ContainerName;
  schema: SchemaText;
  title?: Title;
  description?: Description;
  for?: SchemaFor;
  types?: SchemaTypes;
  enforce?: SchemaEnforce;
};

export type SchemaUpdate = {
  name?: ContainerName;
  title?: Title;
  description?: Description;
  types?: SchemaTypes;
  enforce?: SchemaEnforce;
  schema?: SchemaText;
  id?: SchemaId;
  url?: string;
  dataspaceId?: DataspaceId;
  for?: SchemaFor;
  version?: SchemaNumber;
  form?: SchemaForm;
  state?: State;
  created?: Timestamp;
  created_epoch?: Epoch;
  modified?: Timestamp;
  modified_epoch?: Epoch;
  createdBy?: UserId;
  modifiedBy?: UserId;
};

export type SchemaVersion = {
  version: SchemaNumber;
  schema: SchemaText;
  form: SchemaForm;
  created: Timestamp;
  created_epoch: Epoch;
  createdBy: UserId;
};

export type SchemaVersions = {
  data: SchemaVersion[];
};

export type Conformance = {
  schema?: {
    id: SchemaId;
    name: ContainerName;
    title: string;
    version: SchemaNumber;
    enforce: SchemaEnforce;
  };
  newest?: SchemaNumber;
  form?: SchemaForm;
  incomplete: boolean;
  problems: {
    path: string;
    rule: string;
    message: string;
  }[];
};

export type EditId = string;

export type Edit = {
  id: EditId;
  url: string;
  setId: SetId;
  by: UserId;
  kind: "csv" | "many" | "undo";
  undoes?: EditId;
  objects: number;
  created: Timestamp;
  created_epoch: Epoch;
  undone?: EditId;
};

export type Edits = {
  data: Edit[];
};

export type EditOutcome = {
  edit?: Edit;
  rows: number;
  changed: number;
  unchanged: number;
  changes: {
    id: ResourceId;
    name: string;
    fields: {
      name: string;
      before: Record<string, unknown> | unknown[] | string | number | boolean | null;
      after: Record<string, unknown> | unknown[] | string | number | boolean | null;
    }[];
  }[];
  problems: {
    row?: number;
    column?: string;
    message: string;
  }[];
};

export type ManyEdit = {
  ids: ResourceId[];
  metadata?: ResourceMetadataPatch;
  addTags?: string[];
  removeTags?: string[];
};

export type WebhookId = string;

export type WebhookURL = string;

export type WebhookLabel = string;

export type WebhookEvents = string[];

export type Webhook = {
  id: WebhookId;
  url: WebhookURL;
  label: WebhookLabel;
  dataspaceId?: DataspaceId;
  events: WebhookEvents;
  madeWith?: MadeWith;
  state: "active" | "paused";
  created: Timestamp;
  created_epoch: Epoch;
  modified: Timestamp;
  modified_epoch: Epoch;
  createdBy: UserId;
  modifiedBy: UserId;
  reason?: "failed" | "gone" | "role_lost" | "key_ended" | "restored";
  because?: string;
  paused?: Timestamp;
  position: number;
  deliveries: number;
  tries: number;
  nextTry?: Timestamp;
  formerSecretUntil?: Timestamp;
};

export type NewWebhook = {
  id: WebhookId;
  url: WebhookURL;
  label: WebhookLabel;
  dataspaceId?: DataspaceId;
  events: WebhookEvents;
  madeWith?: MadeWith;
  state: "active" | "paused";
  created: Timestamp;
  created_epoch: Epoch;
  modified: Timestamp;
  modified_epoch: Epoch;
  createdBy: UserId;
  modifiedBy: UserId;
  reason?: "failed" | "gone" | "role_lost" | "key_ended" | "restored";
  because?: string;
  paused?: Timestamp;
  position: number;
  deliveries: number;
  tries: number;
  nextTry?: Timestamp;
  formerSecretUntil?: Timestamp;
  secret: string;
};

export type LinkId = string;

export type LinkKind = "share" | "request" | "invitation";

export type LinkRole = "member" | "editor" | "admin" | "";

export type LinkDataspace = DataspaceId | "";

export type LinkSet = SetId | "";

export type LinkLabel = string;

export type LinkFolder = string;

export type LinkResources = ResourceId[];

export type LinkVersion = number;

export type LinkExpires = string;

export type LinkMaxUses = number;

export type LinkHidesPeople = boolean;

export type LinkMaxBytes = number;

export type LinkMaxFileBytes = number;

export type LinkTypes = string[];

export type LinkPassword = string;

export type Link = {
  id: LinkId;
  url: string;
  kind: LinkKind;
  label: LinkLabel;
  dataspaceId: LinkDataspace;
  setId: LinkSet;
  role: LinkRole;
  folder: LinkFolder;
  resourceIds: LinkResources;
  version: LinkVersion;
  ownerId: UserId;
  madeWith?: MadeWith;
  state: "active" | "expired" | "revoked" | "used_up";
  created: Timestamp;
  created_epoch: Epoch;
  modified: Timestamp;
  modified_epoch: Epoch;
  createdBy: UserId;
  modifiedBy: UserId;
  expires: LinkExpires;
  hasPassword: boolean;
  maxUses: LinkMaxUses;
  hidesPeople: LinkHidesPeople;
  maxBytes: LinkMaxBytes;
  maxFileBytes: LinkMaxFileBytes;
  types: LinkTypes;
  uses: number;
  bytesReceived: number;
  unfinishedUploads: number;
  unfinishedBytes: number;
  lastUsed?: Timestamp;
};

export type NewLink = {
  id: LinkId;
  url: string;
  kind: LinkKind;
  label: LinkLabel;
  dataspaceId: LinkDataspace;
  setId: LinkSet;
  role: LinkRole;
  folder: LinkFolder;
  resourceIds: LinkResources;
  version: LinkVersion;
  ownerId: UserId;
  madeWith?: MadeWith;
  state: "active" | "expired" | "revoked" | "used_up";
  created: Timestamp;
  created_epoch: Epoch;
  modified: Timestamp;
  modified_epoch: Epoch;
  createdBy: UserId;
  modifiedBy: UserId;
  expires: LinkExpires;
  hasPassword: boolean;
  maxUses: LinkMaxUses;
  hidesPeople: LinkHidesPeople;
  maxBytes: LinkMaxBytes;
  maxFileBytes: LinkMaxFileBytes;
  types: LinkTypes;
  uses: number;
  bytesReceived: number;
  unfinishedUploads: number;
  unfinishedBytes: number;
  lastUsed?: Timestamp;
  address: string;
};

export type LinkPage = {
  nextPage: NextPage;
  currentPage: CurrentPage;
  data: Link[];
  end: false;
} | End;

export type LinkCreation = {
  kind: LinkKind;
  setId?: SetId;
  dataspaceId?: DataspaceId;
  role?: Role;
  folder?: LinkFolder;
  resourceIds?: LinkResources;
  version?: LinkVersion;
  label?: LinkLabel;
  expires?: LinkExpires;
  password?: LinkPassword;
  maxUses?: LinkMaxUses;
  hidesPeople?: LinkHidesPeople;
  maxBytes?: LinkMaxBytes;
  maxFileBytes?: LinkMaxFileBytes;
  types?: LinkTypes;
};

export type LinkUpdate = {
  id?: LinkId;
  url?: unknown;
  kind?: LinkKind;
  label?: LinkLabel;
  dataspaceId?: LinkDataspace;
  setId?: LinkSet;
  role?: LinkRole;
  folder?: LinkFolder;
  resourceIds?: LinkResources;
  version?: LinkVersion;
  ownerId?: UserId;
  madeWith?: MadeWith;
  state?: unknown;
  created?: Timestamp;
  created_epoch?: Epoch;
  modified?: Timestamp;
  modified_epoch?: Epoch;
  createdBy?: UserId;
  modifiedBy?: UserId;
  expires?: LinkExpires;
  hasPassword?: unknown;
  maxUses?: LinkMaxUses;
  hidesPeople?: LinkHidesPeople;
  maxBytes?: LinkMaxBytes;
  maxFileBytes?: LinkMaxFileBytes;
  types?: LinkTypes;
  uses?: unknown;
  bytesReceived?: unknown;
  unfinishedUploads?: unknown;
  unfinishedBytes?: unknown;
  lastUsed?: unknown;
  password?: LinkPassword;
};

export type Webhooks = {
  data: Webhook[];
};

export type WebhookCreation = {
  url: WebhookURL;
  dataspaceId?: DataspaceId;
  events?: WebhookEvents;
  label?: WebhookLabel;
};

export type WebhookUpdate = {
  id?: WebhookId;
  url?: WebhookURL;
  label?: WebhookLabel;
  dataspaceId?: DataspaceId;
  events?: WebhookEvents;
  madeWith?: MadeWith;
  state?: unknown;
  created?: Timestamp;
  created_epoch?: Epoch;
  modified?: Timestamp;
  modified_epoch?: Epoch;
  createdBy?: UserId;
  modifiedBy?: UserId;
  reason?: unknown;
  because?: unknown;
  paused?: unknown;
  position?: unknown;
  deliveries?: unknown;
  tries?: unknown;
  nextTry?: unknown;
  formerSecretUntil?: unknown;
};

export type WebhookSkip = {
  all?: boolean;
};

export type Delivery = {
  number: number;
  messageId: string;
  entry: number;
  event: string;
  state: "delivered" | "failed" | "skipped";
  tries: number;
  first: Timestamp;
  last: Timestamp;
  status: number;
  milliseconds: number;
  error?: string;
  answer?: string;
};

export type Deliveries = {
  data: Delivery[];
};

export type PurgeRequest = {
  olderThan: Age;
  dryRun?: boolean;
  grace?: Age;
};

export type Purge = {
  dryRun: boolean;
  resources: Count;
  resourceBytes: Count;
  versions: Count;
  versionBytes: Count;
  labelledVersions: Count;
  labelled: {
    resourceId: ResourceId;
    name: ResourceName;
    version: Count;
    label: VersionLabelText;
  }[];
  blobs: Count;
  blobBytes: Count;
  orphans: Count;
  orphanBytes: Count;
  trashFiles: Count;
  trashBytes: Count;
  recent: Count;
  recentBytes: Count;
};

export type DataspacePage = {
  nextPage: NextPage;
  currentPage: CurrentPage;
  data: Dataspace[];
  end: false;
} | End;

export type SearchPage = {
  nextPage: NextPage;
  currentPage: CurrentPage;
  data: Hit[];
  end: false;
  total?: number;
  counts?: SearchCounts;
  behind?: SearchBehind;
} | {
  end: true;
  behind?: SearchBehind;
};

export type SearchBehind = number;

export type Hit = DataspaceHit | SetHit | ResourceHit;

export type DataspaceHit = {
  kind: "dataspace";
  matched: Matched;
  record: Dataspace;
};

export type SetHit = {
  kind: "set";
  matched: Matched;
  record: Set;
};

export type ResourceHit = {
  kind: "resource";
  matched: Matched;
  record: Resource;
};

export type Matched = ("name" | "title" | "description" | "tags" | "keywords" | "creators" | "properties" | "path" | "text")[];

export type SearchCounts = {
  kinds: SearchCount[];
  dataspaces: SearchCount[];
  tags: SearchCount[];
  creators: SearchCount[];
  years: {
    value: number;
    count: number;
  }[];
};

export type SearchCount = {
  value: string;
  name?: string;
  count: number;
};

export type Index = {
  state: "current" | "behind" | "building" | "failing";
  entries: number;
  behind: number;
  texts: "current" | "behind";
  schemas: "current" | "behind";
  documents: number;
  bytes: number;
  failure?: string;
};

export type SetPage = {
  nextPage: NextPage;
  currentPage: CurrentPage;
  data: Set[];
  end: false;
} | End;

export type ResourcePage = {
  nextPage: NextPage;
  currentPage: CurrentPage;
  data: Resource[];
  end: false;
} | End;

export type SetResourcePage = {
  nextPage: NextPage;
  currentPage: CurrentPage;
  data: Resource[];
  folders?: ListedFolder[];
  end: false;
} | End;

export type ListedFolder = {
  path: FolderPath;
};

export type FolderSize = {
  path: string;
  files: number;
  bytes: number;
  bounded: boolean;
};

export type NewFolder = {
  path: FolderPath;
};

export type FolderDestination = {
  path: FolderPath;
  toPath: string;
  setId?: string;
};

export type FolderChange = {
  setId: string;
  path: FolderPath;
  files: number;
  folders: number;
  deletion?: string;
  createdFolders?: FolderPath[];
};

export type Outline = {
  total: number;
  bounded: boolean;
  marks: Mark[];
};

export type Mark = {
  index: number;
  name?: string;
  modified?: string;
  page: string;
};

export type FolderRestoration = {
  path: FolderPath;
  deletion?: string;
  createdFolders?: FolderPath[];
};

export type ManyFiles = {
  action: "delete" | "restore" | "copy" | "move";
  ids: string[];
  setId?: string;
  folder?: string;
};

export type ManyResults = {
  done: number;
  results: ManyResult[];
};

export type ManyResult = {
  id: string;
  resourceId?: string;
  code?: string;
  detail?: string;
  already?: boolean;
};

export type FolderPath = string;

export type VersionPage = {
  nextPage: NextPage;
  currentPage: CurrentPage;
  data: Version[];
  end: false;
} | End;

export type AuditPage = {
  nextPage: NextPage;
  currentPage: CurrentPage;
  data: AuditEntry[];
  end: false;
} | End;

export type UserPage = {
  nextPage: NextPage;
  currentPage: CurrentPage;
  data: User[];
  end: false;
} | End;

export type KeyPage = {
  nextPage: NextPage;
  currentPage: CurrentPage;
  data: Key[];
  end: false;
} | End;

export type PrivilegePage = {
  nextPage: NextPage;
  currentPage: CurrentPage;
  data: Privilege[];
  end: false;
} | End;

export type End = {
  end: true;
};

export type NextPage = string;

export type CurrentPage = string;

export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  requestId: string;
  field?: string;
};

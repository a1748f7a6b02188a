import { randomUUID } from "node:crypto";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import { MemoryWorldStorage } from "../../../src/worlds/memory-world-storage.ts";
import { SecretBox } from "../../../src/worlds/secret-box.ts";
import type { ApiResponse } from "../answers/api-response.ts";
import { withReason } from "../answers/with-reason.ts";
import { API_KEY, createDouble, createProject, type Double, type DoubleOptions } from "../double/double.ts";
import type { DocumentedOperation } from "./public-document.ts";

/** The parameters of the path templates in the document. */
export type Ids = Record<
  | "project_id"
  | "branch_id"
  | "endpoint_id"
  | "operation_id"
  | "key_id"
  | "org_id"
  | "role_name"
  | "database_name"
  | "jwks_id"
  | "permission_id"
  | "vpc_endpoint_id"
  | "region_id"
  | "request_id"
  | "member_id"
  | "source_org_id"
  | "snapshot_id"
  | "oauth_provider_id"
  | "bucket_name"
  | "token_id"
  | "auth_user_id"
  | "auth_provider"
  | "slug"
  | "object_key",
  string
>;

/** Well-formed ids that do not exist. */
export const UNKNOWN_IDS: Ids = {
  project_id: "nowhere-at-all-00000000",
  branch_id: "br-nowhere-at-all-00000000",
  endpoint_id: "ep-nowhere-at-all-00000000",
  operation_id: "00000000-0000-4000-8000-000000000000",
  key_id: "999999999",
  org_id: "org-nowhere-at-all",
  role_name: "nobody",
  database_name: "nothing",
  jwks_id: "00000000-0000-4000-8000-000000000001",
  permission_id: "00000000-0000-4000-8000-000000000002",
  vpc_endpoint_id: "vpce-00000000",
  region_id: "aws-nowhere-1",
  request_id: "00000000-0000-4000-8000-000000000003",
  member_id: "00000000-0000-4000-8000-000000000004",
  source_org_id: "org-nowhere-at-all",
  snapshot_id: "snap-nowhere-at-all-00000000",
  oauth_provider_id: "vercel",
  bucket_name: "nothing",
  token_id: `nak_live_${"0".repeat(32)}`,
  auth_user_id: "00000000-0000-4000-8000-000000000005",
  auth_provider: "stack",
  slug: "nothing",
  object_key: "no/thing",
};

/** API that fills a scene: the double in this process, or a client of a server. */
export type SceneApi = Pick<Double, "api" | "sim" | "advance">;

/** A world with one of everything in two accounts, and no unfinished operations. */
export type Scene<A extends SceneApi = Double> = {
  readonly double: A;
  /**
   * The first account's project, its default branch with primary compute, role and database, an operation, a
   * spare key.
   */
  readonly ids: Ids;
  /** A second branch of that project, without a compute. */
  readonly childId: string;
  /** A third branch, restored from the snapshot of the default branch and not finalized. */
  readonly restoredId: string;
  /** A fourth branch, with a masking rule that is not applied. */
  readonly anonymizedId: string;
  /** A read replica on the default branch. */
  readonly replicaId: string;
  /** The secret of the spare key, which has never been used. */
  readonly spareKey: string;
  /** A key of the first account that has been revoked. */
  readonly revokedKey: string;
  /**
   * An organization of a third account, which is a member of the other two; the first account is a member of
   * it.
   */
  readonly partnerId: string;
  /** A key of the first account's organization. */
  readonly organizationKey: { readonly id: string; readonly secret: string };
  /** A project of another account with all its parts, and the key of that account. */
  readonly others: { readonly ids: Ids; readonly key: string };
};

/** Template that scenes are copied from, because creating one takes about thirty requests. */
type SceneTemplate = { readonly scene: Scene; readonly copyStorage: () => MemoryWorldStorage };

const templates = new Map<string, Promise<SceneTemplate>>();

/** A scene of its own. In memory it is a copy of the first scene with these options. */
export async function createScene(options: DoubleOptions = {}): Promise<Scene> {
  if (options.storage !== undefined) return fillScene(options, await createDouble(options));
  const key = JSON.stringify(options);
  let template = templates.get(key);
  if (template === undefined) {
    template = createTemplate(options);
    templates.set(key, template);
  }
  const { scene, copyStorage } = await template;
  return { ...scene, double: await createDouble({ ...options, storage: copyStorage() }) };
}

async function createTemplate(options: DoubleOptions): Promise<SceneTemplate> {
  const journal = new MemoryJournal();
  const secretBox = new SecretBox();
  const storageOf = (newJournal: () => MemoryJournal) =>
    new MemoryWorldStorage(Date.now, randomUUID, newJournal, secretBox);
  const scene = await fillScene(
    options,
    await createDouble({ ...options, storage: storageOf(() => journal) }),
  );
  await scene.double.close();
  return { scene, copyStorage: () => storageOf(() => journal.copy(journal.head)) };
}

export type SceneOptions = Pick<DoubleOptions, "plan"> & {
  /** Works with the first project before anything is created from its branch. */
  readonly onProject?: (ids: Pick<Ids, "project_id" | "branch_id" | "endpoint_id">) => Promise<void>;
};

/** Fills an empty world, whose first account has the key `API_KEY`. */
export async function fillScene<A extends SceneApi>(options: SceneOptions, double: A): Promise<Scene<A>> {
  const account = (await double.sim("POST", "/accounts", { name: "another", plan: options.plan ?? "paid" }))
    .body;
  const partner = (
    await double.sim("POST", "/accounts", { name: "partner", email: PARTNER, plan: options.plan ?? "paid" })
  ).body;
  const { ids, spareKey, organizationKey } = await fillAccount(double, API_KEY, options.onProject);
  const others = {
    ids: (await fillAccount(double, account.api_key.key)).ids,
    key: account.api_key.key as string,
  };
  const partnerId: string = partner.account.organization_id;
  const me = await expectSuccess(double.api("GET", "/users/me"));
  const invitations = [{ email: me.email, role: "member" }];
  await expectSuccess(
    double.api("POST", `/organizations/${partnerId}/invitations`, { invitations }, partner.api_key.key),
  );
  const project = `/projects/${ids.project_id}`;
  const child = await expectSuccess(double.api("POST", `${project}/branches`, { branch: { name: "child" } }));
  await double.advance("10s");
  const restored = await expectSuccess(
    double.api("POST", `${project}/snapshots/${ids.snapshot_id}/restore`, { name: "restored" }),
  );
  await double.advance("10s");
  const masked = { ...MASKED_COLUMN, masking_function: "anon.fake_email()" };
  const anonymized = await expectSuccess(
    double.api("POST", `${project}/branch_anonymized`, {
      branch_create: { branch: { name: "anonymized" } },
      masking_rules: [masked],
    }),
  );
  await double.advance("10s");
  const replicaId = options.plan === "free" ? "" : await addReplica(double, ids);
  const revoked = await expectSuccess(double.api("POST", "/api_keys", { key_name: "revoked" }));
  await expectSuccess(double.api("DELETE", `/api_keys/${revoked.id}`));
  const [childId, restoredId] = [child.branch.id, restored.branch.id];
  return {
    double,
    ids,
    childId,
    restoredId,
    anonymizedId: anonymized.branch.id,
    replicaId,
    spareKey,
    revokedKey: revoked.key,
    organizationKey,
    partnerId,
    others,
  };
}

export const MASKED_COLUMN = {
  database_name: "neondb",
  schema_name: "public",
  table_name: "users",
  column_name: "email",
};

const PARTNER = "partner@standin.example";

async function fillAccount(
  double: SceneApi,
  key: string,
  onProject: SceneOptions["onProject"] = async () => undefined,
): Promise<Pick<Scene, "ids" | "spareKey" | "organizationKey">> {
  const { created } = await createProject(double, { name: "shop" }, key);
  await onProject({
    project_id: created.project.id,
    branch_id: created.branch.id,
    endpoint_id: created.endpoints[0].id,
  });
  const spare = await expectSuccess(double.api("POST", "/api_keys", { key_name: "spare" }, key));
  const { organizations } = await expectSuccess(double.api("GET", "/users/me/organizations", undefined, key));
  const orgId: string = organizations[0].id;
  const post = (path: string, body: unknown) => expectSuccess(double.api("POST", path, body, key));
  const project = `/projects/${created.project.id}`;
  const vpcEndpointId = `vpce-${orgId}`;
  await post(`/organizations/${orgId}/vpc/region/aws-us-east-2/vpc_endpoints/${vpcEndpointId}`, {
    label: "office",
  });
  await post(`${project}/vpc_endpoints/${vpcEndpointId}`, { label: "office" });
  const added = await post(`${project}/jwks`, {
    jwks_url: "https://issuer.example/jwks.json",
    provider_name: "issuer",
  });
  const permission = await post(`${project}/permissions`, { email: "guest@standin.example" });
  const request = await post(`${project}/transfer_requests`, {});
  await post(`/organizations/${orgId}/invitations`, { invitations: [{ email: PARTNER, role: "member" }] });
  const { members } = await expectSuccess(
    double.api("GET", `/organizations/${orgId}/members`, undefined, key),
  );
  const { snapshot } = await post(`${project}/branches/${created.branch.id}/snapshot?name=kept`, undefined);
  const branch = `${project}/branches/${created.branch.id}`;
  await post(`${branch}/auth`, { auth_provider: "better_auth" });
  await post(`${branch}/auth/domains`, { auth_provider: "better_auth", domain: "https://shop.example" });
  await post(`${branch}/auth/oauth_providers`, { id: "github", client_id: "shop", client_secret: "secret" });
  await post(`${branch}/data-api/${created.databases[0].name}`, undefined);
  await post(`${branch}/buckets`, { name: "files" });
  const credential = await post(`${branch}/credentials`, {
    principal_type: "user",
    scopes: ["storage:read"],
  });
  const user = await post(`${branch}/auth/users`, { email: "somebody@standin.example" });
  const organizationKey = await post(`/organizations/${orgId}/api_keys`, { key_name: "of the organization" });
  const ids: Ids = {
    project_id: created.project.id,
    branch_id: created.branch.id,
    endpoint_id: created.endpoints[0].id,
    operation_id: created.operations[0].id,
    key_id: String(spare.id),
    org_id: orgId,
    role_name: created.roles[0].name,
    database_name: created.databases[0].name,
    jwks_id: String(added.jwks.id),
    permission_id: String(permission.id),
    vpc_endpoint_id: vpcEndpointId,
    region_id: "aws-us-east-2",
    request_id: String(request.id),
    member_id: members.find(({ user }) => user.email === PARTNER).member.id,
    source_org_id: orgId,
    snapshot_id: snapshot.id,
    oauth_provider_id: "github",
    bucket_name: "files",
    token_id: credential.token_id,
    auth_user_id: String(user.id),
    auth_provider: "better_auth",
    slug: "hello",
    object_key: "images/logo.png",
  };
  return {
    ids,
    spareKey: spare.key,
    organizationKey: { id: String(organizationKey.id), secret: organizationKey.key },
  };
}

async function addReplica(double: SceneApi, ids: Ids): Promise<string> {
  const endpoint = { branch_id: ids.branch_id, type: "read_only" };
  const created = await expectSuccess(
    double.api("POST", `/projects/${ids.project_id}/endpoints`, { endpoint }),
  );
  await double.advance("10s");
  return created.endpoint.id;
}

/** The body of a successful answer; throws for any other. */
export async function expectSuccess<Body>(pending: Promise<ApiResponse<Body>>): Promise<Body> {
  const { status, body } = await pending;
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

/** Makes the project busy: its replica is being suspended. */
export async function makeBusy({ double, ids, replicaId }: Scene<SceneApi>): Promise<void> {
  await expectSuccess(double.api("POST", `/projects/${ids.project_id}/endpoints/${replicaId}/suspend`));
}

/** The path template with these ids filled in. */
export function pathOf(
  operation: DocumentedOperation,
  ids: Readonly<Record<string, string>>,
  query = "",
): string {
  return (
    operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(ids[name] ?? "nothing-here"),
    ) + query
  );
}

/** One request as sent, header by header. */
export async function send(
  double: Double,
  method: string,
  path: string,
  {
    body,
    headers = {},
  }: { readonly body?: string | FormData | undefined; readonly headers?: Readonly<Record<string, string>> },
): Promise<ApiResponse> {
  const response = await double.fetch(
    new Request(`http://localhost/api/v2${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    }),
  );
  const text = await response.text();
  const isJson = response.headers.get("content-type") === "application/json";
  const { status } = response;
  const parsed = isJson ? JSON.parse(text) : text;
  const header = (name: string) => response.headers.get(name);
  return { status, headers: response.headers, body: withReason(status, header, parsed) };
}

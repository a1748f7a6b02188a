import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createScene, pathOf, type Scene } from "../../support/document/contract-scene.ts";
import { EXAMPLES } from "../../support/document/operation-examples.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";
import {
  missingFields,
  PUBLISHED_FIELDS,
  type PublishedObject,
  publishedObjectsIn,
} from "../../support/document/published-fields.ts";
import { createDouble, createProject, type Double, type DoubleOptions } from "../../support/double/double.ts";
import { openStorageDouble } from "../../support/double/storage-double.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

const document = loadPublicDocument();
const PROFILES = ["2024", "2026"] as const;

/** Calls an operation; returns which published fields its answer lacks, and violations of the document. */
async function faultsOf(double: Double, operationId: string, path: string, body?: unknown, key?: string) {
  const { method } = document.operation(operationId);
  const response = await double.api(method, path, body, key);
  const found = response.status < 300 ? publishedObjectsIn(operationId, response.body) : [];
  return {
    status: response.status,
    body: response.body,
    kinds: found.map(([kind]) => kind),
    faults: [
      ...found.flatMap(missingFields),
      ...document.answerFaults(operationId, response.status, response.body),
    ],
  };
}

describe.each(PROFILES)("in profile %s", (profile) => {
  const seen = new Set<PublishedObject>();

  test("every answer of every operation has the published fields of its objects", async () => {
    const faults: string[] = [];
    for (const operation of document.operations) {
      const { operationId } = operation;
      for (const example of EXAMPLES[operationId] ?? []) {
        const scene = await createScene({ profile, operations: "immediate" });
        await example.before?.(scene);
        const path = pathOf(operation, { ...scene.ids, ...example.ids?.(scene) }, example.query?.(scene));
        const result = await faultsOf(scene.double, operationId, path, example.body?.(scene));
        expect(result.status).toBeLessThan(300);
        for (const kind of result.kinds) seen.add(kind);
        faults.push(...result.faults.map((fault) => `${operationId}, ${example.title ?? "plain"}: ${fault}`));
      }
    }
    expect(faults).toEqual([]);
    expect([...seen].sort()).toEqual(Object.keys(PUBLISHED_FIELDS).sort());
  }, 300_000);

  test.each(["paid", "free"] as const)("they are there on the %s plan", async (plan) => {
    const scene = await createScene({ profile, plan });
    expect(await readAll(scene)).toEqual([]);
  });
});

const READINGS = [
  "listProjects",
  "getProject",
  "listProjectBranches",
  "getProjectBranch",
  "listProjectEndpoints",
  "getProjectEndpoint",
  "listProjectOperations",
  "listProjectBranchRoles",
  "listProjectBranchDatabases",
  "listApiKeys",
];

async function readAll({ double, ids }: Pick<Scene, "double" | "ids">, key?: string): Promise<string[]> {
  const faults: string[] = [];
  for (const operationId of READINGS) {
    const result = await faultsOf(
      double,
      operationId,
      pathOf(document.operation(operationId), ids),
      undefined,
      key,
    );
    expect({ operationId, status: result.status }).toEqual({ operationId, status: 200 });
    faults.push(...result.faults);
  }
  return faults;
}

const create = (project: unknown, options: DoubleOptions = {}) =>
  createDouble(options).then(async (double) => ({
    double,
    ...(await createProject(double, project as Record<string, unknown>)),
  }));

test("a project without settings has the default of each one", async () => {
  const { double, projectId } = await create({}, { profile: "2026" });
  const { project } = (await double.api("GET", `/projects/${projectId}`)).body;
  expect(project.settings).toEqual({
    allowed_ips: { ips: [], protected_branches_only: false },
    enable_logical_replication: false,
    maintenance_window: { weekdays: [5], start_time: "07:00", end_time: "08:00" },
    block_public_connections: false,
    block_vpc_connections: false,
    hipaa: false,
  });
  expect(project.default_endpoint_settings).toMatchObject({
    autoscaling_limit_min_cu: 0.25,
    autoscaling_limit_max_cu: 0.25,
    suspend_timeout_seconds: 0,
  });
});

test.each([
  [{ allowed_ips: { ips: ["192.0.2.1"] } }, { ips: ["192.0.2.1"], protected_branches_only: false }],
  [{ allowed_ips: { protected_branches_only: true } }, { ips: [], protected_branches_only: true }],
])("settings %j are completed with the defaults", async (settings, allowedIps) => {
  const { created } = await create({ settings });
  expect(created.project.settings.allowed_ips).toEqual({ ...allowedIps, primary_branch_only: false });
});

test.each([
  [{ autoscaling_limit_min_cu: 1 }, 1, 1],
  [{ autoscaling_limit_max_cu: 2 }, 0.25, 2],
  [{ autoscaling_limit_min_cu: 0.5, autoscaling_limit_max_cu: 4 }, 0.5, 4],
])("with the default sizes %j, the project shows the sizes of its new computes", async (sizes, min, max) => {
  const { created } = await create({ default_endpoint_settings: sizes });
  const expected = { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max };
  expect(created.project.default_endpoint_settings).toMatchObject(expected);
  expect(created.endpoints[0]).toMatchObject(expected);
});

test("a project's settings and default sizes can be sent back as they were answered", async () => {
  for (const plan of ["paid", "free"] as const) {
    const { double, projectId } = await create({}, { plan });
    const before = (await double.api("GET", `/projects/${projectId}`)).body.project;
    const { settings, default_endpoint_settings } = before;
    const response = await double.api("PATCH", `/projects/${projectId}`, {
      project: { settings, default_endpoint_settings },
    });
    expect(response.status).toBe(200);
    expect(response.body.operations).toEqual([]);
    expect(response.body.project).toMatchObject({ settings, default_endpoint_settings });
  }
});

test("the owner of a project is its organization, and its branches name the account", async () => {
  const { double, projectId, created } = await create({});
  const me = (await double.api("GET", "/users/me/organizations")).body.organizations[0];
  for (const project of [created.project, (await double.api("GET", "/projects")).body.projects[0]])
    expect([project.owner_id, project.org_id]).toEqual([me.id, me.id]);
  const { branches } = (await double.api("GET", `/projects/${projectId}/branches`)).body;
  for (const branch of [created.branch, ...branches])
    expect(branch.created_by).toEqual({ name: me.name, image: "" });
});

const RELEASES = join(import.meta.dirname, "../../replay/fixtures");
test.each(readdirSync(RELEASES))("a world of release %s has the published fields, too", async (release) => {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  mkdirSync(`${path}/worlds`);
  copyFileSync(join(RELEASES, release, "world.sqlite"), `${path}/worlds/default.sqlite`);
  const stored = await openStorageDouble(path, {
    apiKey: undefined,
    seed: undefined,
    startAt: undefined,
    clock: undefined,
  });
  onTestFinished(stored.end);
  const double = stored.double();
  const { key } = (await double.sim("POST", "/api_keys", { key_name: "mine" })).body;
  const list = await faultsOf(double, "listProjects", "/projects", undefined, key);
  expect(list.faults).toEqual([]);
  expect(list.body.projects.length).toBeGreaterThan(0);
  for (const { id } of list.body.projects) {
    for (const operationId of ["getProject", "listProjectBranches", "listProjectEndpoints"]) {
      const url = pathOf(document.operation(operationId), { project_id: id });
      expect(await faultsOf(double, operationId, url, undefined, key)).toMatchObject({
        status: 200,
        faults: [],
      });
    }
  }
});

test("in profile 2026, the secrets of new keys begin with napi_ and URIs require channel binding", async () => {
  const { double, projectId, created } = await create({}, { profile: "2026" });
  const secrets = [
    (await double.api("POST", "/api_keys", { key_name: "mine" })).body.key,
    (await double.sim("POST", "/api_keys", { key_name: "mine" })).body.key,
    (await double.sim("POST", "/accounts", { name: "other" })).body.api_key.key,
  ];
  const { organizations } = (await double.api("GET", "/users/me/organizations")).body;
  const ofOrganization = `/organizations/${organizations[0].id}/api_keys`;
  secrets.push((await double.api("POST", ofOrganization, { key_name: "ours" })).body.key);
  // A client that puts its key into the wrong place does not leave it in the request log.
  await double.api("GET", `/projects?search=${secrets[0]}`);
  const log = JSON.stringify((await double.sim("GET", "/requests")).body);
  expect(log).toContain("search=[removed]");
  for (const secret of secrets) expect(log).not.toContain(secret);
  for (const secret of secrets) {
    expect(secret).toMatch(/^napi_[A-Za-z0-9]{64}$/);
    expect((await double.api("GET", "/projects", undefined, secret)).status).toBe(200);
  }
  const query = "sslmode=require&channel_binding=require";
  expect(created.connection_uris[0].connection_uri.split("?")[1]).toBe(query);
  const uri = async (more: string) =>
    (
      await double.api(
        "GET",
        `/projects/${projectId}/connection_uri?database_name=neondb&role_name=neondb_owner${more}`,
      )
    ).body.uri;
  const { host, pooler_host } = created.connection_uris[0].connection_parameters;
  expect(await uri("")).toContain(`@${host}/neondb?${query}`);
  expect(await uri("&pooled=true")).toContain(`@${pooler_host}/neondb?${query}`);
});

test("in profile 2024, keys have 64 characters, as in the reference, and URIs only require TLS", async () => {
  const { double, created } = await create({});
  const { key } = (await double.api("POST", "/api_keys", { key_name: "mine" })).body;
  expect(key).toMatch(/^[A-Za-z0-9]{64}$/);
  expect(created.connection_uris[0].connection_uri.split("?")[1]).toBe("sslmode=require");
});

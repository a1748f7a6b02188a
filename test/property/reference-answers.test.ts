import fc from "fast-check";
import { expect, test } from "vitest";
import { API_KEY, createDouble, type Double } from "../support/double/double.ts";
import {
  CREATED_KEY,
  ERROR,
  type Fields,
  LISTED_COMPUTE,
  LISTED_KEY,
  LISTED_PROJECT,
  NEW_COMPUTE,
  OPERATION,
  REVOKED_KEY,
  UPDATED_COMPUTE,
  wrongFields,
} from "../support/oracle/reference-fields.ts";
import { expectHolds } from "../support/properties/properties.ts";

// Random calls over HTTP. Each answer has the fields of the reference's tables, with values of their types.

type Step =
  | { do: "advance"; by: string }
  | { do: "create"; branch: number; type: "read_write" | "read_only" }
  | { do: "update"; compute: number; endpoint: Record<string, unknown> }
  | { do: "move"; compute: number; branch: number }
  | { do: "delete" | "restart" | "query"; compute: number };

const index = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      by: fc.constantFrom("1s", "10s", "5m", "1h"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("create" as const),
      branch: index,
      type: fc.constantFrom("read_write" as const, "read_only" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("update" as const),
      compute: index,
      endpoint: fc.constantFrom<Record<string, unknown>>(
        { autoscaling_limit_max_cu: 2 },
        { suspend_timeout_seconds: 60 },
        { disabled: true },
        { settings: { pg_settings: { work_mem: "8MB" } } },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("move" as const), compute: index, branch: index }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("delete" as const, "restart" as const, "query" as const),
      compute: index,
    }),
  },
);

/** A project with two branches, and its computes. */
class Project {
  readonly #double: Double;
  readonly #path: string;
  readonly #branches: readonly string[];
  #computes: readonly string[] = [];

  private constructor(double: Double, path: string, branches: readonly string[]) {
    this.#double = double;
    this.#path = path;
    this.#branches = branches;
  }

  static async create(double: Double): Promise<Project> {
    const { body } = await double.api("POST", "/projects", { project: {} });
    await double.advance("10s");
    const path = `/projects/${body.project.id}`;
    const dev = await double.api("POST", `${path}/branches`, {});
    const project = new Project(double, path, [body.branch.id, dev.body.branch.id]);
    await double.advance("10s");
    await project.list();
    return project;
  }

  async list(): Promise<void> {
    const { body } = await this.#double.api("GET", `${this.#path}/endpoints`);
    for (const endpoint of body.endpoints) expectFields(endpoint, LISTED_COMPUTE);
    this.#computes = body.endpoints.map(({ id }: { id: string }) => id);
  }

  async take(step: Step): Promise<void> {
    if (step.do === "advance") return void (await this.#double.advance(step.by));
    if (step.do === "create") return this.#create(this.#branch(step.branch), step.type);
    const id = this.#computes[step.compute % Math.max(1, this.#computes.length)];
    if (id === undefined) return;
    const path = `${this.#path}/endpoints/${id}`;
    switch (step.do) {
      case "update":
        return this.#update(path, step.endpoint);
      case "move":
        return this.#update(path, { branch_id: this.#branch(step.branch) });
      case "delete":
        return this.#delete(path);
      case "restart":
        return void (await this.#accepted("POST", `${path}/restart`));
      case "query":
        return void (await this.#double.sim("POST", "/activity", { endpoint_id: id }));
      default:
        return step satisfies never;
    }
  }

  #branch(number: number): string {
    return this.#branches[number % this.#branches.length] as string;
  }

  async #create(branch: string, type: string): Promise<void> {
    const body = await this.#accepted("POST", `${this.#path}/endpoints`, {
      endpoint: { branch_id: branch, type },
    });
    if (body === undefined) return;
    expectFields(body.endpoint, { ...NEW_COMPUTE, branch_id: [branch], type: [type] });
    expectOperations(body.operations, ["start_compute", "running"]);
  }

  /** A disabled compute is idle already, or suspends; a new delay alone suspends nothing. */
  async #update(path: string, endpoint: Record<string, unknown>): Promise<void> {
    const before = await this.#double.api("GET", path);
    const body = await this.#accepted("PATCH", path, { endpoint });
    if (body === undefined) return;
    expectFields(body.endpoint, {
      ...UPDATED_COMPUTE,
      current_state: [before.body.endpoint.current_state],
      ...("branch_id" in endpoint || "settings" in endpoint ? { pending_state: ["idle"] as const } : {}),
    });
    if ("suspend_timeout_seconds" in endpoint) expectOperations(body.operations, ["apply_config", "running"]);
    else if (endpoint["disabled"] === undefined)
      expectOperations(body.operations, ["apply_config", "running"], ["suspend_compute", "scheduling"]);
  }

  async #delete(path: string): Promise<void> {
    const body = await this.#accepted("DELETE", path);
    if (body === undefined) return;
    expectFields(body.endpoint, LISTED_COMPUTE);
    expectOperations(body.operations);
    expect((await this.#double.api("GET", path)).status).toBe(404);
  }

  /** The answer; `undefined` after a rejection, which is an error as documented. */
  async #accepted(method: string, path: string, request?: unknown) {
    const { status, body } = await this.#double.api(method, path, request);
    const isCreation = method === "POST" && request !== undefined;
    if (status === (isCreation ? 201 : 200)) return body;
    expectFields(body, ERROR);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    return undefined;
  }
}

function expectFields(answer: Record<string, unknown>, fields: Fields): void {
  expect(wrongFields(answer, fields)).toEqual([]);
}

/** Each with its fields, and these actions and states in this order. */
function expectOperations(
  operations: readonly Record<string, unknown>[],
  ...expected: (readonly [string, string])[]
): void {
  for (const operation of operations) expectFields(operation, OPERATION);
  expect(operations.map(({ action, status }) => [action, status])).toEqual(expected);
}

async function withDouble(examine: (double: Double) => Promise<void>): Promise<void> {
  const double = await createDouble();
  try {
    await examine(double);
  } finally {
    await double.close();
  }
}

test("every answer about computes has the fields of the reference, and the operations that it names", async () => {
  await expectHolds(
    fc.asyncProperty(fc.array(step, { maxLength: 30, size: "max" }), (steps) =>
      withDouble(async (double) => {
        const project = await Project.create(double);
        for (const step of steps) {
          await project.take(step);
          await project.list();
        }
      }),
    ),
    150,
  );
});

test("every answer about API keys has the fields of the reference, and the secret at the creation only", async () => {
  const name = fc.string({ minLength: 1, maxLength: 64 }).filter((text) => text.trim() !== "");
  const secrets = new Set<string>();
  let created = 0;
  await expectHolds(
    fc.asyncProperty(fc.array(fc.tuple(name, fc.boolean(), fc.boolean()), { maxLength: 8 }), (keys) =>
      withDouble(async (double) => {
        for (const [key_name, isUsed, isRevoked] of keys) {
          const { body: key } = await double.api("POST", "/api_keys", { key_name });
          expectFields(key, CREATED_KEY);
          secrets.add(key.key);
          created += 1;
          if (isUsed) expect((await double.api("GET", "/projects", undefined, key.key)).status).toBe(200);
          const { body: list } = await double.api("GET", "/api_keys");
          for (const item of list) expectFields(item, LISTED_KEY);
          expect(JSON.stringify(list)).not.toContain(key.key);
          const listed = list.find(({ id }: { id: number }) => id === key.id);
          expectFields(listed, {
            name: [key_name],
            ...(isUsed ? { last_used_at: "timestamp" } : {}),
          });
          if (!isRevoked) continue;
          const { body: revoked } = await double.api("DELETE", `/api_keys/${key.id}`);
          expectFields(revoked, { ...REVOKED_KEY, id: [key.id], name: [key_name] });
          expect(JSON.stringify(revoked)).not.toContain(key.key);
        }
      }),
    ),
    60,
  );
  expect(secrets.size).toBe(created);
});

test("a key without a name is not created", async () => {
  const name = fc.oneof(fc.constantFrom(undefined, null, "", true), fc.integer(), fc.array(fc.string()));
  await withDouble(async (double) => {
    const { body: before } = await double.api("GET", "/api_keys");
    await expectHolds(
      fc.asyncProperty(name, async (key_name) => {
        const { status, body } = await double.api("POST", "/api_keys", { key_name });
        expect(status).toBe(400);
        expectFields(body, ERROR);
      }),
      60,
    );
    const ids = (keys: readonly { id: number }[]) => keys.map(({ id }) => id);
    expect(ids((await double.api("GET", "/api_keys")).body)).toEqual(ids(before));
  });
});

test("every project in the list has the fields of the reference", async () => {
  const project = fc.record(
    {
      name: fc.constantFrom("shop", "blog", "Büro"),
      pg_version: fc.constantFrom(14, 15, 16, 17),
      region_id: fc.constantFrom("aws-us-east-2", "aws-eu-central-1"),
    },
    { requiredKeys: [] },
  );
  await expectHolds(
    fc.asyncProperty(fc.array(project, { maxLength: 6 }), fc.constantFrom("1s", "5m", "1h"), (projects, by) =>
      withDouble(async (double) => {
        for (const project of projects)
          expect((await double.api("POST", "/projects", { project })).status).toBe(201);
        await double.advance(by);
        const { body } = await double.api("GET", "/projects?limit=100");
        expect(body.projects).toHaveLength(projects.length);
        for (const project of body.projects) expectFields(project, LISTED_PROJECT);
      }),
    ),
    60,
  );
});

/** Of what the reference describes. */
const CALLS = [
  ["POST", "/api_keys"],
  ["GET", "/api_keys"],
  ["DELETE", "/api_keys/1"],
  ["GET", "/projects"],
  ["POST", "/projects/{project}/endpoints"],
  ["GET", "/projects/{project}/endpoints"],
  ["PATCH", "/projects/{project}/endpoints/{compute}"],
  ["DELETE", "/projects/{project}/endpoints/{compute}"],
  ["POST", "/projects/{project}/endpoints/{compute}/restart"],
] as const;

test("every request without a valid key fails with 401 and changes nothing", async () => {
  const printable = fc.stringMatching(/^[!-~]{1,80}$/);
  const authorization = fc.oneof(
    fc.constant(undefined),
    fc.constantFrom("", "Bearer", API_KEY, `Basic ${API_KEY}`, `Bearer ${API_KEY}x`, `Token ${API_KEY}`),
    printable,
    printable.filter((text) => text !== API_KEY).map((text) => `Bearer ${text}`),
    fc.constant("revoked" as const),
  );
  await withDouble(async (double) => {
    const { body } = await double.api("POST", "/projects", { project: {} });
    const { body: key } = await double.api("POST", "/api_keys", { key_name: "leaked" });
    await double.api("DELETE", `/api_keys/${key.id}`);
    const pathOf = (path: string) =>
      path.replace("{project}", body.project.id).replace("{compute}", body.endpoints[0].id);
    const stateOf = async () => JSON.stringify((await double.sim("GET", "/state")).body);
    const before = await stateOf();
    await expectHolds(
      fc.asyncProperty(fc.constantFrom(...CALLS), authorization, async ([method, path], header) => {
        const value = header === "revoked" ? `Bearer ${key.key}` : header;
        const response = await double.fetch(
          new Request(`http://localhost/api/v2${pathOf(path)}`, {
            method,
            headers: {
              "Content-Type": "application/json",
              ...(value === undefined ? {} : { Authorization: value }),
            },
            ...(method === "POST" || method === "PATCH"
              ? { body: JSON.stringify({ endpoint: { branch_id: body.branch.id }, key_name: "new" }) }
              : {}),
          }),
        );
        expect(response.status).toBe(401);
        expectFields((await response.json()) as Record<string, unknown>, ERROR);
      }),
      300,
    );
    expect(await stateOf()).toBe(before);
  });
});

test("the operations of the reference are at v2 and at no other version", async () => {
  const version = fc.constantFrom("", "/v", "/v1", "/v3", "/V2", "/v20", "/2");
  await withDouble(async (double) => {
    const { body } = await double.api("POST", "/projects", { project: {} });
    await expectHolds(
      fc.asyncProperty(fc.constantFrom(...CALLS), version, async ([method, path], version) => {
        const known = path.replace("{project}", body.project.id).replace("{compute}", body.endpoints[0].id);
        const statusAt = async (base: string) => {
          const request = new Request(`http://localhost${base}${known}`, {
            method,
            headers: { Authorization: `Bearer ${API_KEY}`, "Content-Type": "application/json" },
            // Changes nothing: not even a body that is an object.
            ...(method === "POST" || method === "PATCH" ? { body: "[]" } : {}),
          });
          return (await double.fetch(request)).status;
        };
        expect(await statusAt(`/api${version}`)).toBe(404);
        if (method === "GET") expect(await statusAt("/api/v2")).toBe(200);
        if (method === "PATCH") expect(await statusAt("/api/v2")).toBe(400);
      }),
      100,
    );
  });
});

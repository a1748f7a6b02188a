import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { expect, test } from "vitest";
import { CONTROL_ANSWERS } from "../../../src/control-api/document/answers.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

/** Calls routes such as `GET /faults/:name`, and validates inputs and answers against the document. */
async function documentedCalls(double: Double) {
  const { body: document } = await double.sim("GET", "/openapi.json");
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  const called = new Set<string>();
  const problems: string[] = [];
  const validate = (route: string, what: string, schema: object, value: unknown) => {
    if (!ajv.validate(schema, value)) problems.push(`${route}: ${what}: ${ajv.errorsText()}`);
  };
  return {
    document,
    called,
    problems,
    async call(route: string, params: readonly string[] = [], body?: unknown, query = "") {
      const [method = "", path = ""] = route.split(" ");
      const operation = document.paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
      called.add(route);
      let index = 0;
      const url = path.replaceAll(/:\w+/g, () => encodeURIComponent(params[index++] ?? ""));
      const response = await double.sim(method, `${url}${query}`, body);
      const { content } = operation?.responses[response.status] ?? {};
      if (content === undefined) problems.push(`${route}: no answer with status ${response.status}`);
      else if (content["application/json"] !== undefined)
        validate(route, "answer", content["application/json"].schema, response.body);
      if (body === undefined) return response.body;
      const expected = operation?.requestBody.content["application/json"]?.schema;
      if (expected === undefined) problems.push(`${route}: no schema of the body`);
      else validate(route, "body", expected, body);
      return response.body;
    },
  };
}

const FAULT = { on: { operation: "listProjects" }, when: { first: 1 }, effect: { answer: { status: 503 } } };

test("every route is in the document, and answers as the document says", async () => {
  const double = await createDouble();
  const { call, called, problems, document } = await documentedCalls(double);
  try {
    const { projectId, endpointId, created } = await createProject(double);
    await call("GET /openapi.json");
    await call("GET /health/live", [], undefined, `?challenge=${"0".repeat(32)}`);
    await call("GET /health");
    await call("GET /health/ready");
    await call("GET /clock");
    await call("POST /spans", [], { kind: "begin", endpoint_id: endpointId });
    await call("POST /spans", [], {
      kind: "end",
      endpoint_id: endpointId,
      arrivals: 2,
      data: { written_bytes: 1 },
    });
    await call("PUT /clock", [], { mode: "scaled", factor: 60 });
    await call("PUT /clock", [], { mode: "manual" });
    await call("POST /clock/advance", [], { by: "10m" });
    await call("POST /activity", [], { endpoint_id: endpointId });
    await call("POST /activity", [], [{ endpoint_id: endpointId, at: "2026-01-02T00:00:00Z" }]);
    await call("POST /wait", [], { until: { project_id: projectId }, advance: true });
    await call("GET /branches/:branch_id/data", [created.branch.id]);
    await call("GET /data");
    await call("GET /endpoints");
    await call("GET /endpoints/:endpoint_id/stats", [endpointId]);
    await call("GET /explain/endpoints/:endpoint_id", [endpointId]);
    await call("GET /explain/operations/:operation_id", [created.operations[0].id]);
    const { body: me } = await double.api("GET", "/users/me/organizations");
    const orgId = me.organizations[0].id;
    const invited = { invitations: [{ email: "other@example.com", role: "member" }] };
    const { body: sent } = await double.api("POST", `/organizations/${orgId}/invitations`, invited);
    const { account } = await call("POST /accounts", [], { name: "other", email: "other@example.com" });
    await call("GET /accounts");
    await call("PATCH /accounts/:account_id", [account.id], { plan: "free" });
    const key = await call("POST /api_keys", [], { key_name: "second" });
    await call("GET /api_keys");
    await call("DELETE /api_keys/:key_id", [String(key.id)]);
    await call("POST /organizations/:org_id/invitations/:invitation_id/accept", [
      orgId,
      sent.invitations[0].id,
    ]);
    await call("PUT /faults/:name", ["gone"], FAULT);
    await call("GET /faults/:name", ["gone"]);
    await call("GET /faults");
    await double.api("GET", "/projects");
    await call("DELETE /faults/:name", ["gone"]);
    await call("PUT /faults", [], [{ name: "again", ...FAULT }]);
    await call("PUT /faults", [], { faults: [{ name: "again", ...FAULT }] });
    await call("DELETE /faults");
    await call("GET /requests");
    await call("GET /requests", [], undefined, "?count=true&status=5xx");
    await call("DELETE /requests");
    await call("GET /events", [], undefined, "?limit=10");
    await call("GET /timeline", [], undefined, `?points=50&endpoint_id=${endpointId}`);
    await call("GET /state");
    await call("GET /shadow");
    await call("GET /account-report");
    await call("GET /invariants");
    await call("GET /coverage");
    await call("GET /metrics");
    await call("POST /whatif", [], { policy: "fixed:60" });
    await call("POST /whatif/advice", [], {});
    await call("POST /snapshots", [], { name: "one" });
    await call("GET /snapshots");
    await call("GET /snapshots/:name", ["one"]);
    await call("POST /snapshots/:name/restore", ["one"], {});
    await call("DELETE /snapshots/:name", ["one"]);
    await call("POST /worlds", [], { name: "fork", clock: "60x" });
    await call("PUT /world", [], { if_exists: "keep" });
    await call("GET /worlds");
    await call("GET /worlds/:name", ["fork"]);
    await call("DELETE /worlds/:name", ["fork"]);
    await call("POST /compact", [], { keep: "1d" });
    await call("POST /reset");
    // Needs a world in a file: tested with a process.
    called.add("GET /scenario");
    // Need worlds in files: tested with processes.
    for (const route of Object.keys(CONTROL_ANSWERS)) if (/\/(move|arrival)/.test(route)) called.add(route);
    // Needs Postgres: tested with the contracts.
    called.add("POST /endpoints/:endpoint_id/sql");
    // A page of a run.
    for (const route of ["GET /run", "POST /run", "GET /run/stream"]) called.add(route);
    // A stream does not end.
    called.add("GET /events/stream");
    called.add("GET /requests/stream");
    expect(problems).toEqual([]);
    expect([...called].sort()).toEqual(Object.keys(CONTROL_ANSWERS).sort());
    const { body: unknownPath } = await double.sim("GET", "/nothing");
    const served = [...unknownPath.message.matchAll(/(GET|PUT|POST|PATCH|DELETE) (\/[^\s,]*)/g)]
      .map(([route]) => route)
      .filter((route) => !route.includes("/nothing"));
    expect(served.sort()).toEqual([...called].sort());
    expect(document).toMatchObject({ openapi: "3.1.0", info: { title: "Control API of standin" } });
  } finally {
    await double.close();
  }
});

test("the document has the inputs as the server parses them", async () => {
  const double = await createDouble();
  try {
    const { body: document } = await double.sim("GET", "/openapi.json");
    expect(
      document.paths["/events"]?.["get"]?.parameters.map(({ name, required }) => [name, required]),
    ).toEqual([
      ["since", false],
      ["limit", false],
    ]);
    expect(document.paths["/faults/{name}"]?.["put"]?.parameters[0]).toMatchObject({
      name: "name",
      in: "path",
    });
    const requestBody = document.paths["/clock"]?.["put"]?.requestBody;
    expect(requestBody?.required).toBe(true);
    expect(requestBody?.content["application/json"]?.schema.properties["mode"]?.enum).toContain("scaled");
    expect(document.paths["/reset"]?.["post"]?.requestBody.required).toBe(false);
  } finally {
    await double.close();
  }
});

test("calls that arrive while the document is written get the same one", async () => {
  const double = await createDouble();
  const [one, other] = await Promise.all([
    double.sim("GET", "/openapi.json"),
    double.sim("GET", "/openapi.json"),
  ]);
  expect(Object.keys(one.body.paths).length).toBeGreaterThan(20);
  expect(other.body).toEqual(one.body);
});

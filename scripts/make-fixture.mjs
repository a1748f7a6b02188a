// Makes a fixture of the present state for test/replay: a world's file and its journal, with an event of nearly every kind in them.
// Usage: npm run build && node scripts/make-fixture.mjs test/replay/fixtures/<version>
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error("usage: node scripts/make-fixture.mjs <directory>");
const data = mkdtempSync(join(tmpdir(), "standin-fixture-"));

/** Starts a server on the directory of the fixture. Returns its ready line and a function that stops it. */
const serve = async (...flags) => {
  const server = spawn(
    process.execPath,
    [
      "dist/standin.js",
      "serve",
      "--data",
      data,
      "--port",
      "0",
      "--json",
      "--api-key",
      "fixture-key",
      ...flags,
    ],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const line = await new Promise((resolve) => server.stdout.once("data", resolve));
  const ended = new Promise((resolve) => server.once("exit", resolve));
  process.once("exit", () => server.kill());
  const end = () => {
    server.kill("SIGTERM");
    return ended;
  };
  return { ...JSON.parse(String(line)), end };
};

let { api_url, control_url, end } = await serve(
  "--clock",
  "manual",
  "--seed",
  "7",
  "--start-at",
  "2026-01-01T00:00:00Z",
);

const call = async (url, method, body, expected) => {
  const headers = { Authorization: "Bearer fixture-key", "Content-Type": "application/json" };
  const response = await fetch(url, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (expected === undefined ? !response.ok : response.status !== expected) {
    throw new Error(`${method} ${url}: ${response.status} ${JSON.stringify(answer)}`);
  }
  return answer;
};
const api = (method, path, body, expected) => call(api_url + path, method, body, expected);
const sim = (method, path, body, expected) => call(control_url + path, method, body, expected);
const advance = (by) => sim("POST", "/clock/advance", { by });

// A world that was there before the reset, so that a history has one.
await api("POST", "/projects", { project: { name: "forgotten" } });
await advance("10s");
await sim("POST", "/reset", {});

await sim("POST", "/accounts", { name: "second", id: "second", plan: "free", api_key: "second-key" });
const spare = await sim("POST", "/api_keys", { key_name: "spare", api_key: "spare-key" });
await sim("DELETE", `/api_keys/${spare.id}`);
const { project, branch, endpoints } = await api("POST", "/projects", { project: { name: "shop" } });
const projectPath = `/projects/${project.id}`;
const endpointPath = `${projectPath}/endpoints/${endpoints[0].id}`;
await api("PATCH", endpointPath, { endpoint: { name: "too soon" } }, 423);
await advance("10s");
await api("PATCH", projectPath, { project: { name: "shop 2" } });
await api("PATCH", endpointPath, {
  endpoint: { autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 2, suspend_timeout_seconds: 120 },
});
await advance("20s");
const activity = (fields, id = endpoints[0].id) => sim("POST", "/activity", { endpoint_id: id, ...fields });
await activity({ duration_ms: 30_000, load: 1.5, blocks: { hits: 10, misses: 5, writes: 3 }, source: "app" });
await activity({ kind: "connect", connection_id: "pool-1", pooled: true });
await activity({ kind: "transaction", connection_id: "tx" });
await advance("10m");
await activity({ kind: "disconnect", connection_id: "tx" });
await activity({ at: "2026-01-01T01:00:00.000Z", duration_ms: 1_000, source: "cron" });
await advance("2h");
const dev = await api("POST", `${projectPath}/branches`, {
  branch: { name: "dev", parent_id: branch.id },
  endpoints: [{ type: "read_write" }],
});
await advance("10s");
await api("PATCH", `${projectPath}/branches/${dev.branch.id}`, { branch: { name: "development" } });
await api("POST", `${projectPath}/branches/${dev.branch.id}/set_as_default`);
await activity({ at: "2026-01-01T03:00:00.000Z" }, dev.endpoints[0].id);
await activity({ at: "2026-01-01T03:00:01.000Z", database: "neondb" }, dev.endpoints[0].id);
await api("POST", `${projectPath}/endpoints`, { endpoint: { branch_id: branch.id, type: "read_only" } });
await advance("10s");
await api("PATCH", `${projectPath}/endpoints/${dev.endpoints[0].id}`, { endpoint: { disabled: true } });
await advance("1h");
await api("POST", `${endpointPath}/restart`);
await advance("10s");
await api("POST", `${endpointPath}/suspend`);
await advance("10s");
await api("POST", `${endpointPath}/start`);
await api("DELETE", endpointPath);
await advance("10s");
const doomed = await api("POST", `${projectPath}/branches`, {
  branch: { name: "doomed", parent_id: branch.id },
});
await advance("10s");
await api("DELETE", `${projectPath}/branches/${doomed.branch.id}`);
const gone = await api("POST", "/projects", { project: { name: "gone" } });
await advance("10s");
await api("DELETE", `/projects/${gone.project.id}`);
await advance("1h");

// Features that 0.3.0 added.
const branchPath = `${projectPath}/branches/${branch.id}`;
const settled = async (method, path, body) => {
  const answer = await api(method, path, body);
  await advance("1m");
  return answer;
};
await settled("POST", `${branchPath}/roles`, { role: { name: "alice" } });
await settled("POST", `${branchPath}/roles`, { role: { name: "readers", no_login: true } });
await settled("POST", `${branchPath}/roles/alice/reset_password`);
await settled("DELETE", `${branchPath}/roles/readers`);
await settled("POST", `${branchPath}/databases`, { database: { name: "app", owner_name: "alice" } });
await settled("PATCH", `${branchPath}/databases/app`, { database: { name: "store" } });
const { snapshot } = await settled("POST", `${branchPath}/snapshot?name=first`);
await settled("PATCH", `${projectPath}/snapshots/${snapshot.id}`, { snapshot: { name: "renamed" } });
await settled("PUT", `${branchPath}/backup_schedule`, {
  schedule: [{ frequency: "daily", hour: 3, retention_seconds: 172_800 }],
});
const restored = await settled("POST", `${projectPath}/snapshots/${snapshot.id}/restore`, {
  name: "from snapshot",
});
await settled("POST", `${projectPath}/branches/${restored.branch.id}/finalize_restore`);
const past = {
  source_branch_id: branch.id,
  source_timestamp: "2026-01-01T04:00:00Z",
  preserve_under_name: "before",
};
await settled("POST", `${branchPath}/restore`, past);
const brief = await settled("POST", `${projectPath}/branches`, {
  branch: { name: "brief", expires_at: "2026-01-01T12:00:00Z" },
});
await settled("PATCH", `${projectPath}/branches/${brief.branch.id}`, {
  branch: { expires_at: "2026-01-01T18:00:00Z" },
});
const lost = await settled("POST", `${projectPath}/branches`, { branch: { name: "lost" } });
await settled("DELETE", `${projectPath}/branches/${lost.branch.id}`);
await settled("POST", `${projectPath}/branches/${lost.branch.id}/recover`);
const { jwks } = await settled("POST", `${projectPath}/jwks`, {
  jwks_url: "https://issuer.example/jwks.json",
  provider_name: "issuer",
});
await settled("DELETE", `${projectPath}/jwks/${jwks.id}`);
await settled("POST", `${projectPath}/permissions`, { email: "guest@standin.example" });
await settled("PATCH", projectPath, { project: { settings: { quota: { active_time_seconds: 36_000 } } } });
const passing = await settled("POST", "/projects", { project: { name: "passing" } });
const { id: request } = await settled("POST", `/projects/${passing.project.id}/transfer_requests`, {});
await fetch(`${api_url}/projects/${passing.project.id}/transfer_requests/${request}`, {
  method: "PUT",
  headers: { Authorization: "Bearer second-key", "Content-Type": "application/json" },
  body: "{}",
});

// Features that 0.4.0 added.
await sim("PUT", "/faults/flaky", {
  on: { operation: "createProjectBranch" },
  when: { every: 2 },
  effect: { answer: { status: 503 } },
});
await sim("PUT", "/faults/hiccup", {
  on: { action: "start_compute" },
  when: { first: 2 },
  effect: { operation_fails: { times: 2 } },
});
await settled("POST", `${projectPath}/branches`, {
  branch: { name: "lucky" },
  endpoints: [{ type: "read_write" }],
});
await api("POST", `${projectPath}/branches`, { branch: { name: "unlucky" } }, 503);
await sim("DELETE", "/faults/flaky");
await sim("PUT", "/faults/dead", { on: { action: "start_compute" }, effect: { start_fails: {} } });
await settled("POST", `${projectPath}/branches`, {
  branch: { name: "dead" },
  endpoints: [{ type: "read_write" }],
});
await sim("DELETE", "/faults/dead");
await sim("DELETE", "/faults/hiccup");
await sim("PUT", "/faults/later", {
  on: { operation: "*" },
  when: { from: "2030-01-01T00:00:00Z" },
  effect: { answer: { status: 500 } },
});
await sim("PATCH", "/accounts/second", { plan: "paid" });
await advance("1d");
await api("POST", "/projects", { project: { name: "left in the middle" } });
await activity({ at: "2026-02-01T00:00:00.000Z" }, dev.endpoints[0].id);

// Started again in another way, which is an event too.
await end();
({ api_url, control_url, end } = await serve("--operations", "immediate"));
await api("POST", "/projects", { project: { name: "at once" } });
await advance("1h");

const events = (await sim("GET", "/events?limit=10000")).events;
const state = await sim("GET", "/state");
await end();
mkdirSync(target, { recursive: true });
cpSync(join(data, "worlds/default.sqlite"), join(target, "world.sqlite"));
writeFileSync(join(target, "state.json"), `${JSON.stringify(state, undefined, 1)}\n`);
writeFileSync(join(target, "journal.ndjson"), events.map((event) => `${JSON.stringify(event)}\n`).join(""));
rmSync(data, { recursive: true });
process.stdout.write(
  `${target}: ${events.length} events of ${new Set(events.map(({ type }) => type)).size} kinds\n`,
);

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { API_KEY, createDouble, createProject } from "../support/double/double.ts";
import { expectRow } from "../support/others/client-table.ts";
import { JudgingProxy } from "../support/others/judging-proxy.ts";
import { testDirectory } from "../support/server/running-server.ts";

// The platform's own tool for branches that are described in a file: what it has applied, it must find again.

/** It is a dependency of `neon`, in the version that this needs. */
const MODULE = createRequire(createRequire(import.meta.url).resolve("neon/package.json")).resolve(
  "@neon/config-runtime/v1",
);
const VERSION: string = JSON.parse(readFileSync(join(dirname(MODULE), "../package.json"), "utf8")).version;

/** Of those that call the API; `pullConfig` and `pushConfig` are what these use. */
const FUNCTIONS = ["createBranch", "inspect", "plan", "apply"] as const;

type Change = { readonly action: string; readonly identifier: string };
type Result = { readonly applied: readonly Change[]; readonly conflicts: readonly object[] };
type Target = { readonly projectId: string; readonly branchId: string; readonly api: unknown };
type ConfigTool = {
  defineConfig(policy: object): object;
  createRealNeonApi(options: { readonly apiKey: string; readonly baseUrl: string }): unknown;
  createBranch(
    config: object,
    target: { readonly projectId: string; readonly branchName: string; readonly api: unknown },
  ): Promise<{ readonly branchId: string }>;
  inspect(target: Target): Promise<object>;
  plan(config: object, target: Target): Promise<Result>;
  apply(config: object, target: Target & { readonly updateExisting?: boolean }): Promise<Result>;
};

test("a policy that @neon/config-runtime has applied leaves nothing to do, on a new branch and on main", async () => {
  const tool: ConfigTool = await import(pathToFileURL(MODULE).href);
  // The tool reads the clock of this machine to expire a branch.
  const double = await createDouble({ operations: "immediate", startAt: Date.now() });
  const { projectId, branchId } = await createProject(double);
  const proxy = await JudgingProxy.inFrontOf((request) => double.fetch(request));
  const api = tool.createRealNeonApi({ apiKey: API_KEY, baseUrl: proxy.url });
  const source = join(testDirectory(), "index.mjs");
  writeFileSync(source, "export default { fetch: () => new Response('hello') };\n");
  const config = tool.defineConfig({
    auth: true,
    dataApi: true,
    buckets: { uploads: { access: "private" } },
    functions: { hello: { name: "Hello", source, bundler: "none" } },
    triggers: { hourly: { type: "schedule", function: "hello", cron: "0 * * * *" } },
    branch: ({ name }: { readonly name: string }) => ({
      ...(name === "main" ? { protected: true } : { parent: "main", ttl: "7d" }),
      postgres: {
        computeSettings: { autoscalingLimitMinCu: 0.5, autoscalingLimitMaxCu: 2, suspendTimeout: "10m" },
      },
    }),
  });

  const made = await tool.createBranch(config, { projectId, branchName: "preview", api });
  const preview = { projectId, branchId: made.branchId, api };
  const main = { projectId, branchId, api };
  const planned = await tool.plan(config, main);
  expect(changesIn(planned)).toEqual([
    ...["update main", "update main", "create auth", "create dataApi", "create bucket:uploads"],
    ...["create function:hello", "create trigger:hello:hourly"],
  ]);
  expect(changesIn(await tool.apply(config, { ...main, updateExisting: true }))).toEqual(changesIn(planned));
  expect(await tool.inspect(preview)).toMatchObject({
    branch: { name: "preview", parent: "main", expiresAt: expect.any(String) },
    config: { auth: true, dataApi: true },
    preview: { buckets: [{ name: "uploads" }], functions: [{ slug: "hello" }] },
  });
  // It deploys functions each time, because deployments are versions.
  for (const target of [main, preview])
    expect(changesIn(await tool.plan(config, target))).toEqual(["update function:hello"]);

  const calls = proxy.take();
  await proxy.close();
  expectRow("@neon/config-runtime", VERSION, FUNCTIONS.length, calls);
});

function changesIn({ applied, conflicts }: Result): string[] {
  expect(conflicts).toEqual([]);
  return applied
    .filter(({ action }) => action !== "noop")
    .map(({ action, identifier }) => `${action} ${identifier}`);
}

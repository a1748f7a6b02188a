/** The files of a new user of standin, and the command that uses each. */
export const STARTER_FILES: Readonly<Record<string, { readonly text: string; readonly use: string }>> = {
  "scenario.yaml": {
    use: "npx standin run scenario.yaml",
    text: `# yaml-language-server: $schema=node_modules/@standin/standin/scenarios/scenario.schema.json
# A query wakes a suspended compute.
version: 1
world:
  start_delay: 500ms
  projects:
    shop: {}
steps:
  - name: suspended after ten minutes without a query
    at: 10m
    expect:
      - { state: idle, of: shop/main }
  - name: a query wakes the compute
    activity: { to: shop/main, outcome: waits }
  - name: active
    after: 1s
    expect:
      - { state: active, of: shop/main }
expect:
  - { wait_max: { max: 500ms } }
`,
  },
  "seed.yaml": {
    use: "npx standin serve --seed-file seed.yaml",
    text: `# yaml-language-server: $schema=node_modules/@standin/standin/scenarios/seed.schema.json
# What a server has from its start. Ids that you choose are the same on every run.
version: 1
accounts:
  - id: acme
    keys:
      - { name: local, key: acme-local-key-0123456789 }
    projects:
      - id: shop-project-10000001
        name: shop
        # Or the path of a file. Fills the database of the project once.
        sql:
          text: |
            create table items (id int primary key, name text);
            insert into items values (1, 'first');
        branches:
          - id: br-shop-main-10000001
            name: main
            endpoints:
              - { id: ep-shop-main-10000001, suspend_timeout_seconds: 60 }
`,
  },
  "standin.test.mjs": {
    use: "node --test standin.test.mjs",
    text: `import assert from "node:assert/strict";
import { test } from "node:test";
import { createStandin } from "@standin/standin";

test("a query wakes a suspended compute", async () => {
  const sim = await createStandin({ port: false });
  const response = await sim.fetch("/api/v2/projects", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ project: { name: "shop" } }),
  });
  const { endpoints } = await response.json();
  await sim.advance("10m");
  const { outcome } = await sim.activity({ endpoint_id: endpoints[0].id });
  assert.equal(outcome, "waits");
  await sim.close();
});
`,
  },
};

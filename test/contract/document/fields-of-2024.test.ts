import { expect, test } from "vitest";
import { FIELDS_OF_2024, laterFieldsOf } from "../../recorded-answers/fields-of-2024.ts";
import { createScene, pathOf } from "../../support/document/contract-scene.ts";
import { EXAMPLES } from "../../support/document/operation-examples.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";
import { publishedObjectsIn } from "../../support/document/published-fields.ts";
import { API_KEY, createDouble, type DoubleOptions } from "../../support/double/double.ts";

const document = loadPublicDocument();
/** They did not exist in 2024. */
const LATER_OPERATIONS = /OrgApiKey/;

/** Calls each operation with each example; returns the kinds of objects seen, and their fields that are later than 2024. */
async function laterFieldsWith(options: DoubleOptions) {
  const kinds = new Set<string>();
  const later = new Set<string>();
  for (const operation of document.operations) {
    const { operationId, method } = operation;
    if (LATER_OPERATIONS.test(operationId)) continue;
    for (const example of EXAMPLES[operationId] ?? []) {
      const scene = await createScene({ operations: "immediate", ...options });
      await example.before?.(scene);
      const path = pathOf(operation, { ...scene.ids, ...example.ids?.(scene) }, example.query?.(scene));
      const { status, body } = await scene.double.api(method, path, example.body?.(scene));
      expect([operationId, status < 300]).toEqual([operationId, true]);
      for (const [kind, object] of publishedObjectsIn(operationId, body)) {
        kinds.add(kind);
        for (const field of laterFieldsOf(kind, object)) later.add(`${kind}: ${field}`);
      }
      await scene.double.close();
    }
  }
  return { kinds, later: [...later].sort() };
}

/** By the kind of object. All are from later documents, except `locked`, which is in the reference. */
const LATER_FIELDS = {
  "API key in a list": "created_by",
  branch: `created_by expires_at init_source recovery restore_status restored_as restored_from state_changed_at
    ttl_interval_seconds`,
  "created API key": "created_by",
  endpoint: "name started_at suspended_at",
  project: `owner.name settings.block_public_connections settings.block_vpc_connections settings.hipaa
    settings.maintenance_window settings.preload_libraries`,
  "project in a list": `deleted_at history_retention_seconds locked recoverable_until settings.block_public_connections
    settings.block_vpc_connections settings.hipaa settings.maintenance_window`,
  "revoked API key": "created_at created_by",
  role: "authentication_method",
} as const;
const LATER = Object.entries(LATER_FIELDS)
  .flatMap(([kind, fields]) => fields.split(/\s+/).map((field) => `${kind}: ${field}`))
  .sort();

test("with recorded answers, no operation of profile 2024 has a field that the document of 2024 lacks", async () => {
  const { kinds, later } = await laterFieldsWith({ profile: "2024", answers: "recorded" });
  expect(later).toEqual([]);
  expect(Object.keys(FIELDS_OF_2024).filter((kind) => !kinds.has(kind))).toEqual([]);
}, 120_000);

test("by default, profile 2024 has these later fields, for clients of today", async () => {
  const { later } = await laterFieldsWith({ profile: "2024" });
  expect(later).toEqual(LATER);
}, 120_000);

test("with recorded answers, profile 2026 has its own fields, and lists of projects lack `locked`", async () => {
  const { later } = await laterFieldsWith({ profile: "2026", answers: "recorded" });
  expect(later).toEqual(LATER.filter((field) => field !== "project in a list: locked"));
}, 120_000);

test.each([
  ["2024", "recorded", false],
  ["2024", "reference", true],
  ["2026", "recorded", true],
] as const)(
  "an error in profile %s with answers as %s names its request: %s",
  async (profile, answers, names) => {
    const double = await createDouble({ profile, answers });
    const bodies = await Promise.all(
      ["/projects/nowhere", "/projects?limit=no", "/nothing"].map(async (path) => {
        const response = await double.fetch(
          new Request(`http://localhost/api/v2${path}`, { headers: { Authorization: `Bearer ${API_KEY}` } }),
        );
        return [response.status, "request_id" in ((await response.json()) as object)];
      }),
    );
    expect(bodies).toEqual([
      [404, names],
      [400, names],
      [404, names],
    ]);
  },
);

test.each([
  ["recorded", 80],
  ["reference", 64],
] as const)(
  "with answers as %s, secrets of keys have %i characters, and keys work",
  async (answers, length) => {
    const double = await createDouble({ answers });
    const { key } = (await double.api("POST", "/api_keys", { key_name: "ci" })).body as { key: string };
    expect(key).toMatch(new RegExp(`^[A-Za-z0-9]{${length}}$`));
    expect((await double.api("GET", "/projects", undefined, key)).status).toBe(200);
  },
);

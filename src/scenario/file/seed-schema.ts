import * as z from "zod";
import { issueText } from "../../input-limits/issue-text.ts";
import { ID_PATTERN, ID_RULE } from "../../kernel/ids.ts";
import { fitsPostgresIdentifier } from "../../kernel/text.ts";
import { SECRET_PATTERN, SECRET_RULE } from "../../platform/model/api-key.ts";
import { documented, strictObject } from "../../traffic/generated/pattern-fields.ts";
import { computeFields, projectFields } from "./world-schema.ts";
import { formatProblems, SourceDocument } from "./yaml-document.ts";

const id = z.string().regex(ID_PATTERN, ID_RULE);
const name = z.string().min(1).max(256);

const compute = strictObject({
  id: id
    .startsWith("ep-", "must start with ep-")
    .meta(documented("id of the compute; the API calls a compute an endpoint", "ep-shop-main-10000001")),
  name: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .meta(documented("name of the compute (default: none)", "main compute")),
  ...computeFields,
});

const branch = strictObject({
  id: id
    .startsWith("br-", "must start with br-")
    .meta(documented("id of the branch", "br-shop-main-10000001")),
  name: name.meta(documented("name of the branch", "main")),
  parent: id
    .optional()
    .meta(
      documented(
        "id of an earlier branch in this list (default: the default branch)",
        "br-shop-main-10000001",
      ),
    ),
  protected: z
    .boolean()
    .optional()
    .meta(documented("whether the branch is protected (default: false)", true)),
  endpoints: z
    .array(compute)
    .default([])
    .meta(
      documented("computes of the branch (default: none, but the default branch always has one)", [
        { id: "ep-shop-main-10000001", suspend_timeout_seconds: 60 },
      ]),
    ),
});

const postgresName = z.string().min(1).refine(fitsPostgresIdentifier, "must be at most 63 bytes long");

const project = strictObject({
  id: id.meta(documented("id of the project", "shop-project-10000001")),
  name: name.optional().meta(documented("name of the project (default: the id)", "shop")),
  ...projectFields,
  database: postgresName.optional().meta(documented("name of the database (default: neondb)", "shop")),
  role: postgresName
    .optional()
    .meta(documented("role that owns the database (default: its name with _owner)", "shop_owner")),
  sql: z
    .union([
      z.string().min(1),
      strictObject({
        text: z
          .string()
          .min(1)
          .meta(documented("the statements", "create table items (id int primary key);")),
      }),
    ])
    .optional()
    .meta(
      documented(
        "SQL that fills the database once: a file, relative to this one, or the statements",
        "schema.sql",
        {
          text: "create table items (id int primary key);",
        },
      ),
    ),
  branches: z
    .array(branch)
    .default([])
    .meta(
      documented("branches of the project; the first one is the default branch", [
        { id: "br-shop-main-10000001", name: "main", endpoints: [{ id: "ep-shop-main-10000001" }] },
      ]),
    ),
});

const account = strictObject({
  id: id.meta(documented("id of the account", "acme")),
  name: name.optional().meta(documented("name of the account (default: the id)", "Acme")),
  email: z.email().optional().meta(documented("email address of the account", "dev@example.com")),
  plan: z
    .enum(["paid", "free"])
    .optional()
    .meta(documented("plan of the account (default: the plan of the world)", "free")),
  keys: z
    .array(
      strictObject({
        name: z.string().min(1).max(64).meta(documented("name of the key", "ci")),
        key: z
          .string()
          .regex(SECRET_PATTERN, SECRET_RULE)
          .meta(documented("the key that clients send", "acme-ci-key-0123456789abcdef")),
      }),
    )
    .default([])
    .meta(documented("API keys of the account", [{ name: "ci", key: "acme-ci-key-0123456789abcdef" }])),
  projects: z
    .array(project)
    .default([])
    .meta(documented("projects of the account", [{ id: "shop-project-10000001", name: "shop" }])),
});

export const seedFile = strictObject({
  version: z.literal(1).meta(documented("version of the format", 1)),
  accounts: z
    .array(account)
    .min(1)
    .meta(documented("what the world has from its start", [{ id: "acme" }])),
  $schema: z
    .string()
    .optional()
    .meta(documented("for JSON files: location of this schema", "seed.schema.json")),
}).describe("a standin seed file; see docs/reference/seed-file.md");

/**
 * The contents of a seed file: accounts with keys, projects, branches and computes, each with an id from the
 * file.
 */
export type SeedFile = z.output<typeof seedFile>;
export type SeedAccount = SeedFile["accounts"][number];
export type SeedProject = SeedAccount["projects"][number];
export type SeedBranch = SeedProject["branches"][number];
export type SeedCompute = SeedBranch["endpoints"][number];

/**
 * The seed file is invalid or does not fit the world. A parse error lists every problem with its line and
 * column.
 */
export class SeedFileError extends Error {
  override readonly name = "SeedFileError";
}

/** Reads a seed file in YAML (JSON is YAML too). */
export function parseSeedFile(text: string, fileName: string): SeedFile {
  const source = new SourceDocument(text);
  if (source.problems.length > 0) throw new SeedFileError(formatProblems(fileName, source.problems));
  const parsed = seedFile.superRefine(checkConsistency).safeParse(source.value, { error: issueText });
  if (parsed.success) return parsed.data;
  throw new SeedFileError(formatProblems(fileName, source.problemsOf(parsed.error)));
}

/** Checks across lines: duplicate ids and keys, and parents that do not come before their branch. */
function checkConsistency(file: SeedFile, context: z.RefinementCtx): void {
  const seen = new Set<string>();
  const checkUnique = (kind: string, id: string, path: (string | number)[]) => {
    // A key is a secret and must not appear in a message.
    const what = kind === "key" ? "key" : `${kind} "${id}"`;
    if (seen.has(`${kind} ${id}`))
      context.addIssue({ code: "custom", path, message: `the ${what} appears twice in this file` });
    seen.add(`${kind} ${id}`);
  };
  for (const [a, { id: accountId, keys, projects }] of file.accounts.entries()) {
    checkUnique("account", accountId, ["accounts", a, "id"]);
    for (const [k, { key }] of keys.entries()) checkUnique("key", key, ["accounts", a, "keys", k, "key"]);
    for (const [p, { id: projectId, branches }] of projects.entries()) {
      const path = ["accounts", a, "projects", p];
      checkUnique("project", projectId, [...path, "id"]);
      const earlier = new Set<string>();
      for (const [b, { id: branchId, parent, endpoints }] of branches.entries()) {
        checkUnique("branch", branchId, [...path, "branches", b, "id"]);
        if (parent !== undefined && !earlier.has(parent)) {
          context.addIssue({
            code: "custom",
            path: [...path, "branches", b, "parent"],
            message: `there is no branch "${parent}" before this one in its project`,
          });
        }
        earlier.add(branchId);
        for (const [e, endpoint] of endpoints.entries())
          checkUnique("endpoint", endpoint.id, [...path, "branches", b, "endpoints", e, "id"]);
      }
    }
  }
}

import * as z from "zod";
import { SECRET_PATTERN, SECRET_RULE } from "../../platform/account/api-key.ts";
import { PG_VERSIONS } from "../../platform/catalog/profile-defaults-and-limits.ts";
import { ID_PATTERN, ID_RULE } from "../../platform/core/ids.ts";
import { fitsPostgresIdentifier } from "../../platform/core/text.ts";
import { strictObject } from "../../traffic/pattern-fields.ts";
import { formatProblems, SourceDocument } from "./yaml-document.ts";

const id = z.string().regex(ID_PATTERN, ID_RULE);
const name = z.string().min(1).max(256);

const compute = strictObject({
  id: id.refine((text) => text.startsWith("ep-"), "must start with ep-"),
  type: z.enum(["read_write", "read_only"]).default("read_write"),
  name: z.string().min(1).max(64).optional(),
  autoscaling_limit_min_cu: z.number().optional(),
  autoscaling_limit_max_cu: z.number().optional(),
  suspend_timeout_seconds: z.int().optional(),
  disabled: z.boolean().optional(),
});

const branch = strictObject({
  id: id.refine((text) => text.startsWith("br-"), "must start with br-"),
  name,
  /** Id of an earlier branch in the file; without it, the default branch. */
  parent: id.optional(),
  protected: z.boolean().optional(),
  endpoints: z.array(compute).default([]),
});

const postgresName = z.string().min(1).refine(fitsPostgresIdentifier, "must be at most 63 bytes long");

const project = strictObject({
  id,
  name: name.optional(),
  region_id: z.string().optional(),
  pg_version: z.int().min(PG_VERSIONS.lowest).max(PG_VERSIONS.highest).optional(),
  database: postgresName.optional(),
  role: postgresName.optional(),
  /** The path of a file, or the statements themselves. They fill the project's database once. */
  sql: z.union([z.string().min(1), strictObject({ text: z.string().min(1) })]).optional(),
  /** The first one is the default branch. */
  branches: z.array(branch).default([]),
});

const account = strictObject({
  id,
  name: name.optional(),
  email: z.email().optional(),
  plan: z.enum(["paid", "free"]).optional(),
  keys: z
    .array(
      strictObject({
        name: z.string().min(1).max(64),
        key: z.string().regex(SECRET_PATTERN, SECRET_RULE),
      }),
    )
    .default([]),
  projects: z.array(project).default([]),
});

const seedFile = strictObject({ version: z.literal(1), accounts: z.array(account).min(1) });

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
  const parsed = seedFile.superRefine(checkConsistency).safeParse(source.value);
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

import { execFile } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import {
  createBranch,
  letSuspend,
  serverForTests,
  withoutVerification,
} from "../support/postgres/postgres.ts";
import { testDirectory } from "../support/server/running-server.ts";

// A project as a user has it: a schema in TypeScript, migrations that the tool writes, and a deployment to a branch.

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");
const server = await serverForTests(["--operations", "immediate", "--clock", "manual"]);

function createDrizzleProject(uri: string) {
  const directory = testDirectory();
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  const { connectionString: url } = withoutVerification(uri);
  writeFileSync(
    join(directory, "drizzle.config.ts"),
    `import { defineConfig } from "drizzle-kit";
export default defineConfig({
  dialect: "postgresql", schema: "./schema.ts", out: "./migrations",
  dbCredentials: { url: ${JSON.stringify(url)} },
});`,
  );
  return {
    schema: (columns: string) =>
      writeFileSync(
        join(directory, "schema.ts"),
        `import { integer, pgTable, text, timestamp } from "drizzle-orm/pg-core";
export const posts = pgTable("posts", { id: integer().primaryKey(), title: text().notNull(), ${columns} });`,
      ),
    kit: async (...args: readonly string[]) => {
      const env = { ...process.env, CI: "1" };
      const command = join(ROOT, "node_modules/.bin/drizzle-kit");
      return (await run(command, args, { cwd: directory, env })).stdout;
    },
    read: (path: string) => readFileSync(join(directory, path), "utf8"),
  };
}

test("drizzle-kit migrates a branch, also while its compute is suspended, and reads its schema back", async () => {
  const branch = await createBranch(server);
  const project = createDrizzleProject(branch.uri);
  project.schema("");
  await project.kit("generate", "--name", "first");
  await project.kit("migrate");
  await letSuspend(server, branch);

  project.schema("published: timestamp(), slug: text().unique()");
  await project.kit("generate", "--name", "second");
  await project.kit("migrate");
  await project.kit("pull");
  const pulled = project.read("migrations/schema.ts");
  for (const column of ["title", "published", "slug"]) expect(pulled).toContain(column);

  const path = `/projects/${branch.projectId}/branches/${branch.branchId}/schema?db_name=neondb`;
  expect(JSON.stringify((await server.api("GET", path)).body)).toContain("posts_slug_unique");
});

import { dirname, resolve } from "node:path";
import type { Populate } from "../../app/open-worlds.ts";
import type { PostgresPort } from "../../app/postgres-port.ts";
import { readText } from "../../app/read-text.ts";
import { MAX } from "../../input-limits/limits.ts";
import type { DatabaseSeed } from "../../postgres/data/seed-data.ts";
import { EngineError, ScriptError } from "../../postgres/engine/engine.ts";
import type { SeedFile } from "../../scenario/file/seed-schema.ts";
import { CliError } from "../terminal/cli-error.ts";
import { fileProblem } from "../terminal/file-problem.ts";
import { outsideProblem } from "../terminal/path-within.ts";
import type { Log } from "./log.ts";

export type ReadSeedFile = {
  readonly populate: Populate;
  /** Runs the SQL of the file. `port`: absent if the server accepts no Postgres clients. */
  readonly fillDatabases: (port: PostgresPort | undefined, log: Log) => Promise<void>;
};

type NamedSeed = DatabaseSeed & { readonly origin: string };

/** Reads a seed file and its SQL. The parser is loaded on demand. */
export async function readSeedFile(path: string): Promise<ReadSeedFile> {
  const text = readOrThrow("--seed-file", path, MAX.scenarioFile);
  const { parseSeedFile, SeedFileError } = await import("../../scenario/file/seed-schema.ts");
  const { applySeedFile } = await import("../../scenario/file/seed-file.ts");
  const wrapErrors = <T>(step: string, work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (error instanceof SeedFileError)
        throw new CliError(`--seed-file: cannot ${step} the file: ${error.message}`, step === "use");
      throw error;
    }
  };
  const file = wrapErrors("use", () => parseSeedFile(text, path));
  const seeds = readSql(file, path);
  return {
    populate: (target) => wrapErrors("apply", () => applySeedFile(file, target)),
    fillDatabases: async (port, log) => {
      for (const seed of seeds) await fill(seed, port, log);
    },
  };
}

function readSql(file: SeedFile, path: string): NamedSeed[] {
  return file.accounts
    .flatMap(({ projects }) => projects)
    .flatMap(({ id: projectId, database, sql }) => {
      if (sql === undefined) return [];
      if (typeof sql !== "string")
        return [{ projectId, database, sql: sql.text, origin: `the SQL of project ${projectId}` }];
      const outside = outsideProblem(dirname(path), dirname(path), sql);
      if (outside !== undefined)
        throw new CliError(
          `sql of project ${projectId}: ${outside}; the files of a seed file are in its directory`,
          true,
        );
      const sqlFile = resolve(dirname(path), sql);
      const text = readOrThrow(`sql of project ${projectId}`, sqlFile, MAX.seedSql);
      return [{ projectId, database, sql: text, origin: sqlFile }];
    });
}

/** Without Postgres everything else works, so its absence is a warning. */
async function fill({ origin, ...seed }: NamedSeed, port: PostgresPort | undefined, log: Log): Promise<void> {
  if (port === undefined || !port.runsEngines) {
    log.warn(`the SQL of project ${seed.projectId} is not run, because this server runs no Postgres`);
    return;
  }
  try {
    await port.seed(seed);
  } catch (error) {
    if (error instanceof ScriptError)
      throw new CliError(
        `--seed-file: ${origin}${error.line === undefined ? "" : `:${error.line}`}: ${error.message}`,
      );
    if (!(error instanceof EngineError)) throw error;
    log.error(error, `the SQL of project ${seed.projectId} could not be run; the next start tries it again`);
  }
}

function readOrThrow(what: string, path: string, maxBytes: number): string {
  try {
    return readText(path, maxBytes);
  } catch (error) {
    throw new CliError(`${what}: ${path} ${fileProblem(error)}`, true);
  }
}

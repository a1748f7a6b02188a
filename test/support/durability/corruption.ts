import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../../src/app/create-app.ts";
import { openWorlds } from "../../../src/app/open-worlds.ts";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { openForReading } from "../../../src/store/file/open-read-only.ts";
import { verifyFile } from "../../../src/store/file/verify-world.ts";
import { EVENTS_PER_BLOCK } from "../../../src/store/journal/stored-events.ts";
import { NewerFile, NotAWorldFile } from "../../../src/store/tables/format-version.ts";
import { CorruptFile } from "../../../src/store/tables/journal-checksum.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import { StoreUnavailable } from "../../../src/worlds/world-handle.ts";
import type { ApiResponse } from "../answers/api-response.ts";
import { API_KEY, createDouble } from "../double/double.ts";
import { scheduleActivities } from "../double/scheduled-activities.ts";
import type { ServerClient } from "../server/running-server.ts";
import { fillWorld, queryAll, type WorldQueries, type WorldResponses } from "./full-world.ts";

/** The file of a closed world, and its responses before the damage. */
export type IntactWorld = {
  readonly bytes: Buffer;
  /** Snapshot of the same world. */
  readonly snapshot: Buffer;
  readonly questions: WorldQueries;
  readonly responses: WorldResponses;
};

/** Result of serving a file. */
export type ServeResult =
  | { readonly refused: string }
  | {
      readonly responses: WorldResponses;
      readonly bugs: readonly unknown[];
      readonly snapshots: readonly string[];
    };

/** The finding of `standin verify` in a file; `undefined` if there is none. */
export type VerifyResult = string | undefined;

/**
 * A world with rows in every table. With `keep`, its history begins at a checkpoint that long before its
 * head. With `inBlocks`, its events are in a block.
 */
export async function createIntactFile({
  keep,
  inBlocks = false,
}: {
  readonly keep?: string;
  readonly inBlocks?: boolean;
} = {}): Promise<IntactWorld> {
  const bench = new CorruptionBench();
  try {
    const directory = new DataDirectory(bench.data, MIGRATIONS_FOLDER);
    const double = await createDouble({ storage: directory });
    const questions = await fillWorld(double);
    if (inBlocks) await scheduleActivities(double, EVENTS_PER_BLOCK);
    if (keep !== undefined) await double.sim("POST", "/compact", { keep });
    await double.sim("POST", "/snapshots", { name: "sound" });
    await double.close();
    directory.release();
    const bytes = readFileSync(bench.file);
    const snapshot = readFileSync(join(bench.data, "snapshots/default/sound.sqlite"));
    const intact = { bytes, snapshot, questions, responses: {} };
    bench.replaceFile(bytes);
    const served = await bench.serve(questions);
    if (!("responses" in served)) throw new Error(`an intact file was rejected: ${served.refused}`);
    return { ...intact, responses: served.responses };
  } finally {
    bench.remove();
  }
}

/**
 * A data directory in which one file after another replaces the default world. In memory where the host
 * allows it.
 */
export class CorruptionBench {
  readonly data = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "standin-bench-"));
  readonly file = join(this.data, "worlds", "default.sqlite");

  replaceFile(bytes: Buffer, snapshots: Readonly<Record<string, Buffer>> = {}): void {
    rmSync(this.data, { recursive: true, force: true });
    mkdirSync(join(this.data, "worlds"), { recursive: true });
    mkdirSync(join(this.data, "snapshots", "default"), { recursive: true });
    writeFileSync(this.file, bytes);
    for (const [name, snapshot] of Object.entries(snapshots))
      writeFileSync(this.snapshotFile(name), snapshot);
  }

  snapshotFile(name: string): string {
    return join(this.data, "snapshots", "default", `${name}.sqlite`);
  }

  /** Starts on the directory as `standin serve` does and reads everything. */
  async serve(questions: WorldQueries): Promise<ServeResult> {
    try {
      return await this.use(async (client, bugs) => ({
        responses: await queryAll(client, questions),
        bugs,
        snapshots: (await client.sim("GET", "/snapshots")).body.snapshots.map(({ name }) => name),
      }));
    } catch (error) {
      if (error instanceof StoreUnavailable) return { refused: error.message };
      throw new Error(`start failed with an error that \`serve\` does not explain: ${error}`, {
        cause: error,
      });
    }
  }

  async use<T>(work: (client: ServerClient, bugs: readonly unknown[]) => Promise<T>): Promise<T> {
    const directory = new DataDirectory(this.data, MIGRATIONS_FOLDER);
    try {
      const { worlds } = await openWorlds(directory, {}, () => undefined);
      try {
        const bugs: unknown[] = [];
        const onBug = (bug: unknown) => bugs.push(bug);
        const app = createApp({
          worlds,
          version: "test",
          rateLimit: false,
          hosts: [],
          controlToken: undefined,
          onBug,
        });
        const call = async <Body>(
          path: string,
          method: string,
          body: unknown,
          headers: Record<string, string>,
        ): Promise<ApiResponse<Body>> => {
          const content = body === undefined ? {} : { body: JSON.stringify(body) };
          const response = await app.request(path, {
            method,
            headers: { ...headers, "Content-Type": "application/json" },
            ...content,
          });
          return {
            status: response.status,
            headers: response.headers,
            body: (await response.json()) as Body,
          };
        };
        const api: ServerClient["api"] = (method, path, body, key = API_KEY) =>
          call(`/api/v2${path}`, method, body, { Authorization: `Bearer ${key}` });
        return await work({ api, sim: (method, path, body) => call(`/_sim${path}`, method, body, {}) }, bugs);
      } finally {
        await worlds.close();
      }
    } finally {
      directory.release();
    }
  }

  remove(): void {
    rmSync(this.data, { recursive: true, force: true });
  }
}

/** The report of `standin verify` on a file. Throws for an error that verify does not explain. */
export async function verify(file: string): Promise<VerifyResult> {
  try {
    const reading = openForReading(file, MIGRATIONS_FOLDER);
    try {
      const { ok, differences } = await verifyFile(reading.sqlite, async () => undefined, reading.version);
      return ok ? undefined : `${differences[0]?.where}: ${differences[0]?.message}`;
    } finally {
      reading.close();
    }
  } catch (error) {
    if (error instanceof CorruptFile || error instanceof NewerFile || error instanceof NotAWorldFile)
      return error.message;
    throw new Error(`verify failed with an error that it does not explain: ${error}`, { cause: error });
  }
}

/** Error in the serving or the verification of a damaged file; `undefined` if there is none. */
export function findMisjudgement(
  { responses }: Pick<IntactWorld, "responses">,
  served: ServeResult | Error,
  found: VerifyResult | Error,
): string | undefined {
  if (served instanceof Error) return served.message;
  const wrong = "responses" in served ? findWrongResponse(responses, served) : undefined;
  if (wrong !== undefined)
    return `${wrong} (verify: ${found instanceof Error ? found.message : (found ?? "finds nothing")})`;
  if (found instanceof Error) return found.message;
  if (found !== undefined) return undefined;
  if ("refused" in served) return `verify finds nothing, a server rejects it: ${served.refused}`;
  const error = Object.entries(served.responses).find(
    ([path, { status }]) => status !== responses[path]?.status,
  );
  return error && `verify finds nothing, ${error[0]} returns ${error[1].status}`;
}

function findWrongResponse(
  expected: WorldResponses,
  served: Extract<ServeResult, { responses: WorldResponses }>,
): string | undefined {
  for (const [path, { status, text }] of Object.entries(served.responses)) {
    if (status === 500) return `${path} failed with a bug: ${served.bugs.at(-1)}`;
    if (status < 500 && (status !== expected[path]?.status || text !== expected[path].text))
      return `${path} returns data that was never written`;
  }
  return served.snapshots.length > 0 ? `a start created the snapshots ${served.snapshots}` : undefined;
}

/** Describes the location of a bit in a file. */
export function describeBit(bit: number): string {
  const byte = Math.floor(bit / 8);
  return `bit ${bit % 8} of byte ${byte} (page ${Math.floor(byte / 4096) + 1}, offset ${byte % 4096})`;
}

export function flipBit(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  const byte = Math.floor(bit / 8);
  copy[byte] = (copy[byte] ?? 0) ^ (1 << (bit % 8));
  return copy;
}

export async function catchError<T>(work: () => Promise<T>): Promise<T | Error> {
  try {
    return await work();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

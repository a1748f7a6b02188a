import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { readText } from "../../app/read-text.ts";
import { importRecordedWorld } from "../../app/targets/run-files.ts";
import { placeholderKey } from "../../app/targets/scenario-world.ts";
import { MAX } from "../../input-limits/limits.ts";
import { Watchdog } from "../../postgres/machine/watchdog.ts";
import type { Failed } from "../../scenario/file/failed-schema.ts";
import { ScenarioError } from "../../scenario/parse-scenario.ts";
import { extractWorld, isEmbeddedWorld } from "../history/embedded-world.ts";
import { toFileError } from "../history/world-database.ts";
import { endWithThisProcess, type ReadyServer, startServer, stopServer } from "../server/child-server.ts";
import { CliError } from "../terminal/cli-error.ts";
import { unreadableInput } from "../terminal/input-file.ts";
import { outsideProblem } from "../terminal/path-within.ts";
import { readScenario } from "./run-job.ts";

const SQLITE_HEADER = "SQLite format 3";

/** A failed world that a server has open. */
export type OpenFailedWorld = {
  readonly failed: Failed;
  readonly consoleUrl: string;
  readonly apiUrl: string;
  /** A key of the world; `undefined` if it has none. */
  readonly apiKey: string | undefined;
};

/**
 * Serves the world in a file of something that failed, from a temporary copy, until SIGINT or SIGTERM or until the
 * server is stopped. `onOpen` is called when the server is ready.
 */
export async function serveFailedWorld(
  path: string,
  port: number,
  onOpen: (world: OpenFailedWorld) => Promise<void>,
): Promise<void> {
  const failed = readFailed(path);
  const directory = mkdtempSync(join(tmpdir(), "standin-open-"));
  const watchdog = new Watchdog({ signal: "TERM", directories: () => [directory] });
  watchdog.start();
  const signalled = new Promise<void>((received) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => received());
  });
  try {
    const data = join(directory, "data");
    importFailedWorld(failed, path, directory, data);
    // The file has no data of branches.
    const args = ["--data", data, "--port", String(port), "--pg-port", "none"];
    const server = await startServer(args, {}, (child) => endWithThisProcess(child, watchdog));
    try {
      const { consoleUrl, apiUrl } = server;
      await onOpen({ failed, consoleUrl, apiUrl, apiKey: await firstKeyOf(server) });
      await Promise.race([signalled, once(server.process, "exit")]);
    } finally {
      await stopServer(server.process);
    }
  } finally {
    watchdog.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function readFailed(path: string): Failed {
  let text: string;
  try {
    text = readText(path, MAX.scenarioFile);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw unreadableInput(path, error);
  }
  if (text.startsWith(SQLITE_HEADER))
    throw new CliError(
      `${path}: is the file of a world, not of a failure; import it with: standin import ${path} --data <dir>`,
      true,
    );
  try {
    const failed = readScenario(text, path).variants[0]?.scenario.failed;
    if (failed !== undefined) return failed;
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    throw new CliError(
      `${path}: expected a file that a failed test or standin run --failures wrote:\n${error.message}`,
      true,
    );
  }
  throw new CliError(
    `${path}: is a scenario without the key "failed", so it has no failed world; standin run --failures <dir> writes a file that has one`,
    true,
  );
}

function importFailedWorld({ world }: Failed, path: string, directory: string, data: string): void {
  const extracted = join(directory, "world.sqlite");
  if (isEmbeddedWorld(world)) {
    if (!extractWorld(world, extracted))
      throw new CliError(`${path}: failed.world: the embedded world is damaged or cut off`, true);
  } else {
    const outside = outsideProblem(dirname(path), dirname(path), world);
    if (outside !== undefined) throw new CliError(`${path}: failed.world: ${outside}`, true);
  }
  const file = isEmbeddedWorld(world) ? extracted : resolve(dirname(path), world);
  try {
    importRecordedWorld(data, file, { keepsRequests: true });
  } catch (error) {
    const known = toFileError(isEmbeddedWorld(world) ? "the embedded world" : world, error);
    throw known instanceof CliError ? new CliError(`${path}: failed.world: ${known.message}`, true) : known;
  }
}

async function firstKeyOf({ controlUrl }: ReadyServer): Promise<string | undefined> {
  const response = await fetch(`${controlUrl}/api_keys`);
  const { api_keys } = (await response.json()) as { api_keys: readonly { readonly id: number }[] };
  const [first] = api_keys;
  return first === undefined ? undefined : placeholderKey(first.id);
}

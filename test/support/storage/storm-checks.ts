import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import { DEFAULT_WORLD } from "../../../src/worlds/directory-layout.ts";
import { AUTOMATIC_PREFIX } from "../../../src/worlds/world-handle.ts";
import type { ApiResponse, Rejection } from "../answers/api-response.ts";
import type { Double } from "../double/double.ts";
import { doubleOfWorld, verify } from "../double/storage-double.ts";
import { type Contents, contentOf, type Ledger, type LedgerState, lastOf, worldFile } from "./ledger.ts";
import { control } from "./shim-control.ts";

/**
 * If nothing was changed, no event of the step may be committed; if something was, the answer says so. With
 * `eventsOnly`, the answer need not mention a commit of the clock and of the request log, which copies begin with.
 */
export function checkAnswers(
  answers: readonly ApiResponse<Rejection>[],
  { before, after, eventsOnly }: { before: LedgerState; after: LedgerState; eventsOnly: boolean },
): void {
  const failed = answers.filter(({ status }) => status >= 500);
  for (const { status, body } of failed)
    if (status !== 503) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  const wasUnknown = [...before.values()].filter((contents) => contents.length > 1);
  // A copy of a file whose content an earlier answer left open.
  const isCopied = (contents: Contents) =>
    wasUnknown.some((earlier) => contents.every((content) => earlier.includes(content)));
  const unknown = [...after].find(
    ([file, contents]) =>
      contents.length > 1 &&
      (before.get(file)?.length ?? 1) === 1 &&
      !isCopied(contents) &&
      !(eventsOnly && new Set(contents.map(lastOf)).size === 1),
  );
  // A world that cannot be opened has changed nothing for a request, whatever its opening has written.
  const isNamed = failed.some(
    ({ body }) => body.code === "OUTCOME_UNKNOWN" || body.message.includes("cannot be opened"),
  );
  if (unknown !== undefined && !isNamed)
    throw new Error(
      `the outcome of a change of ${unknown[0]} is unknown, but no answer says so: ${JSON.stringify(answers)}`,
    );
  const isRequestAlone = answers.length === 1 && failed.length === 1;
  if (!isRequestAlone || !failed[0]?.body.message.endsWith("nothing was changed")) return;
  for (const [file, [content]] of after) {
    const previous = before.get(file);
    // A world that is opened for the first time is not in the ledger yet. An outcome that was unknown may be settled.
    if (previous?.length === 1 && lastOf(previous[0]) !== lastOf(content))
      throw new Error(`${file} was changed, but the answer is: ${failed[0].body.message}`);
  }
}

/** Once calls succeed again, each world is in the state that the answers stated. */
export async function checkOutcome(double: Double, ledger: Ledger): Promise<void> {
  control("heal");
  for (const name of followedWorlds(ledger)) {
    const world = name === DEFAULT_WORLD ? double : doubleOfWorld(double, name);
    // Opens the world if it is closed, which settles an outcome that was unknown.
    const events = await world.world.events(0, Number.MAX_SAFE_INTEGER);
    const [committed] = ledger.contents(worldFile(name));
    contentOf(`world ${name} in service`, events.slice(0, committed?.length), [committed]);
    const { body } = await world.sim("GET", "/invariants");
    if (body.ok !== true) throw new Error(`invariants of world ${name}: ${JSON.stringify(body)}`);
  }
}

/** The worlds that exist and have been opened. */
function followedWorlds(ledger: Ledger): string[] {
  return [...ledger.state.keys()]
    .filter((file) => dirname(file) === "worlds" && ledger.isFollowed(file))
    .filter((file) => !ledger.contents(file).includes(undefined))
    .map((file) => basename(file, ".sqlite"));
}

/** A start finds everything that was acknowledged, and nothing that was not requested. */
export async function checkDirectory(path: string, state: LedgerState, what: string): Promise<void> {
  try {
    new DataDirectory(path, MIGRATIONS_FOLDER).release();
    for (const [file, contents] of state)
      await checkFile(join(path, file), file, contents).catch((error: Error) => {
        throw new Error(`${file}: ${error.message}`, { cause: error });
      });
    checkNothingElse(path, state);
  } catch (error) {
    throw new Error(`${what}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

async function checkFile(path: string, file: string, contents: Contents): Promise<void> {
  if (!existsSync(path)) {
    if (!contents.includes(undefined)) throw new Error("is missing");
    return;
  }
  if (contents.every((content) => content === undefined)) {
    // The name could not be removed after a restore had failed.
    if (isAutomatic(file)) return;
    throw new Error("was deleted, but exists");
  }
  const isWorld = dirname(file) === "worlds";
  const store = openStore(path, { migrationsFolder: MIGRATIONS_FOLDER, marksHead: isWorld });
  const events = store.journal.events(0, Number.MAX_SAFE_INTEGER);
  store.close();
  contentOf("it", events, contents);
  if (!isWorld) return;
  const { ok, differences } = await verify(path);
  if (!ok) throw new Error(`verify: ${JSON.stringify(differences.slice(0, 3))}`);
}

/** Checks that no other file exists. Files preserved by failed upgrades and restores have other names and may stay. */
function checkNothingElse(path: string, state: LedgerState): void {
  for (const file of readdirSync(path, { recursive: true }) as string[]) {
    const isData = file.endsWith(".sqlite") && !isAutomatic(file);
    if (isData && !state.has(file)) throw new Error(`${file} was never requested`);
  }
}

function isAutomatic(file: string): boolean {
  return basename(file).startsWith(AUTOMATIC_PREFIX);
}

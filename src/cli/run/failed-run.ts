import { mkdirSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Scenario } from "../../scenario/file/scenario-schema.ts";
import type { RunFailure } from "../../scenario/run/verdict.ts";
import { resolvePoint, worldAt } from "../../simulation/replay.ts";
import { removeDatabase } from "../../store/file/atomic-file.ts";
import { DEFAULT_WORLD } from "../../worlds/directory-layout.ts";
import { embedWorld, isEmbeddedWorld } from "../history/embedded-world.ts";
import { failedEntry, writeScenarioFile } from "../history/failed-world.ts";
import {
  type PendingWorld,
  placeWorlds,
  removeEarlierFailure,
  worldBeside,
} from "../history/failure-files.ts";
import { unfinishedWorldAt } from "../history/world-copy.ts";
import {
  openWorldDatabase,
  openWorldJournal,
  toFileError,
  worldDatabasePath,
} from "../history/world-database.ts";

/** The scenario of a run as its file states it, without a matrix. */
export type FailedScenario = {
  readonly title: string;
  /** The path that the paths in the scenario are relative to. */
  readonly file: string;
  readonly source: Readonly<Record<string, unknown>>;
  /** Values of the command line that replace values of the file. */
  readonly given: Partial<Pick<Scenario["world"], "seed" | "profile">>;
};

const MAX_NAME_LENGTH = 200;

/** The file of a run that fails: its scenario, and its world at the first failure. */
export class FailedRunFile {
  readonly #path: string;
  /** Path of the world at the failure, if the world is too large for the file. */
  readonly #world: string;
  /** The data directory of the run. */
  readonly #data: string;
  #captured: { readonly failure: RunFailure; readonly world: PendingWorld } | undefined;

  constructor(path: string, data: string) {
    this.#path = path;
    this.#world = worldBeside(path, "failed");
    this.#data = data;
    mkdirSync(dirname(path), { recursive: true });
    removeEarlierFailure(path, ["failed"]);
  }

  /** Copies the world of the run, which has just failed, as of the instant of the failure. */
  async capture(failure: RunFailure): Promise<void> {
    const file = worldDatabasePath(this.#data, DEFAULT_WORLD);
    const database = openWorldDatabase(file);
    try {
      const { row, journal } = openWorldJournal(database, file);
      const head = { seq: row.seq, at: row.now };
      // A violation is found after the part of an advance that it is in.
      const at = Math.min(Date.parse(failure.at), head.at);
      const point = at === head.at ? undefined : resolvePoint(journal, { at }, head);
      const { seq } = point?.ok === true ? point.value : head;
      const unfinished = await unfinishedWorldAt(file, this.#world, {
        rewindTo: {
          seq,
          at: point?.ok === true ? at : head.at,
          world: await worldAt(journal, seq, () => setImmediate()),
        },
        originWorld: DEFAULT_WORLD,
        withHistory: true,
        keepsRequests: true,
      });
      this.#captured = { failure, world: { path: this.#world, unfinished } };
    } catch (error) {
      throw toFileError(file, error);
    } finally {
      database.close();
    }
  }

  /** Writes the file, if a failure was captured. */
  write({ title, file, source, given }: FailedScenario): void {
    if (this.#captured === undefined) return;
    const { failure, world: failedWorld } = this.#captured;
    const { $schema: _, matrix: __, failed: ___, world, traffic, ...rest } = source;
    const pathFrom = (path: string) => relative(dirname(this.#path), resolve(dirname(file), path));
    const sources = Array.isArray(traffic) ? (traffic as readonly Readonly<Record<string, unknown>>[]) : [];
    const initialFile = (world as { readonly file?: string } | undefined)?.file;
    writeScenarioFile(this.#path, {
      ...rest,
      name: title.slice(0, MAX_NAME_LENGTH),
      ...(sources.length === 0
        ? {}
        : {
            traffic: sources.map((each) =>
              each["pattern"] === "replay" ? { ...each, file: pathFrom(String(each["file"])) } : each,
            ),
          }),
      world: {
        ...(world as object | undefined),
        ...given,
        ...(initialFile === undefined || isEmbeddedWorld(initialFile)
          ? {}
          : { file: embedWorld(resolve(dirname(file), initialFile)) ?? pathFrom(initialFile) }),
      },
      failed: failedEntry(
        {
          by: "run",
          what: failure.what,
          message: `expected ${failure.expected}, got ${failure.actual}`,
        },
        ...([failure.at, [], failedWorld] as const),
      ),
    });
    placeWorlds([failedWorld]);
  }

  /** Removes what `write` has not used, such as after an interrupted run. */
  close(): void {
    if (this.#captured !== undefined) removeDatabase(this.#captured.world.unfinished);
  }
}

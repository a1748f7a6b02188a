import type { Hono } from "hono";
import type { WatchedRun } from "../../control-api/http/watched-run.ts";
import { ConnectionLost } from "../../http/connection-lost.ts";
import { CODE_HEADER } from "../../http/errors.ts";
import { parseDistribution } from "../../kernel/distribution.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import { validApiKeys } from "../../platform/rules/account/decide-api-key.ts";
import type { World } from "../../platform/world/world.ts";
import type { Labels } from "../../scenario/file/labels.ts";
import type { Scenario } from "../../scenario/file/scenario-schema.ts";
import { applySeedFile } from "../../scenario/file/seed-file.ts";
import { everyStep, type Step } from "../../scenario/file/step-schema.ts";
import type { WorldDescription } from "../../scenario/file/world-schema.ts";
import {
  CannotRunError,
  CONNECTION_LOST,
  type ScenarioTarget,
  type TargetRequest,
  type TargetResponse,
} from "../../scenario/run/target.ts";
import { type ArrivalSource, NO_ARRIVALS } from "../../simulation/arrival-source.ts";
import { DiscardingJournal } from "../../simulation/discarding-journal.ts";
import { MemoryJournal } from "../../simulation/memory-journal.ts";
import { DataDirectory } from "../../worlds/data-directory.ts";
import { createApp } from "../create-app.ts";
import type { InProcessPostgres } from "../in-process-postgres.ts";
import { memoryStorage, type OpenedWorlds, openWorlds } from "../open-worlds.ts";
import { MIGRATIONS_FOLDER } from "../package-root.ts";
import { crash, importRecordedWorld } from "./run-files.ts";
import { addLabels, createLabels, keyOf, placeholderKey, seedFileOf } from "./scenario-world.ts";
import { worldDigest } from "./world-digest.ts";

/** Bounds the memory of a long run to some hundreds of megabytes. */
const MAX_EVENTS_IN_MEMORY = 1_000_000;
/**
 * Steps that read history or go back in it. Reporting a failure does not need history: a run observes every
 * event.
 */
const NEEDS_HISTORY = [
  "request",
  "control",
  "snapshot",
  "restore",
] as const satisfies readonly (keyof Step)[];
const MANUAL = { mode: "manual", factor: 0 } as const;
const ORIGIN = "http://standin.localhost";

/**
 * Opens the world of a scenario in this process: in memory, or in files of the directory `data`. With
 * `worldDatabase`, the world begins as a copy of that file; this needs `data`.
 */
export async function openInProcessTarget(
  { world, steps }: Pick<Scenario, "steps"> & { readonly world: WorldDescription },
  data?: string,
  worldDatabase?: string,
  run?: WatchedRun,
  enginesData?: string,
): Promise<ServedTarget> {
  const has = (action: keyof Step) => [...everyStep(steps)].some((step) => step[action] !== undefined);
  const needs = { history: run !== undefined || NEEDS_HISTORY.some(has), sql: has("sql"), enginesData };
  const target = new InProcessTarget(world, data, needs, run);
  if (data !== undefined && worldDatabase !== undefined) target.importWorld(data, worldDatabase);
  await target.open();
  return target;
}

/** A target whose surfaces can be served. */
export type ServedTarget = ScenarioTarget & { readonly fetch: Hono["fetch"] };

/** What the steps of a scenario use. */
type Needs = { readonly history: boolean; readonly sql: boolean; readonly enginesData: string | undefined };

class InProcessTarget implements ServedTarget {
  readonly labels: Labels;
  readonly #description: WorldDescription;
  readonly #data: string | undefined;
  readonly #needs: Needs;
  /** The run that the surfaces show, on a page. */
  readonly #run: WatchedRun | undefined;
  #directory: DataDirectory | undefined;
  #opened: OpenedWorlds | undefined;
  #app: Hono | undefined;
  /** Absent if no step executes SQL. */
  #postgres: InProcessPostgres | undefined;
  #world: World | undefined;
  #events: RecordedEvent[] = [];
  #isAdvancing = false;
  /** The newest event that the arrival source observed during a request. */
  #lastObservedSeq = 0;
  #isImported = false;

  constructor(
    description: WorldDescription,
    data: string | undefined,
    needs: Needs,
    run: WatchedRun | undefined,
  ) {
    this.#run = run;
    this.#description = description;
    this.#data = data;
    this.#needs = needs;
    this.labels = createLabels(description);
  }

  /** Begins with a copy of a world's file, whose keys are others there: `recorded-key-` and their number. */
  importWorld(data: string, file: string): void {
    importRecordedWorld(data, file);
    this.#isImported = true;
  }

  async open(): Promise<void> {
    const { seed, start, profile, calibration, plan, operations, durations, start_delay, limits } =
      this.#description;
    const bugs: unknown[] = [];
    this.#directory = this.#data === undefined ? undefined : new DataDirectory(this.#data, MIGRATIONS_FOLDER);
    const file = seedFileOf(this.#description);
    const hooks = {
      onDataReleased: () => this.#postgres?.dataReleased(),
      beforeCopy: async (copied: string) => this.#postgres?.prepareCopy(copied),
    };
    this.#opened = await openWorlds(
      this.#directory ??
        memoryStorage(() =>
          this.#needs.history ? new MemoryJournal({ limit: MAX_EVENTS_IN_MEMORY }) : new DiscardingJournal(),
        ),
      this.#isImported
        ? { clock: MANUAL, ...hooks }
        : {
            ...hooks,
            ...{
              seed,
              profile,
              calibration,
              plan,
              operations,
              durations,
              startAt: start,
              planLimits: limits,
            },
            startDelay: start_delay === undefined ? undefined : parseDistribution(start_delay),
            clock: MANUAL,
            populate: (target) => applySeedFile(file, target),
          },
      (error) => bugs.push(error),
    );
    const { worlds, world } = this.#opened;
    if (this.#needs.sql) {
      const { openPostgresOfRun } = await import("./run-postgres.ts");
      this.#postgres = await openPostgresOfRun(worlds, this.#directory?.path, {
        sqlClock: this.#description.sql_clock,
        enginesData: this.#needs.enginesData,
      });
    }
    this.#app = createApp({
      worlds,
      postgres: this.#postgres?.services,
      version: "scenario",
      rateLimit: false,
      hosts: [new URL(ORIGIN).hostname],
      controlToken: undefined,
      callsServers: false,
      ...(this.#run === undefined ? {} : { console: "run", run: this.#run }),
      onBug: rethrow,
    });
    await this.#refreshWorld();
    if (this.#isImported) addLabels(this.labels, this.world());
    world.subscribe((events) => {
      if (!this.#isAdvancing) this.#events.push(...events.filter(({ seq }) => seq > this.#lastObservedSeq));
    });
    if (bugs.length > 0) throw bugs[0];
  }

  readonly fetch: Hono["fetch"] = (request, env) => {
    if (this.#app === undefined) throw new Error("the target is not open");
    return this.#app.fetch(request, env);
  };

  world(): World {
    if (this.#world === undefined) throw new Error("the target is not open");
    return this.#world;
  }

  now(): SimTime {
    return this.#hostedWorld().now();
  }

  keyOf(account: string): string {
    if (!this.#isImported) return keyOf(account);
    const [first] = validApiKeys(this.world(), this.labels.get(account)?.id ?? account);
    if (first === undefined)
      throw new CannotRunError(
        `account ${account} has no valid API key in the imported world; create one before exporting it`,
      );
    return placeholderKey(first.id);
  }

  async request(
    { surface, method, path, body, key, signal }: TargetRequest,
    arrivals: ArrivalSource,
  ): Promise<TargetResponse> {
    const headers = {
      "Content-Type": "application/json",
      ...omitUndefined({ Authorization: key === undefined ? undefined : `Bearer ${key}` }),
    };
    const url = `${ORIGIN}${surface === "api" ? "/api/v2" : "/_sim"}${path}`;
    this.#hostedWorld().attachArrivals(this.#withEarlierEvents(arrivals));
    const response = await this.#fetch(
      new Request(url, {
        method,
        headers,
        ...omitUndefined({ body: body === undefined ? undefined : JSON.stringify(body), signal }),
      }),
    );
    await this.#refreshWorld();
    this.#hostedWorld().attachArrivals(NO_ARRIVALS);
    this.#lastObservedSeq = 0;
    if (response === undefined) return CONNECTION_LOST;
    const text = await response.text();
    return {
      status: response.status,
      body: text === "" ? undefined : JSON.parse(text),
      refusedWith: response.headers.get(CODE_HEADER) ?? undefined,
    };
  }

  /** Lets the source first observe the events that the request caused before it advanced the clock. */
  #withEarlierEvents(arrivals: ArrivalSource): ArrivalSource {
    return {
      get at() {
        return arrivals.at;
      },
      take: () => arrivals.take(),
      observe: (event) => {
        for (const earlier of this.takeEvents()) arrivals.observe(earlier);
        this.#lastObservedSeq = event.seq;
        arrivals.observe(event);
      },
      observeRefusal: (activity, refusal, at) => arrivals.observeRefusal(activity, refusal, at),
    };
  }

  /** `undefined` if a fault drops the connection. */
  async #fetch(request: Request): Promise<Response | undefined> {
    try {
      return await this.fetch(request);
    } catch (error) {
      if (error instanceof ConnectionLost) return undefined;
      throw error;
    }
  }

  async runUntil(arrivals: ArrivalSource, to: SimTime): Promise<void> {
    this.#isAdvancing = true;
    try {
      await this.#hostedWorld().advanceWithArrivals(arrivals, to);
    } finally {
      this.#isAdvancing = false;
    }
  }

  takeEvents(): readonly RecordedEvent[] {
    return this.#events.splice(0);
  }

  /** Opens the files as they are now, as after a crash. The data of branches is not copied, but stays. */
  async restart(): Promise<void> {
    const data = this.#data;
    if (data === undefined) throw new Error("a world in memory cannot be restarted");
    await crash(data, () => this.close());
    await this.open();
  }

  async flush(): Promise<void> {
    await this.#hostedWorld().flush();
  }

  async digest(): Promise<string> {
    return worldDigest(this.world());
  }

  async close(): Promise<void> {
    await this.#postgres?.close();
    this.#postgres = undefined;
    await this.#opened?.worlds.close();
    await this.#directory?.release();
    this.#opened = undefined;
  }

  /** A failure or a restore reopens the world, so any call may replace the object. */
  async #refreshWorld(): Promise<void> {
    this.#world = await this.#hostedWorld().transact((transaction) => transaction.world);
  }

  #hostedWorld() {
    if (this.#opened === undefined) throw new Error("the target is not open");
    return this.#opened.world;
  }
}

function rethrow(error: unknown): never {
  throw error;
}

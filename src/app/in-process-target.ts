import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hono } from "hono";
import { renderState } from "../control/routes/state.ts";
import { ConnectionLost } from "../http/connection-lost.ts";
import { validApiKeys } from "../platform/account/api-key.ts";
import { parseDistribution } from "../platform/core/distribution.ts";
import type { SimTime } from "../platform/core/time.ts";
import { emptyWorld, type World } from "../platform/core/world.ts";
import type { RecordedEvent } from "../platform/events.ts";
import { accountsOf, Labels } from "../scenario/file/labels.ts";
import { everyStep, type Scenario, type Step, type WorldDescription } from "../scenario/file/scenario-schema.ts";
import { layOut, type WorldFile } from "../scenario/file/seed-file.ts";
import { type Answer, type Call, CannotPlay, CONNECTION_LOST, type Stage } from "../scenario/run/target.ts";
import { type Feed, NO_FEED } from "../simulation/feed.ts";
import { MemoryJournal } from "../simulation/journal.ts";
import { NoHistory } from "../simulation/no-history.ts";
import { emptySecrets } from "../store/file/export-world.ts";
import { copyForWriting } from "../store/file/open-read-only.ts";
import { DataDirectory, DEFAULT_WORLD } from "../worlds/data-directory.ts";
import { hashSecret } from "../worlds/secrets.ts";
import { createApp, MIGRATIONS_FOLDER, memoryShelf, type OpenedWorlds, openWorlds } from "./compose.ts";

/** So many events of a world in memory are kept where a step may ask for them: some hundreds of megabytes, however long a run is. */
const EVENTS_IN_MEMORY = 1_000_000;
/** Those that look at what was, or go back to it. What led to a failure is told without: a run watches every event as it comes. */
const LOOKS_BACK = ["request", "control", "snapshot", "restore"] as const satisfies readonly (keyof Step)[];
const MANUAL = { mode: "manual", factor: 0 } as const;
const ORIGIN = "http://standin.localhost";

/**
 * A world of a scenario in this process: in memory, or in files of the directory `data`. Where it begins with a world that is there
 * already, that is a copy of `worldFile`, and needs a directory.
 */
export async function openLocalStage({ world, steps }: Scenario, data?: string, worldFile?: string): Promise<Stage> {
  const looksBack = [...everyStep(steps)].some((step) => LOOKS_BACK.some((action) => step[action] !== undefined));
  const stage = new LocalStage(world, data, looksBack);
  if (data !== undefined && worldFile !== undefined) stage.adopt(data, worldFile);
  await stage.open();
  return stage;
}

/** A directory of its own for a run whose files nobody wants to keep; gives what removes it. */
export function temporaryDirectory(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "standin-run-"));
  return { path: join(path, "data"), remove: () => rmSync(path, { recursive: true, force: true }) };
}

class LocalStage implements Stage {
  readonly labels: Labels;
  readonly #description: WorldDescription;
  readonly #data: string | undefined;
  readonly #looksBack: boolean;
  #directory: DataDirectory | undefined;
  #opened: OpenedWorlds | undefined;
  #app: Hono | undefined;
  #world: World | undefined;
  #events: RecordedEvent[] = [];
  #isPlaying = false;
  /** The newest event that a feed was told of during a call. */
  #told = 0;
  #isAdopted = false;

  constructor(description: WorldDescription, data: string | undefined, looksBack: boolean) {
    this.#description = description;
    this.#data = data;
    this.#looksBack = looksBack;
    this.labels = labelsIn(description);
  }

  /** Begins with a copy of a world's file, whose keys are others there: `recorded-key-` and their number. */
  adopt(data: string, file: string): void {
    const directory = new DataDirectory(data, MIGRATIONS_FOLDER);
    try {
      directory.adopt(DEFAULT_WORLD, (copy) => {
        copyForWriting(file, copy);
        emptySecrets(copy, { migrationsFolder: MIGRATIONS_FOLDER }, (keyId) => hashSecret(recordedKey(keyId)));
      });
    } finally {
      directory.release();
    }
    this.#isAdopted = true;
  }

  async open(): Promise<void> {
    const { seed, start, profile, plan, operations, start_delay, limits } = this.#description;
    const bugs: unknown[] = [];
    this.#directory = this.#data === undefined ? undefined : new DataDirectory(this.#data, MIGRATIONS_FOLDER);
    const file = worldFileOf(this.#description);
    this.#opened = await openWorlds(
      this.#directory ?? memoryShelf(() => (this.#looksBack ? new MemoryJournal({ keep: EVENTS_IN_MEMORY }) : new NoHistory())),
      this.#isAdopted
        ? { clock: MANUAL }
        : {
            ...{ seed, profile, plan, operations, startAt: start, planLimits: limits },
            startDelay: start_delay === undefined ? undefined : parseDistribution(start_delay),
            clock: MANUAL,
            layOut: (stage) => layOut(file, stage),
          },
      (error) => bugs.push(error),
    );
    const { worlds, world } = this.#opened;
    this.#app = createApp({
      worlds,
      version: "scenario",
      rateLimit: false,
      hosts: [new URL(ORIGIN).hostname],
      controlToken: undefined,
      onBug: rethrow,
    });
    await this.#look();
    if (this.#isAdopted) addLabels(this.labels, this.world());
    world.subscribe((events) => {
      if (!this.#isPlaying) this.#events.push(...events.filter(({ seq }) => seq > this.#told));
    });
    if (bugs.length > 0) throw bugs[0];
  }

  world(): World {
    if (this.#world === undefined) throw new Error("the stage is not open");
    return this.#world;
  }

  now(): SimTime {
    return this.#hosted().now();
  }

  keyOf(account: string): string {
    if (!this.#isAdopted) return keyOf(account);
    const [first] = validApiKeys(this.world(), this.labels.get(account)?.id ?? account);
    if (first === undefined) throw new CannotPlay(`account ${account} has no key in this world`);
    return recordedKey(first.id);
  }

  async call({ surface, method, path, body, key }: Call, feed: Feed): Promise<Answer> {
    const headers = { "Content-Type": "application/json", ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }) };
    const url = `${ORIGIN}${surface === "api" ? "/api/v2" : "/_sim"}${path}`;
    this.#hosted().accompany(this.#duringCall(feed));
    const response = await this.#fetch(
      new Request(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
    );
    await this.#look();
    this.#hosted().accompany(NO_FEED);
    this.#told = 0;
    if (response === undefined) return CONNECTION_LOST;
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
  }

  /** Tells a feed first of what the call has brought about before it moved the clock. */
  #duringCall(feed: Feed): Feed {
    return {
      get at() {
        return feed.at;
      },
      take: () => feed.take(),
      observe: (event) => {
        for (const earlier of this.takeEvents()) feed.observe(earlier);
        this.#told = event.seq;
        feed.observe(event);
      },
      refused: (activity, refusal, at) => feed.refused(activity, refusal, at),
    };
  }

  /** `undefined` where a fault loses the connection. */
  async #fetch(request: Request): Promise<Response | undefined> {
    if (this.#app === undefined) throw new Error("the stage is not open");
    try {
      return await this.#app.fetch(request);
    } catch (error) {
      if (error instanceof ConnectionLost) return undefined;
      throw error;
    }
  }

  async play(feed: Feed, to: SimTime): Promise<void> {
    this.#isPlaying = true;
    try {
      await this.#hosted().play(feed, to);
    } finally {
      this.#isPlaying = false;
    }
  }

  takeEvents(): readonly RecordedEvent[] {
    return this.#events.splice(0);
  }

  /** What a process that dies now leaves behind is opened in its place. */
  async restart(): Promise<void> {
    const data = this.#data;
    if (data === undefined) throw new Error("a world in memory has nothing to be opened again from");
    const left = `${data}.left`;
    cpSync(data, left, { recursive: true, filter: (path) => !path.endsWith("standin.lock") });
    await this.close();
    rmSync(data, { recursive: true });
    renameSync(left, data);
    await this.open();
  }

  async digest(): Promise<string> {
    return digestOf(this.world());
  }

  async close(): Promise<void> {
    await this.#opened?.worlds.close();
    await this.#directory?.release();
    this.#opened = undefined;
  }

  /** The world may be another object after any call: it is opened anew where something fails, and by a restore. */
  async #look(): Promise<void> {
    this.#world = await this.#hosted().turn((turn) => turn.world);
  }

  #hosted() {
    if (this.#opened === undefined) throw new Error("the stage is not open");
    return this.#opened.world;
  }
}

function rethrow(error: unknown): never {
  throw error;
}

/** The same for every run, so that the same scenario makes the same world. Nobody else has a world of these keys. */
function keyOf(account: string): string {
  return `key-of-${account}`;
}

/** What a world has come to, in few characters. */
export function digestOf(world: World): string {
  const { hourlyUsage } = world;
  // Of these there may be hundreds of thousands, and each is a few numbers.
  const hours = hourlyUsage
    .toArray()
    .map(({ of, hour, activeMs, cuMs }) => `${of} ${hour} ${activeMs} ${cuMs}`)
    .sort();
  const rest = renderState({ ...world, hourlyUsage: emptyWorld().hourlyUsage });
  return createHash("sha256").update(JSON.stringify(rest)).update(hours.join()).digest("hex").slice(0, 16);
}

/** Of a key that somebody else knew. */
export function recordedKey(keyId: number): string {
  return `recorded-key-${keyId}`;
}

/** What is in a world that was not made for a scenario: accounts and projects by their ids, the rest below them by name where it has one. */
function addLabels(labels: Labels, world: World): void {
  for (const { id } of world.accounts.values()) labels.add({ kind: "account", label: id, id, account: id });
  for (const { id, accountId } of world.projects.values()) labels.add({ kind: "project", label: id, id, account: accountId });
  for (const { id, projectId, name } of world.branches.values()) {
    labels.add({ kind: "branch", label: `${projectId}/${name}`, id, account: world.projects.get(projectId)?.accountId ?? "" });
  }
  for (const { id, projectId, branchId } of world.computes.values()) {
    const branch = world.branches.get(branchId)?.name ?? branchId;
    labels.add({ kind: "compute", label: `${projectId}/${branch}/${id}`, id, account: world.projects.get(projectId)?.accountId ?? "" });
  }
}

const branchId = (project: string, branch: string) => `br-${project}-${branch}`;
const computeId = (project: string, branch: string, compute: string) => `ep-${project}-${branch}-${compute}`;

function labelsIn(description: WorldDescription): Labels {
  const labels = new Labels();
  for (const { label: account, projects } of accountsOf(description)) {
    labels.add({ kind: "account", label: account, id: account, account });
    for (const { label: project, branches } of projects) {
      labels.add({ kind: "project", label: project, id: project, account });
      for (const [branch, { computes }] of Object.entries(branches)) {
        labels.add({ kind: "branch", label: `${project}/${branch}`, id: branchId(project, branch), account });
        for (const compute of Object.keys(computes)) {
          labels.add({ kind: "compute", label: `${project}/${branch}/${compute}`, id: computeId(project, branch, compute), account });
        }
      }
    }
  }
  return labels;
}

/** The description as a world file, whose ids say the labels. */
function worldFileOf(description: WorldDescription): WorldFile {
  return {
    version: 1,
    accounts: accountsOf(description).map(({ label: account, plan, projects }) => ({
      ...{ id: account, name: account, plan },
      keys: [{ name: "scenario", key: keyOf(account) }],
      projects: projects.map(({ label: project, branches, ...rest }) => ({
        ...{ ...rest, id: project, name: project },
        branches: Object.entries(branches).map(([branch, { parent, computes, ...branchFields }]) => ({
          ...{ ...branchFields, id: branchId(project, branch), name: branch },
          ...(parent === undefined ? {} : { parent: branchId(project, parent) }),
          endpoints: Object.entries(computes).map(([compute, fields]) => ({ ...fields, id: computeId(project, branch, compute) })),
        })),
      })),
    })),
  };
}

import { createHash } from "node:crypto";
import { fromRecord } from "../control/routes/records.ts";
import { type Activity, findReachable } from "../platform/compute/activity.ts";
import { isoInstant } from "../platform/core/calendar.ts";
import { type DurationDistribution, distributionText, parseDistribution } from "../platform/core/distribution.ts";
import type { SimTime } from "../platform/core/time.ts";
import { emptyWorld, type World } from "../platform/core/world.ts";
import type { RecordedEvent } from "../platform/events.ts";
import { evolve } from "../platform/evolve.ts";
import type { Refusal } from "../platform/refusals.ts";
import { accountsOf, Labels, type ProjectDescription } from "../scenario/file/labels.ts";
import { everyStep, type Scenario, type WorldDescription } from "../scenario/file/scenario-schema.ts";
import { isClosedLoop } from "../scenario/run/scenario-traffic.ts";
import { type Answer, type Call, CannotPlay, CONNECTION_LOST, isRestore, type Stage } from "../scenario/run/target.ts";
import type { Feed } from "../simulation/feed.ts";

export type Target = { readonly url: string; readonly controlToken?: string | undefined };

type WithId = { readonly id: string };
/** What answers to creations have in them. */
type Made = {
  readonly project: WithId;
  readonly branch: WithId;
  readonly endpoint: WithId;
  readonly endpoints: readonly [WithId, ...WithId[]];
};

type Taken = { readonly activity: Activity; readonly at: SimTime };
/** What becomes of arrivals; of those that are yet to come, history will tell. */
type Told = { readonly activities: readonly { readonly outcome: string; readonly code?: string; readonly message?: string }[] };

const ARRIVALS_PER_CALL = 5_000;
const EVENTS_PER_CALL = 10_000;

/** A running double, with what the scenario needs laid out in it beside what it has. Its clock must be manual: it is moved from here. */
export async function openRemoteStage(scenario: Scenario, target: Target): Promise<Stage> {
  const stage = new RemoteStage(target);
  refuseWhatOnlyAFreshWorldHas(scenario);
  await stage.open(scenario.world);
  return stage;
}

function refuseWhatOnlyAFreshWorldHas({ steps, traffic, world, state }: Scenario): void {
  if (world.file !== undefined) throw new CannotPlay(`it begins with the world of ${world.file}, and a running double has one of its own`);
  if (state !== undefined) throw new CannotPlay("it must end in a certain state, and a running double has more in it");
  if ([...everyStep(steps)].some(({ restart }) => restart !== undefined))
    throw new CannotPlay("a step restarts the world, which cannot be done to a running double from outside");
  const closed = traffic.find((source) => isClosedLoop(source));
  if (closed !== undefined) {
    throw new CannotPlay(`the source ${closed.name} answers to what the world does at the same instant, which cannot be done over HTTP`);
  }
}

class RemoteStage implements Stage {
  readonly labels = new Labels();
  readonly #target: Target;
  readonly #base: string;
  readonly #keys = new Map<string, string>();
  /** What its events fold to here. */
  #world: World = emptyWorld();
  #now: SimTime = 0;
  #events: RecordedEvent[] = [];
  /** The newest event of the layout: what was set after it is of this scenario. */
  #laidOut = 0;
  readonly #snapshots = new Set<string>();

  constructor(target: Target) {
    this.#target = target;
    this.#base = target.url.replace(/\/(api\/v2|_sim)?\/?$/, "");
  }

  async open(description: WorldDescription): Promise<void> {
    const { mode } = (await this.#control("GET", "/clock")) as { mode: string };
    if (mode !== "manual") throw new CannotPlay(`the clock of ${this.#base} is ${mode}; a scenario moves it, so it must be manual`);
    await this.#fold();
    this.#checkShape(description);
    for (const { label, plan, projects } of accountsOf(description)) {
      const made = (await this.#control("POST", "/accounts", { name: label, plan })) as {
        account: { id: string };
        api_key: { key: string };
      };
      this.#keys.set(label, made.api_key.key);
      this.labels.add({ kind: "account", label, id: made.account.id, account: label });
      for (const project of projects) await this.#layOutProject(label, project);
    }
    await this.#fold();
    this.#laidOut = this.#world.seq;
    this.#events = [];
  }

  world(): World {
    return this.#world;
  }

  now(): SimTime {
    return this.#now;
  }

  keyOf(account: string): string {
    const key = this.#keys.get(account);
    if (key === undefined) throw new Error(`there is no account ${account}`);
    return key;
  }

  async call(call: Call): Promise<Answer> {
    const answer = await this.#fetch(call);
    if (call.surface === "control" && call.path === "/snapshots" && answer.status === 201)
      this.#snapshots.add((call.body as { name: string }).name);
    const isRestored = isRestore(call) && answer.status < 300;
    // A world that was taken back has another history, all of which has been seen.
    if (isRestored) {
      this.#world = emptyWorld();
      this.#snapshots.add((answer.body as { former_kept_as: string }).former_kept_as);
    }
    const events = await this.#fold();
    if (!isRestored) this.#events.push(...events);
    return answer;
  }

  async play(feed: Feed, to: SimTime): Promise<void> {
    for (;;) {
      const arrivals: object[] = [];
      const taken: Taken[] = [];
      const refused: (Taken & { readonly refusal: Refusal })[] = [];
      while (feed.at <= to && taken.length + refused.length < ARRIVALS_PER_CALL) {
        // What a call has held up arrives when it is over.
        const at = Math.max(feed.at, this.#now);
        const activity = feed.take();
        const { endpointId, durationMs, connectionId, ...rest } = activity;
        const reached = findReachable(this.#world, endpointId);
        // One that the double does not know would have it refuse all that are told with it.
        if (!reached.ok) {
          refused.push({ activity, at, refusal: reached.refusal });
          continue;
        }
        taken.push({ activity, at });
        arrivals.push({
          endpoint_id: endpointId,
          at: isoInstant(at),
          ...rest,
          ...(durationMs === undefined ? {} : { duration_ms: durationMs }),
          ...(connectionId === undefined ? {} : { connection_id: connectionId }),
        });
      }
      const { activities } = (arrivals.length === 0 ? { activities: [] } : await this.#control("POST", "/activity", arrivals)) as Told;
      for (const [index, { outcome, code = "", message = "" }] of activities.entries()) {
        const arrival = taken[index];
        if (outcome === "refused" && arrival !== undefined)
          refused.push({ ...arrival, refusal: { code: code as Refusal["code"], message } });
      }
      refused.sort((one, other) => one.at - other.at);
      const refuseBefore = (at: SimTime) => {
        for (let next = refused[0]; next !== undefined && next.at < at; next = refused[0]) {
          refused.shift();
          feed.refused(next.activity, next.refusal, next.at);
        }
      };
      const isLast = feed.at > to;
      // Not beyond what has not been told yet.
      const target = isLast ? to : feed.at - 1;
      if (target > this.#now) await this.#control("POST", "/clock/advance", { to: isoInstant(target) });
      await this.#fold((event) => {
        refuseBefore(event.at);
        feed.observe(event);
      });
      refuseBefore(Number.POSITIVE_INFINITY);
      if (isLast) return;
    }
  }

  takeEvents(): readonly RecordedEvent[] {
    return this.#events.splice(0);
  }

  async restart(): Promise<void> {
    throw new CannotPlay("a running double is not restarted from outside");
  }

  async digest(): Promise<string> {
    return createHash("sha256")
      .update(JSON.stringify(await this.#control("GET", "/state")))
      .digest("hex")
      .slice(0, 16);
  }

  /** What this scenario has set and kept is taken away again: it would be in the way of whoever plays next. */
  async close(): Promise<void> {
    const faults = [...this.#world.faults.values()].filter(({ number }) => number > this.#laidOut);
    const paths = [...faults.map(({ name }) => ["faults", name]), ...[...this.#snapshots].map((name) => ["snapshots", name])];
    try {
      for (const [of, name = ""] of paths)
        await this.#fetch({ surface: "control", method: "DELETE", path: `/${of}/${encodeURIComponent(name)}` });
    } catch (error) {
      // Where the double is gone, there is nothing left to take away.
      if (!(error instanceof CannotPlay)) throw error;
    }
  }

  /** Takes in what has happened since the last time; `each` is told of an event when the world here has taken all of its decision in. */
  async #fold(each: (event: RecordedEvent) => void = () => undefined): Promise<RecordedEvent[]> {
    const folded: RecordedEvent[] = [];
    let decision: RecordedEvent[] = [];
    for (;;) {
      const path = `/events?since=${this.#world.seq}&limit=${EVENTS_PER_CALL}`;
      const { events, forgotten_seq } = (await this.#control("GET", path)) as { events: unknown[]; forgotten_seq?: number };
      if (forgotten_seq !== undefined)
        throw new CannotPlay(
          `the history of ${this.#base} is forgotten up to event ${forgotten_seq}; a fork of an empty world has all of its own`,
        );
      for (const told of events) {
        const event = fromRecord(told) as RecordedEvent;
        if (event.decision !== decision[0]?.decision) {
          decision.forEach(each);
          decision = [];
        }
        evolve(this.#world, event);
        decision.push(event);
        folded.push(event);
      }
      this.#world.changes.clear();
      if (events.length < EVENTS_PER_CALL) break;
    }
    decision.forEach(each);
    this.#now = Date.parse(((await this.#control("GET", "/clock")) as { now: string }).now);
    return folded;
  }

  /** What shapes a world is given when it is made. */
  #checkShape({ profile, operations, start_delay, limits }: WorldDescription): void {
    const { settings } = this.#world;
    const wanted = { profile, operations, startDelay: start_delay === undefined ? undefined : parseDistribution(start_delay), limits };
    for (const key of ["profile", "operations", "startDelay", "limits"] as const) {
      if (JSON.stringify(wanted[key]) === JSON.stringify(settings[key])) continue;
      const shown = (value: unknown) =>
        value === undefined
          ? "the default"
          : key === "startDelay"
            ? distributionText(value as DurationDistribution)
            : JSON.stringify(value);
      throw new CannotPlay(
        `world.${key === "startDelay" ? "start_delay" : key}: the scenario wants ${shown(wanted[key])}, and ${this.#base} has ${shown(settings[key])}`,
      );
    }
  }

  async #layOutProject(account: string, { label, branches, ...fields }: ProjectDescription): Promise<void> {
    const key = this.keyOf(account);
    const [first, ...others] = Object.entries(branches);
    const [name, description] = first ?? ["main", { computes: {}, protected: undefined }];
    const made = await this.#api(key, "POST", "/projects", { project: { ...fields, name: label, branch: { name } } });
    const { id } = made.project;
    const path = `/projects/${id}`;
    this.labels.add({ kind: "project", label, id, account });
    this.labels.add({ kind: "branch", label: `${label}/${name}`, id: made.branch.id, account });
    await this.#settle();
    const computes = Object.entries(description.computes);
    const primary = computes.find(([, compute]) => compute.type === "read_write");
    const own = made.endpoints[0].id;
    if (primary === undefined) await this.#api(key, "DELETE", `${path}/endpoints/${own}`);
    else {
      const { type: _, ...settings } = primary[1];
      if (Object.keys(settings).length > 0) await this.#api(key, "PATCH", `${path}/endpoints/${own}`, { endpoint: settings });
      this.labels.add({ kind: "compute", label: `${label}/${name}/${primary[0]}`, id: own, account });
    }
    await this.#settle();
    for (const compute of computes) {
      if (compute !== primary) await this.#layOutCompute(account, id, made.branch.id, `${label}/${name}/${compute[0]}`, compute[1]);
    }
    for (const [branch, { parent, computes: more, protected: isProtected }] of others) {
      const parentId = parent === undefined ? undefined : this.labels.get(`${label}/${parent}`)?.id;
      const child = await this.#api(key, "POST", `${path}/branches`, {
        branch: { name: branch, parent_id: parentId, protected: isProtected },
      });
      this.labels.add({ kind: "branch", label: `${label}/${branch}`, id: child.branch.id, account });
      await this.#settle();
      for (const [compute, settings] of Object.entries(more)) {
        await this.#layOutCompute(account, id, child.branch.id, `${label}/${branch}/${compute}`, settings);
      }
    }
    if (description.protected === true)
      await this.#api(key, "PATCH", `${path}/branches/${made.branch.id}`, { branch: { protected: true } });
  }

  async #layOutCompute(account: string, projectId: string, branchId: string, label: string, compute: object): Promise<void> {
    const made = await this.#api(this.keyOf(account), "POST", `/projects/${projectId}/endpoints`, {
      endpoint: { ...compute, branch_id: branchId },
    });
    this.labels.add({ kind: "compute", label, id: made.endpoint.id, account });
    await this.#settle();
  }

  /** Lets the operations of the layout end. */
  async #settle(): Promise<void> {
    for (await this.#fold(); this.#world.operations.size > 0; await this.#fold())
      await this.#control("POST", "/clock/advance", { next: true });
  }

  async #api(key: string, method: string, path: string, body?: unknown): Promise<Made> {
    return (await this.#successOf({ surface: "api", method, path, body, key })) as Made;
  }

  async #control(method: string, path: string, body?: unknown): Promise<unknown> {
    return this.#successOf({ surface: "control", method, path, body });
  }

  async #successOf(call: Call): Promise<unknown> {
    const { status, body } = await this.#fetch(call);
    if (status < 300) return body;
    throw new CannotPlay(
      `${this.#base} answered ${call.method} ${call.path} with ${status}: ${String((body as { message?: unknown } | null)?.message)}`,
    );
  }

  async #fetch({ surface, method, path, body, key }: Call): Promise<Answer> {
    const token = surface === "control" ? this.#target.controlToken : key;
    const headers = { "Content-Type": "application/json", ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) };
    const url = `${this.#base}${surface === "api" ? "/api/v2" : "/_sim"}${path}`;
    try {
      const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
    } catch (error) {
      const { code } = ((error instanceof Error ? error.cause : undefined) as NodeJS.ErrnoException) ?? {};
      if (surface === "api" && (code === "ECONNRESET" || code === "UND_ERR_SOCKET")) return CONNECTION_LOST;
      throw new CannotPlay(
        `${url} does not answer: ${error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)}`,
      );
    }
  }
}

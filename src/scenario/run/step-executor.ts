import type { Activity } from "../../platform/compute/activity.ts";
import { isoInstant } from "../../platform/core/calendar.ts";
import type { Refusal } from "../../platform/refusals.ts";
import type { Feed } from "../../simulation/feed.ts";
import { at, resolveReferences } from "../file/references.ts";
import { ACTIONS, type ActivityStep, type RequestStep, type Step } from "../file/scenario-schema.ts";
import type { Observation, Waiters } from "../measure/metrics.ts";
import type { Wake } from "./parallel.ts";
import { type Outcome as Became, STEP_SOURCE } from "./scenario-traffic.ts";
import { type Answer, type Call, CannotPlay, isRestore, type Stage } from "./target.ts";
import type { Failure } from "./verdict.ts";

type Wrong = Pick<Failure, "expected" | "actual">;
/** What became of an action. `isTakenBack`: the world is as it was, and what came since then has not come. */
type Outcome = { readonly detail: string | undefined; readonly failures: readonly Wrong[]; readonly isTakenBack?: boolean };
/** What the control API answers to activity. */
type Told = {
  readonly activities: readonly (Pick<Activity, "kind"> & Refusal & { readonly endpoint_id: string; readonly outcome: string })[];
};
type Acting = AsyncGenerator<Wake, Outcome, void>;

export function actionOf(step: Step): string {
  return ACTIONS.find((action) => step[action] !== undefined) ?? "wait";
}

/** Does what a step says through the two surfaces, and keeps what it captures. */
export class Actor {
  readonly #stage: Stage;
  readonly #observation: Observation;
  /** What arrives meanwhile. */
  readonly #feed: () => Feed;
  /** Who waited when a snapshot was taken. */
  readonly #kept = new Map<string, Waiters>();
  readonly #captured = new Map<string, unknown>();

  constructor(stage: Stage, observation: Observation, feed: () => Feed) {
    this.#stage = stage;
    this.#observation = observation;
    this.#feed = feed;
  }

  async *act(step: Step): Acting {
    if (step.request !== undefined) return yield* this.#request(step.request);
    if (step.control !== undefined) {
      const { method, path, body } = this.#resolve(step.control);
      const detail = `${method} ${path}`;
      if (isRestore({ surface: "control", method, path })) return { ...(await this.#restore(path, body)), detail };
      await this.#control(method, path, body);
      return done(detail);
    }
    if (step.fault !== undefined) return this.#fault(step.fault);
    if (step.clear_faults !== undefined) {
      await this.#control("DELETE", step.clear_faults === true ? "/faults" : `/faults/${encodeURIComponent(step.clear_faults)}`);
      return done();
    }
    if (step.snapshot !== undefined) return this.#snapshot(step.snapshot);
    if (step.restore !== undefined) return this.#restore(`/snapshots/${step.restore}/restore`);
    if (step.restart !== undefined) {
      const waiters = this.#observation.waiters();
      return this.#replace(async () => {
        await this.#stage.restart();
        return waiters;
      });
    }
    for (const [label, plan] of Object.entries(step.set?.plan ?? {})) {
      await this.#control("PATCH", `/accounts/${this.#stage.labels.get(label)?.id}`, { plan });
    }
    return done();
  }

  async *#request(asked: RequestStep): Acting {
    const call = this.#callOf(asked);
    const accepted = asked.status === undefined ? undefined : [asked.status].flat();
    let answer = await this.#stage.call(call, this.#feed());
    const { retry } = asked;
    let tries = 1;
    for (; retry?.on.includes(answer.status) === true && tries <= retry.times; tries += 1) {
      this.#noteAnswer(call, answer, true);
      yield { at: this.#stage.now() + retry.every };
      answer = await this.#stage.call(call, this.#feed());
    }
    this.#noteAnswer(call, answer, accepted?.includes(answer.status) === true);
    const failures = this.#judge(asked, accepted, answer);
    for (const [name, path] of Object.entries(asked.capture ?? {})) this.#captured.set(name, at(answer.body, path));
    return { detail: `${call.method} ${asked.path}: ${answer.status}${tries > 1 ? ` at try ${tries}` : ""}`, failures };
  }

  #callOf({ method, path, body, as, key }: RequestStep): Call {
    const [first] = this.#stage.labels.all();
    const resolved = this.#resolve(key);
    return {
      surface: "api",
      method,
      path: String(this.#resolve(path)),
      ...(body === undefined ? {} : { body: this.#resolve(body) }),
      key: resolved === undefined ? this.#stage.keyOf(as ?? first?.account ?? "") : String(resolved),
    };
  }

  #judge(asked: RequestStep, accepted: readonly number[] | undefined, { status, body }: Answer): Wrong[] {
    const isRight = accepted === undefined ? status >= 200 && status < 300 : accepted.includes(status);
    const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown };
    const told = status >= 400 || status === 0 ? ` ${String(code)}: ${String(message)}` : "";
    const wrongs: Wrong[] = isRight ? [] : [{ expected: `status ${accepted?.join(" or ") ?? "2xx"}`, actual: `status ${status}${told}` }];
    for (const [path, wanted] of Object.entries(asked.answer ?? {})) {
      const actual = at(body, path);
      const expected = this.#resolve(wanted);
      if (!isSame(actual, expected))
        wrongs.push({ expected: `${path}: ${JSON.stringify(expected)}`, actual: `${path}: ${JSON.stringify(actual)}` });
    }
    for (const [name, path] of Object.entries(asked.capture ?? {})) {
      if (at(body, path) === undefined) wrongs.push({ expected: `${path}, to be captured as ${name}`, actual: "nothing there" });
    }
    return wrongs;
  }

  #noteAnswer({ method }: Call, { status, body }: Answer, isExpected: boolean): void {
    const code = String((body as { code?: unknown } | null)?.code ?? "");
    this.#observation.answered({ method, status, code: status >= 400 ? code : "" }, isExpected);
  }

  /** What a step has arrive. */
  arrivalOf({ to, kind, duration, queries, connection, pooled, load }: ActivityStep): Activity {
    const endpointId = to.includes("{") ? String(this.#resolve(to)) : (this.#stage.labels.computes(to)[0]?.id ?? to);
    const given = { durationMs: duration, queries, connectionId: connection, pooled, load };
    return {
      endpointId,
      kind,
      source: STEP_SOURCE,
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    };
  }

  judgeArrival({ outcome }: ActivityStep, became: Became | undefined): Outcome {
    const actual = became === undefined ? "dropped" : `${became.outcome}${became.code === undefined ? "" : ` (${became.code})`}`;
    const isRight = outcome === undefined ? actual === "served" || actual === "waits" : became?.outcome === outcome;
    const detail = became?.outcome === "waits" ? `waits ${became.waitedMs} ms` : actual;
    return { detail, failures: isRight ? [] : [{ expected: outcome ?? "served or waits", actual }] };
  }

  /** A name that was taken before, as in a round that comes again, is taken anew. */
  async #snapshot(name: string): Promise<Outcome> {
    const former: Call = { surface: "control", method: "DELETE", path: `/snapshots/${encodeURIComponent(name)}` };
    // A call of the control API may have deleted it.
    if (this.#kept.delete(name)) await this.#stage.call(former, this.#feed());
    await this.#control("POST", "/snapshots", { name });
    return done();
  }

  async #fault(fault: Readonly<Record<string, unknown>>): Promise<Outcome> {
    const { name = "fault", ...rest } = this.#resolve(fault);
    await this.#control("PUT", `/faults/${encodeURIComponent(String(name))}`, rest);
    return done(String(name));
  }

  async #restore(path: string, body?: unknown): Promise<Outcome> {
    const outcome = await this.#replace(async () => {
      const { restored } = (await this.#control("POST", path, body)).body as { restored: string };
      return this.#kept.get(restored);
    });
    return { ...outcome, isTakenBack: true };
  }

  /** `act` gives who waits in the world that it comes to. */
  async #replace(act: () => Promise<Waiters | undefined>): Promise<Outcome> {
    this.#observation.leave(this.#stage.now());
    const waiters = await act();
    this.#observation.enter(this.#stage.world(), this.#stage.now(), waiters);
    return done(isoInstant(this.#stage.now()));
  }

  /** What the control API refuses, no run can go on from. */
  async #control(method: string, path: string, body?: unknown): Promise<Answer> {
    const call: Call = { surface: "control", method, path, ...(body === undefined ? {} : { body }) };
    const answer = await this.#stage.call(call, this.#feed());
    if (answer.status < 300) {
      if (method === "POST" && path === "/activity") this.#noteRefused(answer.body as Told);
      if (method === "POST" && path === "/snapshots") {
        this.#kept.set((answer.body as { snapshot: { name: string } }).snapshot.name, this.#observation.waiters());
      }
      return answer;
    }
    throw new CannotPlay(`${method} /_sim${path}: ${String((answer.body as { message?: unknown } | null)?.message ?? answer.status)}`);
  }

  /** History does not know of arrivals that were refused at once. */
  #noteRefused({ activities }: Told): void {
    for (const { endpoint_id, kind, outcome, code, message } of activities) {
      if (outcome === "refused") this.#feed().refused({ endpointId: endpoint_id, kind }, { code, message }, this.#stage.now());
    }
  }

  #resolve<T>(value: T): T {
    return resolveReferences(value, (name) => this.#captured.get(name) ?? this.#stage.labels.get(name)?.id);
  }
}

function done(detail?: string): Outcome {
  return { detail, failures: [] };
}

/** By what they say as JSON; of objects, only what is wanted must be there. */
function isSame(actual: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) return JSON.stringify(actual) === JSON.stringify(wanted);
  return Object.entries(wanted).every(([key, inner]) => isSame((actual as Record<string, unknown> | undefined | null)?.[key], inner));
}

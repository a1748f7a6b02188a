import { isoInstant } from "../../kernel/calendar.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { Refusal } from "../../platform/catalog/refusal-codes.ts";
import type { Activity } from "../../platform/model/activity.ts";
import type { ArrivalSource } from "../../simulation/arrival-source.ts";
import { isRestoreCall } from "../check/times.ts";
import { ROUND_NAME, resolveInstants, resolveReferences, valueAtPath } from "../file/references.ts";
import type { SqlStep } from "../file/sql-step.ts";
import { ACTIONS, type ActivityStep, type RequestStep, type Step } from "../file/step-schema.ts";
import { STEP_SOURCE } from "../measure/event-causes.ts";
import type { QueuedArrivals } from "../measure/metrics.ts";
import type { Wakeup } from "./parallel.ts";
import type { RunObservation } from "./run-observation.ts";
import { describeSql, type SqlAnswer, sqlMismatches, sqlRequestBody } from "./sql-step.ts";
import { responseMismatches } from "./step-mismatches.ts";
import { completed, type StepOutcome } from "./step-outcome.ts";
import { CannotRunError, type ScenarioTarget, type TargetRequest, type TargetResponse } from "./target.ts";

/** The response of the control API to POST /activity. */
type ActivityAnswer = {
  readonly activities: readonly (Pick<Activity, "kind"> &
    Refusal & { readonly endpoint_id: string; readonly outcome: string })[];
};
type StepExecution = AsyncGenerator<Wakeup, StepOutcome, void>;

export function actionOf(step: Step): string {
  return ACTIONS.find((action) => step[action] !== undefined) ?? "wait";
}

/** Executes steps through the two HTTP surfaces and stores captured values. */
export class StepExecutor {
  readonly #target: ScenarioTarget;
  readonly #observation: RunObservation;
  /** The current traffic, which arrives while a call moves the clock. */
  readonly #arrivals: () => ArrivalSource;
  readonly #signal: AbortSignal | undefined;
  /** Arrivals that were waiting when each snapshot was taken. */
  readonly #queuedAtSnapshot = new Map<string, QueuedArrivals>();
  readonly #captured = new Map<string, unknown>();
  /** The place of the step that makes the calls. */
  #place = "";
  #round: number | undefined;

  /** `signal` ends statements of `sql` steps. */
  constructor(
    target: ScenarioTarget,
    observation: RunObservation,
    arrivals: () => ArrivalSource,
    signal: AbortSignal | undefined,
  ) {
    this.#target = target;
    this.#observation = observation;
    this.#arrivals = arrivals;
    this.#signal = signal;
  }

  /** `round`: of the innermost `repeat`, from 1. */
  async *execute(step: Step, place: string, round: number | undefined): StepExecution {
    this.#place = place;
    this.#round = round;
    if (step.request !== undefined) return yield* this.#request(step.request, place, round);
    if (step.control !== undefined) {
      const { method, path, body } = this.#resolve(step.control);
      const detail = `${method} ${path}`;
      if (isRestoreCall({ method, path })) return { ...(await this.#restore(path, body)), detail };
      await this.#callControl(method, path, body);
      return completed(detail);
    }
    if (step.sql !== undefined) return this.#sql(step.sql);
    if (step.fault !== undefined) return this.#fault(step.fault);
    if (step.clear_faults !== undefined) {
      await this.#callControl(
        "DELETE",
        step.clear_faults === true ? "/faults" : `/faults/${encodeURIComponent(step.clear_faults)}`,
      );
      return completed();
    }
    if (step.snapshot !== undefined) return this.#snapshot(step.snapshot);
    if (step.restore !== undefined) return this.#restore(`/snapshots/${step.restore}/restore`);
    if (step.restart !== undefined) {
      const queued = this.#observation.metrics.queuedArrivals();
      return this.#replaceWorld(async () => {
        await this.#target.restart();
        return queued;
      });
    }
    if (step.set !== undefined) {
      for (const [label, plan] of Object.entries(step.set.plan ?? {}))
        await this.#callControl("PATCH", `/accounts/${this.#target.labels.get(label)?.id}`, { plan });
      return completed();
    }
    const action = actionOf(step);
    if (action !== "wait") throw new Error(`no code executes a step with the action "${action}"`);
    return completed();
  }

  async *#request(step: RequestStep, place: string, round: number | undefined): StepExecution {
    const request = this.#requestFor(step);
    const acceptedStatuses = step.status === undefined ? undefined : [step.status].flat();
    let response = await this.#send(request);
    const { retry } = step;
    let attempts = 1;
    for (; retry?.on.includes(response.status) === true && attempts <= retry.times; attempts += 1) {
      this.#countResponse(request, response, true);
      yield { at: this.#target.now() + retry.every };
      this.#place = place;
      this.#round = round;
      response = await this.#send(request);
    }
    this.#countResponse(request, response, acceptedStatuses?.includes(response.status) === true);
    const failures = responseMismatches(step, acceptedStatuses, response, (template) =>
      this.#resolve(template),
    );
    for (const [name, path] of Object.entries(step.capture ?? {}))
      this.#captured.set(name, valueAtPath(response.body, path));
    return {
      detail: `${request.method} ${step.path}: ${response.status}${attempts > 1 ? ` at attempt ${attempts}` : ""}`,
      failures,
    };
  }

  async #send(request: TargetRequest): Promise<TargetResponse> {
    const { surface, method, path } = request;
    this.#observation.callStarted(
      `step ${this.#place}: ${method} ${surface === "control" ? "/_sim" : ""}${path}`,
    );
    return this.#target.request(request, this.#arrivals());
  }

  #requestFor({ method, path, body, as, key }: RequestStep): TargetRequest {
    const [first] = this.#target.labels.all();
    const resolved = this.#resolve(key);
    return {
      surface: "api",
      method,
      path: String(this.#resolve(path)),
      ...(body === undefined ? {} : { body: this.#resolve(body) }),
      key: resolved === undefined ? this.#target.keyOf(as ?? first?.account ?? "") : String(resolved),
    };
  }

  #countResponse(
    { method }: TargetRequest,
    { status, body, refusedWith }: TargetResponse,
    isExpected: boolean,
  ): void {
    const code = refusedWith ?? String((body as { code?: unknown } | null)?.code ?? "");
    this.#observation.countRequest({ method, status, code: status >= 400 ? code : "" }, isExpected);
  }

  /** The activity of an activity step. */
  activityFor(
    { to, kind, duration, queries, connection, pooled, load }: ActivityStep,
    round: number | undefined,
  ): Activity {
    this.#round = round;
    const endpointId = this.#endpointOf(to);
    const optionalFields = { durationMs: duration, queries, connectionId: connection, pooled, load };
    return {
      endpointId,
      kind,
      source: STEP_SOURCE,
      ...Object.fromEntries(Object.entries(optionalFields).filter(([, value]) => value !== undefined)),
    };
  }

  #endpointOf(computeOrBranch: string): string {
    if (computeOrBranch.includes("{")) return String(this.#resolve(computeOrBranch));
    return this.#target.labels.computes(computeOrBranch)[0]?.id ?? computeOrBranch;
  }

  async #sql(step: SqlStep): Promise<StepOutcome> {
    const path = `/endpoints/${encodeURIComponent(this.#endpointOf(step.on))}/sql`;
    const body = sqlRequestBody(step, String(this.#resolve(step.query)), this.#resolve(step.params));
    const answer = (await this.#callControl("POST", path, body, this.#signal)).body as SqlAnswer;
    this.#signal?.throwIfAborted();
    const failures = sqlMismatches(step, answer, this.#resolve(step.rows));
    if (answer.outcome === "done")
      for (const [name, place] of Object.entries(step.capture ?? {}))
        this.#captured.set(name, valueAtPath(answer.rows, place));
    return { detail: describeSql(answer), failures };
  }

  /** A snapshot with the same name, as from an earlier round, is replaced. */
  async #snapshot(name: string): Promise<StepOutcome> {
    const deletion: TargetRequest = {
      surface: "control",
      method: "DELETE",
      path: `/snapshots/${encodeURIComponent(name)}`,
    };
    // A call of the control API may have deleted the old snapshot, so the response does not matter.
    if (this.#queuedAtSnapshot.delete(name)) await this.#send(deletion);
    await this.#callControl("POST", "/snapshots", { name });
    return completed();
  }

  async #fault(fault: Readonly<Record<string, unknown>>): Promise<StepOutcome> {
    const { name = "fault", ...rest } = this.#resolve(fault);
    await this.#callControl("PUT", `/faults/${encodeURIComponent(String(name))}`, rest);
    return completed(String(name));
  }

  async #restore(path: string, body?: unknown): Promise<StepOutcome> {
    const outcome = await this.#replaceWorld(async () => {
      const { restored } = (await this.#callControl("POST", path, body)).body as { restored: string };
      return this.#queuedAtSnapshot.get(restored);
    });
    return { ...outcome, isRestored: true };
  }

  /** `execute` replaces the world and returns the arrivals that wait in the new one. */
  async #replaceWorld(execute: () => Promise<QueuedArrivals | undefined>): Promise<StepOutcome> {
    await this.#observation.replaceWorld(execute);
    return completed(isoInstant(this.#target.now()));
  }

  /** A rejected control call ends the run. */
  async #callControl(
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
  ): Promise<TargetResponse> {
    const request: TargetRequest = {
      surface: "control",
      method,
      path,
      ...omitUndefined({ body, signal }),
    };
    const response = await this.#send(request);
    if (response.status < 300) {
      if (method === "POST" && path === "/activity") this.#reportRefusals(response.body as ActivityAnswer);
      if (method === "POST" && path === "/snapshots") {
        this.#queuedAtSnapshot.set(
          (response.body as { snapshot: { name: string } }).snapshot.name,
          this.#observation.metrics.queuedArrivals(),
        );
      }
      return response;
    }
    throw new CannotRunError(
      `${method} /_sim${path} was rejected: ${String((response.body as { message?: unknown } | null)?.message ?? response.status)}`,
    );
  }

  /** The journal has no event for arrivals that are rejected at once. */
  #reportRefusals({ activities }: ActivityAnswer): void {
    for (const { endpoint_id, kind, outcome, code, message } of activities) {
      if (outcome === "refused")
        this.#arrivals().observeRefusal(
          { endpointId: endpoint_id, kind },
          { code, message },
          this.#target.now(),
        );
    }
  }

  #resolve<T>(value: T): T {
    const references = (name: string) =>
      this.#captured.get(name) ??
      this.#target.labels.get(name)?.id ??
      (name === ROUND_NAME ? this.#round : undefined);
    return resolveInstants(resolveReferences(value, references), this.#target.now());
  }
}

import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { createAdaptorServer } from "@hono/node-server";
import type { ServedTarget } from "../../app/targets/in-process-target.ts";
import type { RunAction, RunState } from "../../control-api/http/watched-run.ts";
import { isoInstant } from "../../kernel/calendar.ts";
import type { Scenario } from "../../scenario/file/scenario-schema.ts";
import type { RunSoFar } from "../../scenario/run/run-watcher.ts";
import { actionOf } from "../../scenario/run/step-executor.ts";
import { CannotRunError } from "../../scenario/run/target.ts";
import type { StepResult } from "../../scenario/run/verdict.ts";
import { openInBrowser } from "../terminal/browser.ts";
import { printError } from "../terminal/print.ts";
import type { RunView, ScenarioJobHooks, ScenarioJobResult } from "./run-job.ts";

/** Time for the response to an action, in wall-clock milliseconds. */
const RESPONSE_MS = 50;
/** Wall-clock time between two parts of an advance, so that one can follow it. */
const PLAY_MS = 40;
const MAX_RESULTS = 100;
const MAX_FAILURES = 50;
const HOST = "127.0.0.1";

/** Shows a run on a page of its own server until the signal or the page ends it. */
export function watchedBy(signal: AbortSignal): Required<Pick<ScenarioJobHooks, "watch">> {
  return { watch: (scenario, title, file) => new RunPage(scenario, title, file, signal) };
}

type Pace = "step" | "continue" | "finish";

class RunPage implements RunView {
  readonly #scenario: Scenario;
  readonly #title: string;
  readonly #file: string;
  readonly #signal: AbortSignal;
  readonly #listeners = new Set<() => void>();
  #server: Server | undefined;
  #version = 0;
  #status: RunState["status"] = "paused";
  #reason = "ready to play";
  #pace: Pace = "step";
  #isStopped = false;
  #soFar: RunSoFar | undefined;
  #failuresSeen = 0;
  /** Continues what waits for an action. */
  #release = () => {};

  constructor(scenario: Scenario, title: string, file: string, signal: AbortSignal) {
    this.#scenario = scenario;
    this.#title = title;
    this.#file = file;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#release(), { once: true });
  }

  async opened(fetch: ServedTarget["fetch"]): Promise<void> {
    const server = createAdaptorServer({ fetch }) as Server;
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, HOST, resolve);
    });
    const url = `http://${HOST}:${(server.address() as AddressInfo).port}/`;
    printError(`standin: the run is at ${url}\n`);
    // The address is printed: a user without a browser on this machine opens it elsewhere.
    if (process.stdout.isTTY) await openInBrowser(url).catch(() => undefined);
  }

  async reached(point: "step" | "advance", soFar: RunSoFar): Promise<void> {
    this.#soFar = soFar;
    const failures = soFar.failures.length;
    const hasFailed = failures > this.#failuresSeen;
    this.#failuresSeen = failures;
    if (hasFailed) await this.#pause(`${soFar.failures.at(-1)?.what ?? "an expectation"} failed`);
    else if (point === "step" && this.#pace === "step")
      await this.#pause(`before step ${soFar.current?.place}: ${soFar.current?.name}`);
    else {
      this.#changed();
      if (this.#pace === "finish") await nextTurn();
      else await wait(PLAY_MS);
    }
    this.#signal.throwIfAborted();
    if (this.#isStopped) throw new CannotRunError("stopped on the page");
  }

  ended(soFar: RunSoFar): void {
    this.#soFar = soFar;
  }

  async finished(result: ScenarioJobResult): Promise<void> {
    if (this.#server === undefined) return;
    this.#status = result.verdict;
    this.#reason = result.verdict === "could_not_run" ? result.reason : "the run has ended";
    this.#changed();
    if (this.#isStopped || this.#signal.aborted) return;
    printError("standin: the run has ended; the page stays until Ctrl-C, or until it is closed there\n");
    await this.#wait();
  }

  close(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
  }

  state(): RunState {
    const { steps = [], failures = [], expectations = () => [], current, now } = this.#soFar ?? {};
    const results = new Map(steps.map((result) => [result.place, result]));
    return {
      version: this.#version,
      title: this.#title,
      file: this.#file,
      now: now === undefined ? null : isoInstant(now),
      status: this.#status,
      reason: this.#reason,
      steps: this.#scenario.steps.map((step, index) => {
        const place = String(index + 1);
        const result = results.get(place);
        const isCurrent = current?.place.split(".")[0] === place;
        return {
          place,
          name: step.name ?? actionOf(step),
          ...(result === undefined
            ? { state: isCurrent ? "current" : "waiting" }
            : { state: result.ok ? "passed" : "failed", ...resultFields(result) }),
        };
      }),
      results: steps.slice(-MAX_RESULTS),
      expectations: [...expectations()],
      failures: failures.slice(0, MAX_FAILURES),
    };
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  act(action: RunAction): void {
    if (action === "stop") this.#isStopped = true;
    else this.#pace = action;
    // The end of the run closes the connection of this action, whose response is sent first.
    setTimeout(() => this.#release(), RESPONSE_MS);
  }

  async #pause(reason: string): Promise<void> {
    this.#status = "paused";
    this.#reason = reason;
    this.#changed();
    await this.#wait();
    this.#status = "playing";
    this.#reason = "";
    this.#changed();
  }

  /** Until an action or the signal. */
  async #wait(): Promise<void> {
    if (this.#signal.aborted || this.#isStopped) return;
    await new Promise<void>((resolve) => {
      this.#release = resolve;
    });
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}

function resultFields({ at, detail }: StepResult): Pick<StepResult, "at" | "detail"> {
  return { at, ...(detail === undefined ? {} : { detail }) };
}

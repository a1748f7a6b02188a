import { randomFrom } from "../../../src/simulation/random.ts";
import type { ReadyLine } from "../process/process.ts";
import { type ServerClient, serverClient } from "../server/running-server.ts";
import { CheckedApi, type Findings } from "./checked-api.ts";
import { RandomCalls } from "./random-calls.ts";
import { RandomProject } from "./random-project.ts";

/** C: the number of operations of one run of the original. */
const OPERATIONS_PER_PROJECT = 250;

export type LifeOptions = {
  readonly seed: number;
  /** Lanes with the actions of the platform's own suite, each in one project after the other. */
  readonly suiteLanes: number;
  /** Lanes that call any operation of the document, each with an account of its own. */
  readonly callLanes: number;
  readonly operations: number;
  /** In wall-clock time. */
  readonly until: number;
};

export type Life = {
  /** Number of calls by name: actions of the suite, and operations of the document. */
  readonly counts: Readonly<Record<string, number>>;
  /** Errors that ended a lane early. */
  readonly failures: readonly string[];
  readonly findings: readonly Findings[];
};

type Walk = { act(): Promise<string>; finish(): Promise<void> };

/** Random operations against a server, lane beside lane. */
export class RandomLife {
  readonly #server: ServerClient & { readonly ready: ReadyLine };
  readonly #options: LifeOptions;
  readonly #counts: Record<string, number> = {};
  #left: number;
  /** Operations so far. */
  done = 0;

  constructor(server: ServerClient & { readonly ready: ReadyLine }, options: LifeOptions) {
    this.#server = server;
    this.#options = options;
    this.#left = options.operations;
  }

  async run(): Promise<Life> {
    const { suiteLanes, callLanes } = this.#options;
    const suite = new CheckedApi(this.#server);
    const others = await Promise.all(
      Array.from({ length: callLanes }, (_, number) => this.#apiOfNewAccount(`lane ${number}`)),
    );
    const ends = await Promise.allSettled([
      ...Array.from({ length: suiteLanes }, (_, number) =>
        this.#lane("random operations", number, (draw) => RandomProject.create(suite, draw)),
      ),
      ...others.map((api, number) =>
        this.#lane("random calls", number, (draw) => RandomCalls.create(api, draw)),
      ),
    ]);
    return {
      counts: this.#counts,
      failures: ends.flatMap((end) => (end.status === "rejected" ? [withCauses(end.reason)] : [])),
      findings: [suite, ...others].map(({ findings }) => findings),
    };
  }

  /** Walks in one project after the other. */
  async #lane(
    stream: string,
    number: number,
    create: (draw: (below: number) => number) => Promise<Walk>,
  ): Promise<void> {
    const draws = randomFrom(this.#options.seed).stream(stream, number);
    while (this.#mayContinue()) {
      const walk = await create((below) => draws() % below);
      for (let here = 0; here < OPERATIONS_PER_PROJECT && this.#mayContinue(); here += 1) {
        this.#left -= 1;
        const name = await walk.act();
        this.#counts[name] = (this.#counts[name] ?? 0) + 1;
        this.done += 1;
      }
      await walk.finish();
    }
  }

  #mayContinue(): boolean {
    return this.#left > 0 && Date.now() < this.#options.until;
  }

  async #apiOfNewAccount(name: string): Promise<CheckedApi> {
    const { sim, ready } = this.#server;
    const { body } = await sim("POST", "/accounts", { name, plan: "paid" });
    return new CheckedApi(serverClient(ready, String(body.api_key.key)));
  }
}

/** With all causes: only the last one says why a connection failed. */
function withCauses(reason: unknown): string {
  const cause = reason instanceof Error ? reason.cause : undefined;
  return cause === undefined ? String(reason) : `${reason}: ${withCauses(cause)}`;
}

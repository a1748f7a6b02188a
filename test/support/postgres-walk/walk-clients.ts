import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Random } from "../../../src/kernel/random-port.ts";
import { bounded, type WalkBranch } from "./walk.ts";

/** Errors that the changes of a walk may cause for a client. */
const EXPECTED_CODES = ["57P01", "57P02", "57P03", "53300", "ECONNRESET", "ECONNREFUSED", "EPIPE"];
const EXPECTED_MESSAGES =
  /^(Couldn't connect to compute node|The requested endpoint could not be found|Connection terminated|Client was closed|Client has encountered a connection error)/;

/** Clients that connect, query and disconnect at random, and remember each acknowledged row. */
export class WalkClients {
  readonly #branches: readonly WalkBranch[];
  readonly #random: Random;
  #isStopped = false;
  #failure: unknown;
  #lastNumber = 0;

  constructor(branches: readonly WalkBranch[], random: Random) {
    this.#branches = branches;
    this.#random = random;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Resolves when all clients have closed their connections. Rejects if one of them saw a violation. */
  async run(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, (_, number) => this.#runClient(number + 1)));
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #runClient(number: number): Promise<void> {
    const draw = this.#random.stream("client", number);
    try {
      while (!this.#isStopped && !this.hasFailed) {
        const living = this.#branches.filter(({ isDeleted }) => !isDeleted);
        await this.#session(living[draw() % living.length] as WalkBranch, draw);
        await sleep(draw() % 10);
      }
    } catch (error) {
      this.#failure ??= error;
    }
  }

  /** One connection. Its end by the server is expected, but not during work unless something disturbed it. */
  async #session(branch: WalkBranch, draw: () => number): Promise<void> {
    const uri = new URL(branch.uri);
    if (draw() % 3 === 0) uri.searchParams.set("sslmode", "no-verify");
    const client = new pg.Client(uri.href);
    client.on("error", () => undefined);
    const { disturbances } = branch;
    try {
      await bounded(client.connect(), `a client of ${branch.branchId} connects`);
      await client.query("create table if not exists numbers (number int)");
      for (let request = draw() % 8; request > 0; request -= 1) {
        await bounded(this.#work(client, branch, disturbances, draw), `a client of ${branch.branchId} works`);
        if (draw() % 2 === 0) await sleep(draw() % 20);
      }
    } catch (error) {
      this.#checkError(error, branch);
    } finally {
      await bounded(
        client.end().catch(() => undefined),
        `a client of ${branch.branchId} closes`,
      );
    }
  }

  /** `disturbances`: those of the branch before the client connected. */
  async #work(
    client: pg.Client,
    branch: WalkBranch,
    disturbances: number,
    draw: () => number,
  ): Promise<void> {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const insert = () => client.query("insert into numbers values ($1)", [number]);
    const kind = draw() % 10;
    if (kind < 5) {
      await insert();
      branch.acknowledged.add(number);
      return;
    }
    if (kind < 6) {
      await client.query("select pg_sleep(0.03)");
      return;
    }
    await client.query("begin");
    try {
      await insert();
      await sleep(draw() % 30);
      if (kind < 9) {
        await client.query("commit");
        branch.acknowledged.add(number);
      } else {
        await client.query("rollback");
        branch.rolledBack.add(number);
      }
    } catch (error) {
      if (branch.disturbances === disturbances)
        throw new Error(
          `a transaction on ${branch.branchId} was lost, which nothing has disturbed: ${error}`,
        );
      throw error;
    }
  }

  #checkError(error: unknown, branch: WalkBranch): void {
    const { code = "", message } = error as pg.DatabaseError;
    const isConcurrentCreate = ["23505", "42P07", "42710"].includes(code);
    if (isConcurrentCreate || EXPECTED_CODES.includes(code) || EXPECTED_MESSAGES.test(message)) return;
    throw new Error(`a client of ${branch.branchId} got ${code} ${message}`, { cause: error });
  }
}

import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { parse } from "yaml";
import { checkedClients, control, type PublicClient } from "../document/public-client.ts";
import { type ServerProcess, serve, temporaryDirectory } from "../process/process.ts";
import type { Cli } from "./cli-bundle.ts";
import { CLIS, Neonctl, type NeonctlRun } from "./neonctl.ts";
import { RecordingProxy } from "./recording-proxy.ts";

/** The first instant of every scene. The clock is manual. */
export const START = "2026-01-01T00:00:00Z";

/** Commands by the operation that they call, as docs/reference/coverage.md has them. */
const LISTED_COMMANDS: Readonly<Record<string, readonly string[]>> = parse(
  readFileSync("test/contract/clients/client-commands.yaml", "utf8"),
);

type Account = { readonly command: Neonctl; readonly client: PublicClient; readonly orgId: string };

/**
 * `standin serve` with immediate operations, and a record of the operations that each command of the public
 * CLIs calls.
 */
export class CommandScene {
  readonly #served: ServerProcess;
  readonly #proxy: RecordingProxy;
  readonly #directories: readonly { readonly remove: () => void }[];
  readonly #home: string;
  readonly #calls = new Set<string>();
  readonly #judged: ReturnType<typeof checkedClients>;

  private constructor(
    served: ServerProcess,
    proxy: RecordingProxy,
    directories: readonly { readonly path: string; readonly remove: () => void }[],
  ) {
    this.#served = served;
    this.#proxy = proxy;
    this.#directories = directories;
    this.#home = directories[0]?.path ?? "";
    this.#judged = checkedClients(served.ready.api_url);
  }

  static async open(): Promise<CommandScene> {
    const [home, directory] = [temporaryDirectory(), temporaryDirectory()];
    const served = await serve(directory.path, [
      "--operations",
      "immediate",
      "--clock",
      "manual",
      "--start-at",
      START,
      "--seed",
      "1",
    ]);
    return new CommandScene(served, await RecordingProxy.inFrontOf(served.ready.api_url), [home, directory]);
  }

  /** A CLI with the key of a new account, and a client that sees the effect of its commands. */
  async newAccount(cli: Cli, home = this.#home): Promise<Account> {
    const { api_key } = await control(this.#served.ready.control_url, "POST", "/accounts", {
      name: "newcomer",
    });
    const command = new RecordedCli(this.#proxy, this.#calls, api_key.key, home, cli);
    const client = this.#judged.client(api_key.key);
    const { organizations } = (await client.getCurrentUserOrganizations()).data;
    return { command, client, orgId: organizations[0]?.id ?? "" };
  }

  /** Moves the clock. */
  async advance(by: string): Promise<void> {
    await control(this.#served.ready.control_url, "POST", "/clock/advance", { by });
  }

  /**
   * Stops the server and compares the calls of the commands with client-commands.yaml for these groups, in
   * both directions.
   */
  async close(...groups: readonly string[]): Promise<void> {
    await this.#proxy.close();
    await this.#served.kill("SIGTERM");
    for (const directory of this.#directories) directory.remove();
    const listed = Object.entries(LISTED_COMMANDS)
      .flatMap(([operation, commands]) => commands.map((command) => `${operation}: ${command}`))
      .filter((line) => groups.includes(line.split(" ")[2] ?? ""));
    // A short run tests commands of both CLIs only with the old name.
    const isRun = (line: string) =>
      CLIS.includes("neon") || !listed.includes(line.replace(": neon ", ": neonctl "));
    const isExpected = (line: string) => !line.includes(": neon ") || isRun(line);
    expect([...this.#calls].filter(isExpected).sort(), "client-commands.yaml").toEqual(
      listed.filter(isExpected).sort(),
    );
  }
}

/**
 * A CLI whose successful commands are recorded with the operations that they call, as `operation: command`.
 */
class RecordedCli extends Neonctl {
  readonly #proxy: RecordingProxy;
  readonly #calls: Set<string>;
  readonly #cli: Cli;

  constructor(proxy: RecordingProxy, calls: Set<string>, apiKey: string, home: string, cli: Cli) {
    super(proxy.url, apiKey, home, cli);
    this.#proxy = proxy;
    this.#calls = calls;
    this.#cli = cli;
  }

  override async run(
    args: readonly string[],
    onLine?: (line: string) => Promise<unknown>,
  ): Promise<NeonctlRun> {
    const run = await super.run(args, onLine);
    const operations = this.#proxy.take();
    // `neon api` forwards any request.
    if (run.code === 0 && args[0] !== "api")
      for (const operation of operations) this.#calls.add(`${operation}: ${this.#cli} ${commandName(args)}`);
    return run;
  }
}

const SINGLE_WORD_COMMANDS = ["me", "connection-string", "set-context", "link", "checkout", "diff", "status"];

/** `branches create` of `branches create --name dev`. */
function commandName(args: readonly string[]): string {
  const [group = "", sub] = args;
  if (group === "neon-auth") {
    const end = args.findIndex((arg) => arg.startsWith("-") || !/^[a-z-]+$/.test(arg));
    return args.slice(0, end < 0 ? args.length : end).join(" ");
  }
  const words = SINGLE_WORD_COMMANDS.includes(group) ? 1 : group === "vpc" || sub === "schedule" ? 3 : 2;
  return args.slice(0, words).join(" ");
}

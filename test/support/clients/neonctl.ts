import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { bundledProgram, type Cli, installedProgram } from "./cli-bundle.ts";

/** `STANDIN_TEST_CLIS=all` tests the programs as installed. */
const INSTALLED = process.env["STANDIN_TEST_CLIS"] === "all";
/** Clients that run as installed, because their modules look for files next to themselves. */
const NOT_BUNDLED: readonly Cli[] = ["neonctl-oldest", "neonctl-1", "neonctl-2"];

/**
 * The public command line under its old name and, with `STANDIN_TEST_CLIS=all`, under its new one too.
 * Both are in use; what only the new one has is always tested.
 */
export const CLIS: readonly Cli[] =
  process.env["STANDIN_TEST_CLIS"] === "all" ? ["neonctl", "neon"] : ["neonctl"];

export type NeonctlRun = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** The public command line as CI jobs run it: no terminal, and only the given credentials and context. */
export class Neonctl {
  readonly #command: string;
  readonly #apiUrl: string;
  readonly #apiKey: string;
  readonly #home: string;
  readonly #variables: Readonly<Record<string, string>>;

  /** `home` is an empty directory, so that no stored credentials or context are found. */
  constructor(
    apiUrl: string,
    apiKey: string,
    home: string,
    cli: Cli = "neonctl",
    variables: Readonly<Record<string, string>> = {},
  ) {
    this.#command = INSTALLED || NOT_BUNDLED.includes(cli) ? installedProgram(cli) : bundledProgram(cli);
    this.#apiUrl = apiUrl;
    this.#apiKey = apiKey;
    this.#home = home;
    this.#variables = variables;
  }

  /**
   * Runs it until it exits. `onLine` gets each line of stderr as it arrives, and is awaited before the
   * result.
   */
  async run(
    args: readonly string[],
    onLine: (line: string) => Promise<unknown> = async () => undefined,
  ): Promise<NeonctlRun> {
    const flags = [
      "--api-host",
      this.#apiUrl,
      "--api-key",
      this.#apiKey,
      "--no-analytics",
      "--no-color",
      "-o",
      "json",
    ];
    const child: ChildProcess = spawn(process.execPath, [this.#command, ...flags, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: this.#home,
      env: { PATH: process.env["PATH"], HOME: this.#home, CI: "1", ...this.#variables },
    });
    let stdout = "";
    let stderr = "";
    let seen: Promise<unknown> = Promise.resolve();
    child.stdout?.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      const lines = `${stderr.slice(stderr.lastIndexOf("\n") + 1)}${chunk}`.split("\n").slice(0, -1);
      stderr += chunk.toString();
      for (const line of lines) seen = seen.then(() => onLine(line));
    });
    const [code] = (await once(child, "close")) as [number | null];
    await seen;
    return { code, stdout, stderr };
  }

  /** JSON output of a command. Throws if the command fails. */
  // biome-ignore lint/suspicious/noExplicitAny: each command of the client prints its own shape
  async json(...args: readonly string[]): Promise<any> {
    const { code, stdout, stderr } = await this.run(args);
    if (code !== 0) throw new Error(`neonctl ${args.join(" ")}: exit code ${code}: ${stderr}`);
    return JSON.parse(stdout);
  }

  /** Error message of a command. Throws if the command succeeds. */
  async complaint(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args);
    if (code !== 1) throw new Error(`neonctl ${args.join(" ")}: exit code ${code}: ${stdout}${stderr}`);
    return stderr;
  }
}

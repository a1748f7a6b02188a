import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Watchdog } from "../../postgres/machine/watchdog.ts";
import type { ClockSetting } from "../../simulation/world-clock.ts";
import { endWithThisProcess, startServer, stopServer, withoutServeVariables } from "./child-server.ts";

/** The parsed options of `standin exec`. */
export type ExecOptions = {
  data?: string;
  keep?: boolean;
  clock?: ClockSetting;
  settle?: boolean;
  seed?: number;
  startAt?: number;
  profile?: string;
  seedFile?: string;
};

const DEFAULT_SEED = 1;
/** The exit statuses of a shell. */
const EXIT_NOT_EXECUTABLE = 126;
const EXIT_NOT_FOUND = 127;
const EXIT_SIGNAL = 128;
const API_KEY_LENGTH = 32;

/** Runs a command against a server of its own. Returns the exit status of the command. */
export async function runWithServer(command: readonly string[], options: ExecOptions): Promise<number> {
  const data =
    options.data === undefined ? mkdtempSync(join(tmpdir(), "standin-exec-")) : resolve(options.data);
  const signals = new SignalRelay();
  const watchdog = new Watchdog({
    signal: "TERM",
    directories: () => (options.data === undefined && options.keep !== true ? [data] : []),
  });
  watchdog.start();
  const watch = (child: ChildProcess) => endWithThisProcess(child, watchdog);
  let exitStatus = 1;
  try {
    const apiKey = newApiKey();
    const server = await startServer(serveArguments(data, options), { STANDIN_API_KEY: apiKey }, watch);
    try {
      exitStatus = await signals.relayTo((onStart) =>
        runCommand(command, { apiUrl: server.apiUrl, apiKey }, data, (child) => {
          watch(child);
          onStart(child);
        }),
      );
    } finally {
      await stopServer(server.process);
    }
    return exitStatus;
  } finally {
    signals.end();
    watchdog.close();
    if (options.data === undefined) {
      if (exitStatus !== 0 && options.keep === true)
        process.stderr.write(
          `standin: kept the world in ${data}; to look at it: standin serve --data ${data}, or standin record --data ${data}\n`,
        );
      else rmSync(data, { recursive: true, force: true });
    }
  }
}

function newApiKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(API_KEY_LENGTH)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

function serveArguments(data: string, options: ExecOptions): string[] {
  const { clock, settle, startAt, profile, seedFile } = options;
  const seed = options.seed ?? (options.data === undefined ? DEFAULT_SEED : undefined);
  return [
    ...["--data", data, "--port", "0"],
    ...(clock === undefined ? [] : ["--clock", clockText(clock)]),
    ...(settle === true ? ["--settle"] : []),
    ...(seed === undefined ? [] : ["--seed", String(seed)]),
    ...(startAt === undefined ? [] : ["--start-at", new Date(startAt).toISOString()]),
    ...(profile === undefined ? [] : ["--profile", profile]),
    ...(seedFile === undefined ? [] : ["--seed-file", seedFile]),
  ];
}

function clockText({ mode, factor }: ClockSetting): string {
  return mode === "scaled" ? `${factor}x` : mode;
}

async function runCommand(
  [file = "", ...args]: readonly string[],
  { apiUrl, apiKey }: { readonly apiUrl: string; readonly apiKey: string },
  data: string,
  onStart: (child: ChildProcess) => void,
): Promise<number> {
  const env = { ...withoutServeVariables(), NEON_API_HOST: apiUrl, NEON_API_KEY: apiKey, STANDIN_DATA: data };
  const child = spawn(file, args, { stdio: "inherit", env });
  onStart(child);
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return code ?? EXIT_SIGNAL + (signal === null ? 0 : constants.signals[signal]);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    process.stderr.write(`standin: cannot run ${file}: ${message}\n`);
    return code === "ENOENT" ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
  }
}

const RELAYED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Passes signals to the running command instead of ending this process, which still has to clean up. */
class SignalRelay {
  #child: ChildProcess | undefined;
  #received: NodeJS.Signals | undefined;
  readonly #relay = (signal: NodeJS.Signals) => {
    this.#received = signal;
    // A terminal sends Ctrl-C to the whole process group, so the command has it already.
    if (signal !== "SIGINT" || !process.stdin.isTTY) this.#child?.kill(signal);
  };

  constructor() {
    for (const signal of RELAYED) process.on(signal, this.#relay);
  }

  /** Does not start the command if a signal arrived before. */
  async relayTo(run: (onStart: (child: ChildProcess) => void) => Promise<number>): Promise<number> {
    if (this.#received !== undefined) return EXIT_SIGNAL + constants.signals[this.#received];
    return run((child) => {
      this.#child = child;
    });
  }

  end(): void {
    for (const signal of RELAYED) process.removeListener(signal, this.#relay);
  }
}

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { ChildResponse, ParentRequest } from "../processes/parent-requests.ts";

const KILL_AFTER_MS = 10_000;
const STDERR_LIMIT = 4_000;

/** A child process. Prints one line of JSON when it is ready, and may then respond to requests over IPC. */
export class Child<Ready = unknown> {
  readonly process: ChildProcess;
  readonly #pending = new Map<number, { resolve: (output: any) => void; reject: (error: Error) => void }>();
  readonly #exited: Promise<unknown>;
  #ready: Ready | undefined;
  #lastRequestId = 0;
  #stderr = "";
  #stopping = false;

  /** Runs `node` with these arguments. Without `hasChannel` there is no IPC, so `request` always fails. */
  constructor(
    args: readonly string[],
    { hasChannel = true, env = {} }: { hasChannel?: boolean; env?: Record<string, string> } = {},
  ) {
    const options: SpawnOptions = {
      stdio: ["ignore", "pipe", "pipe", ...(hasChannel ? (["ipc"] as const) : [])],
      env: { ...process.env, ...env },
    };
    this.process = spawn(process.execPath, args, options);
    this.process.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_LIMIT);
    });
    this.process.on("message", (reply: ChildResponse) => this.#receive(reply));
    this.#exited = once(this.process, "exit").then(() => this.#end());
  }

  get ready(): Ready {
    if (this.#ready === undefined) throw new Error("the child process is not ready yet");
    return this.#ready;
  }

  /** Resolves after the first line of stdout. */
  async started(): Promise<this> {
    const { stdout } = this.process;
    if (stdout === null) throw new Error("the child process has no stdout");
    for await (const line of createInterface({ input: stdout })) {
      this.#ready = JSON.parse(line) as Ready;
      stdout.resume();
      return this;
    }
    await this.#exited;
    throw this.#failure();
  }

  request<T>(method: string, input: unknown = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (!this.process.connected) return reject(this.#failure());
      this.#lastRequestId += 1;
      const message: ParentRequest = { id: this.#lastRequestId, method, input };
      this.#pending.set(message.id, { resolve, reject });
      this.process.send(message);
    });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill("SIGTERM");
    const force = setTimeout(() => this.process.kill("SIGKILL"), KILL_AFTER_MS);
    await this.#exited;
    clearTimeout(force);
  }

  #receive(reply: ChildResponse): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if ("error" in reply) pending?.reject(new Error(reply.error));
    else pending?.resolve(reply.output);
  }

  #end(): void {
    for (const { reject } of this.#pending.values()) reject(this.#failure());
    this.#pending.clear();
  }

  #failure(): Error {
    const cause = this.#stopping
      ? "was stopped"
      : `exited unexpectedly (${this.process.exitCode ?? this.process.signalCode})`;
    return new Error(`${this.process.spawnargs.slice(1).join(" ")}: ${cause}\n${this.#stderr}`);
  }
}

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Question, Reply } from "../processes/answering.ts";

const KILL_AFTER_MS = 10_000;
const STDERR_LIMIT = 4_000;

/** A process that a benchmark started: it says in one line of JSON that it is ready, and may answer questions after that. */
export class Child<Ready = unknown> {
  readonly process: ChildProcess;
  readonly #pending = new Map<number, { resolve: (output: any) => void; reject: (error: Error) => void }>();
  readonly #exited: Promise<unknown>;
  #ready: Ready | undefined;
  #lastQuestion = 0;
  #stderr = "";
  #stopping = false;

  /** Runs `node` with these arguments. Without `talks` it is started as a user would start it, and can only be stopped. */
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
    this.process.on("message", (reply: Reply) => this.#receive(reply));
    this.#exited = once(this.process, "exit").then(() => this.#end());
  }

  get ready(): Ready {
    if (this.#ready === undefined) throw new Error("not ready yet");
    return this.#ready;
  }

  /** Until its line has come. */
  async started(): Promise<this> {
    const { stdout } = this.process;
    if (stdout === null) throw new Error("a child without stdout");
    for await (const line of createInterface({ input: stdout })) {
      this.#ready = JSON.parse(line) as Ready;
      stdout.resume();
      return this;
    }
    await this.#exited;
    throw this.#failure();
  }

  ask<T>(question: string, input: unknown = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (!this.process.connected) return reject(this.#failure());
      this.#lastQuestion += 1;
      const message: Question = { id: this.#lastQuestion, question, input };
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

  #receive(reply: Reply): void {
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
    const how = this.#stopping
      ? "was stopped"
      : `ended by itself (${this.process.exitCode ?? this.process.signalCode})`;
    return new Error(`${this.process.spawnargs.slice(1).join(" ")}: ${how}\n${this.#stderr}`);
  }
}

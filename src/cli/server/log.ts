import { type Logger, pino } from "pino";
import type { HostedWorld } from "../../worlds/hosted-world.ts";
import { type LogStream, openStderr } from "./stderr-stream.ts";
import { terminalLog } from "./terminal-log.ts";

type FetchFunction = (request: Request, ...rest: never[]) => Response | Promise<Response>;

/** Number of errors whose stack is remembered as logged. Of further errors no stack is logged. */
const MAX_LOGGED_STACKS = 100;

/**
 * Logs to stderr with wall-clock time and the world's time. Never pass it anything that contains a secret.
 */
export class Log {
  readonly #pino: Logger;
  readonly #stream: LogStream;
  readonly #loggedStacks = new Set<string>();
  #world: HostedWorld | undefined;

  constructor(level: string, stream: LogStream) {
    this.#stream = stream;
    this.#pino = pino(
      {
        level,
        base: null,
        mixin: () => this.#simulatedTime(),
        timestamp: pino.stdTimeFunctions.isoTime,
        serializers: { err: (error) => (error instanceof Error ? pino.stdSerializers.err(error) : error) },
      },
      stream,
    );
  }

  /** Adds the time of this world to all later entries. */
  follow(world: HostedWorld): void {
    this.#world = world;
  }

  info(message: string): void {
    this.#pino.info(message);
  }

  warn(message: string): void {
    this.#pino.warn(message);
  }

  /** Logs the stack only the first time, because one cause may fail many requests; at level debug, always. */
  error(error: unknown, message: string): void {
    if (!(error instanceof Error) || this.#needsStack(error)) {
      this.#pino.error({ err: error }, message);
      return;
    }
    this.#pino.error({ err: { type: error.name, message: error.message } }, message);
  }

  /** Whether it has an entry for each request. */
  get hasRequests(): boolean {
    return this.#pino.isLevelEnabled("debug");
  }

  /** Logs method, path and status of each request at level debug; no headers, no bodies. */
  requests<F extends FetchFunction>(fetch: F): F {
    if (!this.hasRequests) return fetch;
    const logged = async (request: Request, ...rest: never[]) => {
      const response = await fetch(request, ...rest);
      this.#pino.debug(
        { method: request.method, path: new URL(request.url).pathname, status: response.status },
        "request",
      );
      return response;
    };
    return logged as F;
  }

  /** Number of entries dropped because stderr was not read. */
  get dropped(): number {
    return this.#stream.dropped;
  }

  /** Writes what is waiting, as far as stderr is read. */
  close(): Promise<void> {
    return this.#stream.close();
  }

  #needsStack({ stack = "" }: Error): boolean {
    if (this.#pino.isLevelEnabled("debug")) return true;
    const frame = /\n\s+at .*/.exec(stack)?.[0] ?? stack;
    if (this.#loggedStacks.has(frame) || this.#loggedStacks.size >= MAX_LOGGED_STACKS) return false;
    this.#loggedStacks.add(frame);
    return true;
  }

  #simulatedTime(): { sim?: string } {
    try {
      return this.#world === undefined ? {} : { sim: new Date(this.#world.now()).toISOString() };
    } catch {
      return {};
    }
  }
}

export function createLog(level: string): Log {
  const stream = openStderr();
  const isColoured = process.env["NO_COLOR"] === undefined;
  return new Log(level, process.stderr.isTTY ? terminalLog(stream, isColoured) : stream);
}

import { type DestinationStream, destination, type Logger, pino } from "pino";
import type { HostedWorld } from "../../worlds/hosted-world.ts";
import { terminalLog } from "./terminal-log.ts";

type FetchFunction = (request: Request, ...rest: never[]) => Response | Promise<Response>;

/**
 * Logs to stderr with wall-clock time and the world's time. Never pass it anything that contains a secret.
 */
export class Log {
  readonly #pino: Logger;
  #world: HostedWorld | undefined;

  constructor(level: string, stream: DestinationStream) {
    this.#pino = pino(
      { level, base: null, mixin: () => this.#simulatedTime(), timestamp: pino.stdTimeFunctions.isoTime },
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

  error(error: unknown, message: string): void {
    this.#pino.error({ err: error }, message);
  }

  /** Logs method, path and status of each request at level debug; no headers, no bodies. */
  requests<F extends FetchFunction>(fetch: F): F {
    if (!this.#pino.isLevelEnabled("debug")) return fetch;
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

  #simulatedTime(): { sim?: string } {
    try {
      return this.#world === undefined ? {} : { sim: new Date(this.#world.now()).toISOString() };
    } catch {
      return {};
    }
  }
}

export function createLog(level: string): Log {
  const stream = destination({ dest: 2, sync: true });
  const isColoured = process.env["NO_COLOR"] === undefined;
  return new Log(level, process.stderr.isTTY ? terminalLog(stream, isColoured) : stream);
}

import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "@standin/standin/ports/user-error";
import { Redis } from "ioredis";

/** How long Redis may take for its first answer. */
const FIRST_ANSWER_MS = 5_000;
/** How often a connection is checked, and how long Redis may take for the answer. */
const CHECK_EVERY_MS = 2_000;
const MAX_RECONNECT_DELAY_MS = 2_000;
/** How long a connection that is closed may take to end. */
const DISCONNECT_TIMEOUT_MS = 200;
/** The pause before a command that Redis had no memory for is repeated. */
const RETRY_WHEN_FULL_MS = 1_000;
/** For `LPOP` with a count. */
const MINIMUM_REDIS = [6, 2] as const;

/** A connection that waits while Redis is away, and reports that it waits. */
export type RedisLink = {
  readonly redis: Redis;
  /** Host and port, without the password of the URL. */
  readonly address: string;
  /** Repeats a command while Redis is full. Rejects when the signal is aborted. */
  whenNotFull<T>(command: () => Promise<T>): Promise<T>;
  close(): void;
};

/** Listeners for events of a connection. Messages are for the user. */
export type LinkReports = {
  readonly message: (text: string) => void;
  /** Redis answers again. */
  readonly onBack: () => void;
  /** Redis does not answer, for this long so far. */
  readonly onAway: (ms: number) => void;
};

/** Rejects with a `UserError` if Redis cannot be used now. */
export async function openRedisLink(
  url: string,
  { message, onBack, onAway }: LinkReports,
  signal?: AbortSignal,
): Promise<RedisLink> {
  const address = addressOf(url);
  await checkServer(
    new Redis(url, {
      lazyConnect: true,
      disconnectTimeout: DISCONNECT_TIMEOUT_MS,
      retryStrategy: () => null,
    }),
    address,
  );
  const redis = new Redis(url, {
    // Commands wait until Redis is back.
    maxRetriesPerRequest: null,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    retryStrategy: (attempt) => Math.min(100 * attempt, MAX_RECONNECT_DELAY_MS),
  });
  // Without a listener, the client of Redis prints every failed attempt.
  redis.on("error", () => undefined);
  let awaySince: number | undefined;
  const check = async (): Promise<void> => {
    const startedAt = performance.now();
    const isThere = await answers(redis, CHECK_EVERY_MS);
    if (isThere && awaySince !== undefined) {
      awaySince = undefined;
      message(`Redis at ${address} answers again`);
      onBack();
    }
    if (isThere) return;
    if (awaySince === undefined) message(`Redis at ${address} does not answer; waiting for it`);
    awaySince ??= startedAt;
    onAway(performance.now() - awaySince);
  };
  let isChecking = false;
  const timer = setInterval(() => {
    if (isChecking) return;
    isChecking = true;
    void check().finally(() => {
      isChecking = false;
    });
  }, CHECK_EVERY_MS);
  let isFull = false;
  return {
    redis,
    address,
    async whenNotFull(command) {
      while (true) {
        try {
          const result = await command();
          if (isFull) message(`Redis at ${address} has memory again`);
          isFull = false;
          return result;
        } catch (error) {
          if (!isOutOfMemory(error)) throw error;
          if (!isFull) message(`Redis at ${address} is full; waiting: raise its maxmemory, or free memory`);
          isFull = true;
          await sleep(RETRY_WHEN_FULL_MS, undefined, signal && { signal });
        }
      }
    },
    close() {
      clearInterval(timer);
      redis.disconnect();
    },
  };
}

/** Whether Redis answers within this time. */
async function answers(redis: Redis, withinMs: number): Promise<boolean> {
  if (redis.status !== "ready") return false;
  const timeout = new AbortController();
  const answer = redis.ping().then(
    () => true,
    () => false,
  );
  const expired = sleep(withinMs, false, { signal: timeout.signal }).catch(() => false);
  const isThere = await Promise.race([answer, expired]);
  timeout.abort();
  return isThere;
}

/** Redis rejects a command, or a script, that would use memory beyond `maxmemory`. */
function isOutOfMemory(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const previous = (error as { previousErrors?: readonly Error[] }).previousErrors ?? [];
  return [error, ...previous].some(({ message }) => /\bOOM\b/.test(message));
}

/** Connects once, so that a wrong address or password is an error instead of a wait. */
async function checkServer(probe: Redis, address: string): Promise<void> {
  let reason: Error | undefined;
  probe.on("error", (error: Error) => {
    reason = error;
  });
  const timeout = new AbortController();
  const expired = sleep(FIRST_ANSWER_MS, undefined, { signal: timeout.signal }).then(() => {
    throw new Error(`no answer within ${FIRST_ANSWER_MS / 1_000} s`);
  });
  try {
    const information = await Promise.race([probe.connect().then(() => probe.info("server")), expired]);
    checkVersion(information);
  } catch (error) {
    const cause = reason ?? (error instanceof Error ? error : new Error(String(error)));
    const code = (cause as NodeJS.ErrnoException).code;
    throw new UserError(
      `--queue: cannot use Redis at ${address}: ${cause.message === "" ? code : cause.message}`,
    );
  } finally {
    expired.catch(() => undefined);
    timeout.abort();
    probe.disconnect();
  }
}

function checkVersion(information: string): void {
  const version = /^redis_version:(.*)$/m.exec(information)?.[1]?.trim() ?? "unknown";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor, leastMinor] = MINIMUM_REDIS;
  if (major < leastMajor || (major === leastMajor && minor < leastMinor))
    throw new Error(`its version is ${version}; use ${MINIMUM_REDIS.join(".")} or newer`);
}

function addressOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === "" ? "6379" : port}`;
}

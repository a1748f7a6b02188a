import { fileKey, RUN_TTL_S, runKey } from "./redis-keys.ts";
import type { RedisLink } from "./redis-link.ts";
import { signOfLife } from "./sign-of-life.ts";
import type { QueueKey } from "./signing-key.ts";

type RunFilesOptions = {
  readonly link: RedisLink;
  readonly key: QueueKey;
  readonly run: string;
  /** By digest. */
  readonly files: ReadonlyMap<string, Buffer>;
};

/** The sign of life of a run and the files of its jobs, which expire in Redis unless they are extended. */
export class RunFiles {
  readonly #options: RunFilesOptions;

  constructor(options: RunFilesOptions) {
    this.#options = options;
  }

  async put(): Promise<void> {
    const { link, files, run } = this.#options;
    await link.redis.set(runKey(run), this.#sign(), "EX", RUN_TTL_S);
    for (const [digest, content] of files) await link.redis.set(fileKey(digest), content, "EX", RUN_TTL_S);
  }

  async extend(): Promise<void> {
    const { link, files, run } = this.#options;
    // Not added again if it expired: the files are gone, too, and both are written together.
    const pipeline = link.redis.pipeline().set(runKey(run), this.#sign(), "EX", RUN_TTL_S, "XX");
    for (const digest of files.keys()) pipeline.expire(fileKey(digest), RUN_TTL_S);
    await pipeline.exec();
  }

  #sign(): string {
    const { key, run } = this.#options;
    return signOfLife(key, run, Date.now());
  }
}

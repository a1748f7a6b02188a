import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { inflate } from "node:zlib";
import type { QueueHost, Recording, WorkerRun } from "@standin/standin/ports/queue";
import { digestOf, type PackedRun } from "./packed-job.ts";

/** Only this user may read the world of a job. */
const PRIVATE_FILE = 0o600;

/** A file of the job is not in Redis any more. */
export class MissingFile extends Error {
  override readonly name = "MissingFile";
}

type RetainedFile = { readonly bytes: number; readonly value: unknown };

/** `release` ends the use of its files, which can be removed then. */
export type UnpackedJob = { readonly job: WorkerRun; readonly release: () => void };

export type UnpackerOptions = {
  readonly host: Pick<QueueHost, "recordingFrom" | "limits">;
  /** Directory for the files of worlds and the temporary files of runs. */
  readonly directory: string;
};

/** Unpacks jobs, and keeps the files that it has read last. */
export class JobUnpacker {
  readonly #fetch: (digest: string) => Promise<Buffer | null>;
  readonly #directory: string;
  readonly #host: UnpackerOptions["host"];
  /** By kind and digest, the one used last at the end. */
  readonly #retained = new Map<string, Promise<RetainedFile>>();
  /** The number of jobs that use a world, by its digest. */
  readonly #uses = new Map<string, number>();

  /** `fetch` reads a compressed file by the digest of its content. */
  constructor(fetch: (digest: string) => Promise<Buffer | null>, { host, directory }: UnpackerOptions) {
    this.#fetch = fetch;
    this.#directory = directory;
    this.#host = host;
  }

  /** Throws a `MissingFile`. */
  async unpack(packed: PackedRun): Promise<UnpackedJob> {
    const world = packed.world?.file;
    if (world !== undefined) this.#uses.set(world, (this.#uses.get(world) ?? 0) + 1);
    const release = () => {
      if (world === undefined) return;
      this.#uses.set(world, (this.#uses.get(world) ?? 0) - 1);
      if (this.#uses.get(world) === 0) this.#uses.delete(world);
    };
    try {
      return { job: await this.#jobOf(packed), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #jobOf(packed: PackedRun): Promise<WorkerRun> {
    const { file, variant, seed, bail } = packed;
    const text = await this.#file("text", packed.text, (content) => content.toString("utf8"));
    const recordings = new Map<string, Recording>();
    for (const [source, digest] of packed.recordings)
      recordings.set(
        source,
        await this.#file("recording", digest, (content) => this.#host.recordingFrom(content)),
      );
    const worldCopy =
      packed.world === undefined
        ? undefined
        : await this.#file("world", packed.world.file, (content, digest) => this.#write(content, digest));
    return {
      ...{ file, text, variant, recordings, seed, bail, worldCopy },
      ...{ temporaryRoot: this.#directory, isWithoutFiles: true },
    };
  }

  async #file<T>(kind: string, digest: string, read: (content: Buffer, digest: string) => T): Promise<T> {
    const key = `${kind} ${digest}`;
    const found =
      this.#retained.get(key) ??
      this.#read(digest).then((content) => ({ bytes: content.length, value: read(content, digest) }));
    this.#retained.delete(key);
    this.#retained.set(key, found);
    try {
      const { value } = await found;
      await this.#forgetOldest();
      return value as T;
    } catch (error) {
      this.#retained.delete(key);
      throw error;
    }
  }

  async #read(digest: string): Promise<Buffer> {
    const compressed = await this.#fetch(digest);
    if (compressed === null) throw new MissingFile(digest);
    const content = await promisify(inflate)(compressed, { maxOutputLength: this.#host.limits.file });
    if (digestOf(content) !== digest) throw new MissingFile(digest);
    return content;
  }

  #write(content: Buffer, digest: string): string {
    const path = this.#worldPath(digest);
    writeFileSync(path, content, { mode: PRIVATE_FILE });
    return path;
  }

  #worldPath(digest: string): string {
    return join(this.#directory, `${digest}.sqlite`);
  }

  /** Worlds that a job uses stay on disk, also beyond the limit. */
  async #forgetOldest(): Promise<void> {
    const retained = await Promise.all(
      [...this.#retained].map(async ([key, file]) => ({
        key,
        bytes: (await file.catch(() => undefined))?.bytes ?? 0,
      })),
    );
    let bytes = retained.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of retained) {
      if (bytes <= this.#host.limits.retained) return;
      const [kind, digest = ""] = file.key.split(" ");
      if (kind === "world" && this.#uses.has(digest)) continue;
      if (!this.#retained.delete(file.key)) continue;
      if (kind === "world") rmSync(this.#worldPath(digest), { force: true });
      bytes -= file.bytes;
    }
  }
}

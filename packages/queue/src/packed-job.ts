import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { deflateSync } from "node:zlib";
import type { QueuedPart, QueuedRun, QueueHost, Recording } from "@standin/standin/ports/queue";
import { UserError } from "@standin/standin/ports/user-error";

const MIB = 1024 ** 2;
const FASTEST = { level: 1 };

type JobIdentity = {
  /** Digest of everything that the result depends on. */
  readonly id: string;
  /** The command that waits for the result. */
  readonly run: string;
  /** Whether the result depends on nothing but `id`. */
  readonly isReusable: boolean;
};

export type PackedJob = PackedRun | PackedPart;

/** A part of `whatif compare` or `backtest` as a job of the queue. */
export type PackedPart = JobIdentity & Omit<QueuedPart, "input">;

/** A run as a job of the queue. Files are named by the digests of their content. */
export type PackedRun = JobIdentity & {
  readonly file: string;
  readonly variant: number;
  readonly seed?: number | undefined;
  readonly bail: boolean;
  readonly text: string;
  readonly recordings: readonly (readonly [source: string, file: string])[];
  readonly world?: { readonly path: string; readonly file: string } | undefined;
};

/** Functions of the core that packing of jobs needs. */
export type PackerHost = Pick<QueueHost, "recordingBytes" | "limits">;

/** Packs runs, and collects the files that they need. Runs share files. */
export class JobPacker {
  readonly #host: PackerHost;
  /** By the digest of their content, compressed. */
  readonly files = new Map<string, Buffer>();
  readonly #texts = new Map<string, string>();
  readonly #recordings = new Map<Recording, string>();
  readonly #worlds = new Map<string, string | undefined>();

  constructor(host: PackerHost) {
    this.#host = host;
  }

  /**
   * For workers of the version `code`, and for the command `run`. `undefined` if the file of its initial world
   * cannot be read: the run will not start, and its reason names a path of this machine. Throws a `UserError` if
   * a file is too large.
   */
  pack(
    { file, text, variant, recordings, seed, bail, needs }: QueuedRun,
    code: string,
    run: string,
  ): PackedRun | undefined {
    const world = needs.worldFile === undefined ? undefined : this.#world(needs.worldFile);
    if (needs.worldFile !== undefined && world === undefined) return undefined;
    const content = {
      ...{ file, variant, seed, bail, text: this.#text(text) },
      recordings: [...recordings].map(([source, recorded]) => [source, this.#recording(recorded)] as const),
      world: world === undefined ? undefined : { path: needs.worldFile ?? "", file: world },
    };
    const id = digestOf(JSON.stringify([code, content]));
    // Steps with SQL also depend on the Postgres of the machine.
    return { id, run, ...content, isReusable: !needs.sql };
  }

  #text(text: string): string {
    const known = this.#texts.get(text) ?? this.#add(Buffer.from(text), "the scenario");
    this.#texts.set(text, known);
    return known;
  }

  #recording(recorded: Recording): string {
    const known =
      this.#recordings.get(recorded) ?? this.#add(this.#host.recordingBytes(recorded), "a recording");
    this.#recordings.set(recorded, known);
    return known;
  }

  #world(path: string): string | undefined {
    if (!this.#worlds.has(path)) this.#worlds.set(path, this.#readWorld(path));
    return this.#worlds.get(path);
  }

  #readWorld(path: string): string | undefined {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true) return undefined;
    this.#checkSize(stats.size, path);
    // What a server has written last can be in a second file.
    if (statSync(`${path}-wal`, { throwIfNoEntry: false }) !== undefined)
      throw new UserError(
        `--queue: the world ${path} is in use; make a copy with standin export, or run without --queue`,
      );
    return this.#add(readFileSync(path), path);
  }

  #add(content: Buffer, name: string): string {
    this.#checkSize(content.length, name);
    const digest = digestOf(content);
    if (!this.files.has(digest)) this.files.set(digest, deflateSync(content, FASTEST));
    return digest;
  }

  #checkSize(bytes: number, name: string): void {
    const { file } = this.#host.limits;
    if (bytes > file)
      throw new UserError(
        `--queue: ${name} has ${Math.ceil(bytes / MIB).toLocaleString("en")} MiB; at most ${file / MIB} MiB travel with a run; run it without --queue`,
      );
  }
}

/** For workers of the version `code`, and for the command `run`. */
export function packPart(part: QueuedPart, code: string, run: string): PackedPart {
  const { title, args, directory, input } = part;
  const id = digestOf(JSON.stringify([code, args, directory, input]));
  // The files of a worker may differ, so a result counts for this command only, which compares them.
  return { id, run, isReusable: false, title, args, directory };
}

export function digestOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { replaceDurably } from "./durable-files.ts";
import type { VolumeOrigin } from "./volume.ts";

/** `<history id>/<name>`. The world that refers to a volume may be a file from elsewhere. */
export const VOLUME_ID = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}\/[A-Za-z0-9][A-Za-z0-9-]{0,127}$/;

/** A world refers to data that was deleted. */
export class MissingVolume extends Error {
  override readonly name = "MissingVolume";
}

/** The file of each volume that says what it began with. A directory without one is not a volume. */
export class VolumeOrigins {
  readonly #root: string;
  readonly #known = new Map<string, VolumeOrigin>();

  constructor(root: string) {
    this.#root = root;
  }

  has(id: string): boolean {
    return VOLUME_ID.test(id) && existsSync(this.#file(id));
  }

  /** Durable when this returns. */
  write(id: string, { bases, origin }: VolumeOrigin): void {
    const stored = bases.map(({ path, lsn }) => ({ path: relative(this.#root, path), lsn }));
    replaceDurably(this.#file(id), JSON.stringify({ bases: stored, origin }));
    this.#known.set(id, { bases, origin });
  }

  /** Throws `MissingVolume` if there is no such volume. */
  read(id: string): VolumeOrigin {
    if (!VOLUME_ID.test(id)) throw new MissingVolume(`"${id}" is not the name of a volume`);
    if (!existsSync(this.#file(id)))
      throw new MissingVolume(`the data in ${join(this.#root, id)} is missing`);
    const { bases, origin } = this.#parse(id);
    return {
      bases: bases.map(({ path, ...rest }) => ({ path: resolve(this.#root, path), ...rest })),
      origin,
    };
  }

  /** Reads the file once. The returned function gives what was read or written last. */
  open(id: string): () => VolumeOrigin {
    this.#known.set(id, this.read(id));
    return () => this.#known.get(id) as VolumeOrigin;
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  /** A release that did not sync this file may have left it empty after a power failure. */
  #parse(id: string): VolumeOrigin {
    try {
      return JSON.parse(readFileSync(this.#file(id), "utf8")) as VolumeOrigin;
    } catch {
      throw new MissingVolume(`${this.#file(id)} is damaged`);
    }
  }

  #file(id: string): string {
    return join(this.#root, id, "origin.json");
  }
}

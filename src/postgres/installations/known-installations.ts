import { existsSync } from "node:fs";
import { join } from "node:path";
import { EngineError } from "../engine/engine.ts";
import { chooseInstallation, type Installation, noInstallationOf, notInstalled } from "./installation.ts";

export type KnownInstallationsOptions = {
  readonly installations: readonly Installation[];
  /** Searches again: versions may be installed and removed meanwhile. */
  readonly findInstallations?: () => Promise<readonly Installation[]>;
  /** Whether a version that is not installed is replaced. Otherwise, it is an error. */
  readonly replacesVersions: boolean;
  /** Called once per version that is replaced. */
  readonly onSubstitute?: (wanted: number, chosen: number) => void;
};

/** The installations that were found last. They are searched for again when one that is needed is missing. */
export class KnownInstallations {
  readonly #options: KnownInstallationsOptions;
  #known: readonly Installation[];
  readonly #substituted = new Set<number>();

  constructor(options: KnownInstallationsOptions) {
    this.#options = options;
    this.#known = options.installations;
  }

  get versions(): readonly number[] {
    return this.#known.map(({ version }) => version);
  }

  /** Installation with which new data of a version is created. */
  async toCreate(version: number): Promise<Installation> {
    await this.#searchFor(version);
    const installation = chooseInstallation(this.#known, version);
    if (installation === undefined) throw new EngineError("no Postgres is installed");
    if (installation.version !== version && !this.#options.replacesVersions)
      throw notInstalled(version, installation);
    if (installation.version !== version && !this.#substituted.has(version)) {
      this.#substituted.add(version);
      this.#options.onSubstitute?.(version, installation.version);
    }
    return installation;
  }

  /** Installation that opens data of a version. */
  async toOpen(dataDirectory: string, version: number): Promise<Installation> {
    await this.#searchFor(version);
    const installation = this.#find(version);
    if (installation === undefined) throw noInstallationOf(dataDirectory, version);
    return installation;
  }

  #find(version: number): Installation | undefined {
    return this.#known.find((candidate) => candidate.version === version);
  }

  async #searchFor(version: number): Promise<void> {
    const { findInstallations } = this.#options;
    const known = this.#find(version);
    if (known !== undefined && existsSync(join(known.binDirectory, "postgres"))) return;
    // `findInstallations` rejects if no version is installed.
    if (findInstallations !== undefined) this.#known = await findInstallations().catch(() => []);
  }
}

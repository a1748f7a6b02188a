import type { Change } from "../kernel/change-set.ts";
import type { WorldSettings } from "../platform/model/world-settings.ts";
import { ownerOf } from "../platform/world/row-owner.ts";
import type { World } from "../platform/world/world.ts";

/**
 * The rows that an answer depends on: those of one project or of any, and the API key of the caller. Every answer also
 * depends on accounts, organizations, faults and the settings of the world.
 */
export type ReadScope = {
  readonly project: { readonly id: string } | "any";
  readonly keyId: number | undefined;
};

/** `decided`: not part of a commit yet. `written`: part of a commit that is not durable yet. */
export type Durability = "durable" | "written" | "decided";

/** The changed rows of one commit. The owner of each row is found once, at the first read after the change. */
class RowsOfCommit {
  readonly #world: World;
  readonly #changes: readonly Change[];
  readonly #settingsBefore: WorldSettings;
  readonly #projects = new Set<string>();
  readonly #keys = new Set<string>();
  #concernsAll = false;
  #seen = 0;

  constructor(world: World, settingsBefore: WorldSettings) {
    this.#world = world;
    this.#changes = world.changes.list;
    this.#settingsBefore = settingsBefore;
  }

  concern({ project, keyId }: ReadScope): boolean {
    this.#look();
    if (this.#concernsAll || this.#world.settings !== this.#settingsBefore) return true;
    if (keyId !== undefined && this.#keys.has(String(keyId))) return true;
    return project === "any" ? this.#projects.size > 0 : this.#projects.has(project.id);
  }

  #look(): void {
    for (; this.#seen < this.#changes.length; this.#seen += 1) {
      const owner = ownerOf(this.#world, this.#changes[this.#seen] as Change);
      if (owner === "world") this.#concernsAll = true;
      else if (owner === "nobody") continue;
      else if ("keyId" in owner) this.#keys.add(owner.keyId);
      else this.#projects.add(owner.projectId);
    }
  }
}

/** The changed rows that are not durable. Reads check whether their answer depends on one of them. */
export class UndurableRows {
  readonly #world: World;
  readonly #written: RowsOfCommit[] = [];
  #decided: RowsOfCommit;

  constructor(world: World) {
    this.#world = world;
    this.#decided = new RowsOfCommit(world, world.settings);
  }

  /** Call it when a commit takes all changes. Pass the result to `durable`. */
  taken(): RowsOfCommit {
    const taken = this.#decided;
    this.#written.push(taken);
    this.#decided = new RowsOfCommit(this.#world, this.#world.settings);
    return taken;
  }

  /** Call it when this commit is durable, and with it all earlier ones. */
  durable(commit: RowsOfCommit): void {
    this.#written.splice(0, this.#written.indexOf(commit) + 1);
  }

  /** Returns the durability of the newest change that an answer of this scope depends on. */
  of(scope: ReadScope): Durability {
    if (this.#decided.concern(scope)) return "decided";
    return this.#written.some((commit) => commit.concern(scope)) ? "written" : "durable";
  }
}

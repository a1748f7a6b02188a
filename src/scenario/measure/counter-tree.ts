import type { World } from "../../platform/world/world.ts";
import { Counters } from "./counters.ts";

/** The counters of every resource, each below those of the resource that contains it, and all below those of the world. */
export class CounterTree {
  readonly world = new Counters();
  readonly #byId = new Map<string, Counters>();

  /** `parent` is needed when the world may no longer have the resource. */
  of(id: string, world: World, parent?: string): Counters {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const { computes, branches, projects } = world;
    const parentId =
      parent ?? computes.get(id)?.branchId ?? branches.get(id)?.projectId ?? projects.get(id)?.accountId;
    const counters = new Counters(parentId === undefined ? this.world : this.of(parentId, world));
    this.#byId.set(id, counters);
    return counters;
  }

  isWithin(id: string, container: Counters): boolean {
    return this.#byId.get(id)?.isWithin(container) === true;
  }
}

import type { AnyBody } from "../answers/api-response.ts";

/** A branch as the client of a random walk knows it. */
export type KnownBranch = {
  readonly id: string;
  parent: KnownBranch | undefined;
  readonly children: Set<KnownBranch>;
  readonly replicas: Set<string>;
  /** Id of the read-write compute; undefined if the branch has none. */
  primary: string | undefined;
  /**
   * Whether the branch preserves the state of another branch before a restore. It is not used, and is deleted with its
   * child.
   */
  readonly isPreserved: boolean;
  updatedAt: number;
  parentTimestamp: number;
};

/** The branches of a project, oldest first. */
export class KnownBranches {
  readonly #branches = new Set<KnownBranch>();

  get all(): readonly KnownBranch[] {
    return [...this.#branches];
  }

  get usable(): readonly KnownBranch[] {
    return this.all.filter(({ isPreserved }) => !isPreserved);
  }

  /** Branches that can be reset, restored and deleted. */
  get leaves(): readonly KnownBranch[] {
    return this.usable.filter(({ parent, children }) => parent !== undefined && children.size === 0);
  }

  get replicas(): readonly { readonly branch: KnownBranch; readonly id: string }[] {
    return this.all.flatMap((branch) => [...branch.replicas].map((id) => ({ branch, id })));
  }

  add(
    row: AnyBody["branch"],
    parent: KnownBranch | undefined,
    primary: string | undefined,
    isPreserved = false,
  ): KnownBranch {
    const branch: KnownBranch = {
      id: row.id,
      parent,
      children: new Set(),
      replicas: new Set(),
      primary,
      isPreserved,
      updatedAt: 0,
      parentTimestamp: 0,
    };
    setTimes(branch, row);
    parent?.children.add(branch);
    this.#branches.add(branch);
    return branch;
  }

  move(branch: KnownBranch, parent: KnownBranch): void {
    branch.parent?.children.delete(branch);
    branch.parent = parent;
    parent.children.add(branch);
  }

  delete(branch: KnownBranch): void {
    branch.parent?.children.delete(branch);
    this.#branches.delete(branch);
  }
}

export function setTimes(branch: KnownBranch, row: AnyBody["branch"]): void {
  branch.updatedAt = Date.parse(row.updated_at);
  branch.parentTimestamp = row.parent_timestamp === undefined ? 0 : Date.parse(row.parent_timestamp);
}

export function computesOf({ primary, replicas }: KnownBranch): readonly string[] {
  return primary === undefined ? [...replicas] : [primary, ...replicas];
}

import { setTimeout as sleep } from "node:timers/promises";
import type { CheckedApi } from "./checked-api.ts";
import { computesOf, type KnownBranch, KnownBranches, setTimes } from "./known-branches.ts";

type Draw = (below: number) => number;
type Action = (project: RandomProject) => Promise<boolean>;

/** C: the actions of the suite of the real platform and their weights, in hundredths. */
const ACTIONS: readonly (readonly [string, number, Action])[] = [
  ["new_branch", 120, (project) => project.createBranch(false)],
  ["new_branch_random_time", 50, (project) => project.createBranch(true)],
  ["new_ro_endpoint", 140, (project) => project.createReplica()],
  ["delete_ro_endpoint", 80, (project) => project.deleteReplica()],
  ["delete_branch", 120, (project) => project.deleteLeaf()],
  ["restore_random_time", 90, (project) => project.restoreLeaf()],
  ["reset_to_parent", 30, (project) => project.resetLeaf()],
  ["create_snapshot", 15, (project) => project.createSnapshot()],
  ["restore_snapshot", 10, (project) => project.restoreSnapshot()],
  ["delete_snapshot", 10, (project) => project.deleteSnapshot()],
];
/** Each action as often as its weight says. */
const LOTS = ACTIONS.flatMap(([name, weight, action]) =>
  Array.from({ length: weight }, () => ({ name, action })),
);
const SECOND = 1_000;
/** Duration for which a benchmark runs unchecked. */
const BENCHMARK_MS = 30 * SECOND;
const HISTORY_WAIT_MS = 20;
/** The history of the project, less the time that a request may take. */
const RETENTION_MS = (86_400 - 600) * SECOND;

/** One project in which random operations are executed, with all that its client knows of it. */
export class RandomProject {
  readonly #api: CheckedApi;
  readonly #draw: Draw;
  readonly #branches = new KnownBranches();
  readonly #benchmarks = new Set<string>();
  readonly #snapshots: string[] = [];
  #id = "";
  #main: KnownBranch | undefined;
  #limits: Record<string, number> = {};
  #begin = 0;
  #named = 0;

  private constructor(api: CheckedApi, draw: Draw) {
    this.#api = api;
    this.#draw = draw;
  }

  static async create(api: CheckedApi, draw: Draw): Promise<RandomProject> {
    const project = new RandomProject(api, draw);
    const created = await api.call("POST", "/projects", {
      project: { branch: {}, name: "random operations" },
    });
    project.#id = created.project.id;
    project.#main = project.#branches.add(created.branch, undefined, created.endpoints[0].id);
    await project.#wait();
    project.#limits = (await api.call("GET", project.#path("/limits"))).limits as unknown as Record<
      string,
      number
    >;
    project.#begin = api.now;
    return project;
  }

  /** Draws actions until one is possible, and executes it. Returns its name. */
  async act(): Promise<string> {
    for (;;) {
      const drawn = this.#pick(LOTS);
      if (drawn === undefined) throw new Error("there are no actions");
      const { name, action } = drawn;
      const done = await action(this).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`, { cause: error });
      });
      if (!done) continue;
      await this.#checkBenchmarks();
      return name;
    }
  }

  /** Compares the project with what the client knows of it, and deletes it. */
  async finish(): Promise<void> {
    await this.#wait();
    const { branches } = await this.#api.call("GET", this.#path("/branches?limit=1000"));
    this.#compare(
      "branches",
      branches,
      this.#branches.all.map(({ id }) => id),
    );
    const { endpoints } = await this.#api.call("GET", this.#path("/endpoints"));
    this.#compare("computes", endpoints, this.#branches.all.flatMap(computesOf));
    await this.#api.call("DELETE", this.#path(""));
  }

  async createBranch(inThePast: boolean): Promise<boolean> {
    if (!this.#hasRoomForBranch()) return false;
    await this.#wait();
    const parent = this.#pick(this.#branches.usable);
    if (parent === undefined) return false;
    const timestamp = inThePast ? await this.#randomTime(parent) : undefined;
    const created = await this.#api.call("POST", this.#path("/branches"), {
      endpoints: [{ type: "read_write" }],
      branch: { parent_id: parent.id, ...(timestamp === undefined ? {} : { parent_timestamp: timestamp }) },
    });
    this.#expectEqual("parent_id", created.branch.parent_id, parent.id);
    if (timestamp !== undefined)
      this.#expectEqual("parent_timestamp", created.branch.parent_timestamp, timestamp);
    const branch = this.#branches.add(created.branch, parent, created.endpoints[0].id);
    this.#expectEqual(
      "host",
      created.connection_uris[0].connection_parameters.host,
      created.endpoints[0].host,
    );
    await this.#wait();
    this.#startBenchmarks(branch);
    return true;
  }

  async createReplica(): Promise<boolean> {
    if (this.#branches.replicas.length >= (this.#limits["max_read_only_endpoints"] ?? 0)) return false;
    const branch = this.#pick(this.#branches.usable);
    if (branch === undefined) return false;
    const { endpoint } = await this.#api.call("POST", this.#path("/endpoints"), {
      endpoint: { branch_id: branch.id, type: "read_only" },
    });
    branch.replicas.add(endpoint.id);
    this.#benchmarks.add(endpoint.id);
    return true;
  }

  async deleteReplica(): Promise<boolean> {
    const replica = this.#pick(this.#branches.replicas);
    if (replica === undefined) return false;
    await this.#deleteReplica(replica.branch, replica.id);
    return true;
  }

  async deleteLeaf(): Promise<boolean> {
    const leaf = this.#pick(this.#branches.leaves);
    if (leaf === undefined) return false;
    await this.#delete(leaf);
    return true;
  }

  /** A restore to its own past. What the branch was becomes its parent. */
  async restoreLeaf(): Promise<boolean> {
    const branch = this.#pick(this.#branches.leaves);
    if (branch === undefined || !this.#hasRoomForBranch()) return false;
    this.#stopBenchmarks(branch);
    const timestamp = await this.#randomTime(branch);
    const restored = await this.#api.call("POST", this.#path(`/branches/${branch.id}/restore`), {
      source_branch_id: branch.id,
      source_timestamp: timestamp,
      preserve_under_name: this.#name("restore"),
    });
    this.#expectEqual("parent_timestamp", restored.branch.parent_timestamp, timestamp);
    const preserved = await this.#api.call("GET", this.#path(`/branches/${restored.branch.parent_id}`));
    const parent = this.#branches.add(preserved.branch, branch.parent, undefined, true);
    this.#expectEqual("parent_id", preserved.branch.parent_id, branch.parent?.id);
    this.#branches.move(branch, parent);
    setTimes(branch, restored.branch);
    await this.#wait();
    this.#startBenchmarks(branch);
    return true;
  }

  async resetLeaf(): Promise<boolean> {
    const branch = this.#pick(this.#branches.leaves);
    if (branch === undefined) return false;
    this.#stopBenchmarks(branch);
    const reset = await this.#api.call("POST", this.#path(`/branches/${branch.id}/reset_to_parent`));
    this.#expectEqual("parent_id", reset.branch.parent_id, branch.parent?.id);
    setTimes(branch, reset.branch);
    await this.#wait();
    this.#startBenchmarks(branch);
    return true;
  }

  async createSnapshot(): Promise<boolean> {
    if (this.#snapshots.length >= (this.#limits["max_snapshots"] ?? 0)) return false;
    const query = `?name=${this.#name("snapshot")}`;
    const path = this.#path(`/branches/${this.#main?.id}/snapshot${query}`);
    this.#snapshots.push((await this.#api.call("POST", path)).snapshot.id);
    await this.#wait();
    return true;
  }

  /** Creates a branch, which the restored one replaces and whose compute it takes over. */
  async restoreSnapshot(): Promise<boolean> {
    const snapshot = this.#pick(this.#snapshots);
    // Room for two: the branch to replace, and the restored one.
    if (snapshot === undefined || !this.#hasRoomForBranch(2) || this.#main === undefined) return false;
    await this.#wait();
    const created = await this.#api.call("POST", this.#path("/branches"), {
      endpoints: [{ type: "read_write" }],
    });
    const replaced = this.#branches.add(created.branch, this.#main, created.endpoints[0].id);
    await this.#wait();
    const { branch } = await this.#api.call("POST", this.#path(`/snapshots/${snapshot}/restore`), {
      target_branch_id: replaced.id,
      name: this.#name("branch"),
      finalize_restore: true,
    });
    const restored = this.#branches.add(branch, undefined, replaced.primary);
    replaced.primary = undefined;
    await this.#wait();
    this.#startBenchmarks(restored);
    return true;
  }

  async deleteSnapshot(): Promise<boolean> {
    const index = this.#snapshots.length === 0 ? undefined : this.#draw(this.#snapshots.length);
    if (index === undefined) return false;
    const [id] = this.#snapshots.splice(index, 1);
    await this.#api.call("DELETE", this.#path(`/snapshots/${id}`));
    await this.#wait();
    return true;
  }

  #path(below: string): string {
    return `/projects/${this.#id}${below}`;
  }

  #wait(): Promise<void> {
    return this.#api.waitForOperations(this.#id);
  }

  #name(kind: string): string {
    this.#named += 1;
    return `${kind}${this.#named}`;
  }

  #hasRoomForBranch(count = 1): boolean {
    const { max_branches: limit = 0 } = this.#limits;
    return limit === -1 || this.#branches.all.length + count <= limit;
  }

  #pick<T>(items: readonly T[]): T | undefined {
    return items.length === 0 ? undefined : items[this.#draw(items.length)];
  }

  /** An instant of the history of a branch, in whole seconds. Waits until there is one. */
  async #randomTime({ updatedAt, parentTimestamp }: KnownBranch): Promise<string> {
    const earliest = () =>
      Math.max(updatedAt + SECOND, parentTimestamp + SECOND, this.#begin, this.#api.now - RETENTION_MS);
    const seconds = () => Math.floor((this.#api.now - SECOND - earliest()) / SECOND) + 1;
    while (seconds() < 1) {
      await sleep(HISTORY_WAIT_MS);
      await this.#api.call("GET", this.#path(""));
    }
    const at = new Date(earliest() + this.#draw(seconds()) * SECOND);
    return at.toISOString().replace(".000Z", "Z");
  }

  async #delete(branch: KnownBranch): Promise<void> {
    for (const id of [...branch.replicas]) await this.#deleteReplica(branch, id);
    this.#stopBenchmarks(branch);
    await this.#api.call("DELETE", this.#path(`/branches/${branch.id}`));
    const { parent } = branch;
    this.#branches.delete(branch);
    await this.#wait();
    if (parent?.isPreserved === true && parent.children.size === 0) await this.#delete(parent);
  }

  async #deleteReplica(branch: KnownBranch, id: string): Promise<void> {
    this.#benchmarks.delete(id);
    await this.#api.call("DELETE", this.#path(`/endpoints/${id}`));
    branch.replicas.delete(id);
    await this.#wait();
  }

  #startBenchmarks(branch: KnownBranch): void {
    for (const id of computesOf(branch)) this.#benchmarks.add(id);
  }

  #stopBenchmarks(branch: KnownBranch): void {
    for (const id of computesOf(branch)) this.#benchmarks.delete(id);
  }

  #checkBenchmarks(): Promise<void> {
    return this.#api.reportActivity([...this.#benchmarks], BENCHMARK_MS);
  }

  #expectEqual(field: string, actual: unknown, expected: unknown): void {
    if (actual !== expected) this.#api.addFault(`${field} is ${actual}, not ${expected}, in ${this.#id}`);
  }

  #compare(what: string, rows: readonly { readonly id: string }[], expected: readonly string[]): void {
    const actual = rows.map(({ id }) => id).sort();
    this.#expectEqual(what, actual.join(" "), [...expected].sort().join(" "));
  }
}

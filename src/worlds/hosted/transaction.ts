import { runToEnd } from "../../kernel/run-to-end.ts";
import { SECOND, type SimTime } from "../../kernel/time.ts";
import type { Result } from "../../platform/catalog/refusal-codes.ts";
import type { BranchData } from "../../platform/model/branch-data.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { Operation } from "../../platform/model/operation.ts";
import type { Command } from "../../platform/rules/commands.ts";
import type { World } from "../../platform/world/world.ts";
import type { EventFilter, Journal } from "../../simulation/journal.ts";
import type { DescribedRequest } from "../../simulation/request-log.ts";
import { searchEvents, withUncommitted } from "../../simulation/search-events.ts";
import { enableNewRules } from "../enable-new-rules.ts";
import type { Transaction } from "../world-handle.ts";
import type { LiveWorld } from "./live-world.ts";

export type TransactionHooks = {
  /** Called before reads of operations that are derived from stored events, as in a journal in memory. */
  commit(): void;
  /** Called before each command, also before one that is refused. */
  onCommand(): void;
  /** Called before the transaction changes anything in the world. */
  onChange(): void;
  /** Called with the events of each command. */
  onEvents?(events: readonly RecordedEvent[]): void;
  /** Called after a change outside history that must be durable when the transaction resolves. */
  onDurableRow(): void;
  /** Called with the error of a request that could not be logged. */
  onLost(error: unknown): void;
  readInSteps<T>(stepsIn: (world: World) => Generator<undefined, T>): Promise<T>;
};

/** A class, because an object with a function for each method would take a tenth of the time of a read. */
export class HostedTransaction implements Transaction {
  readonly world: World;
  readonly now: SimTime;
  readonly #live: LiveWorld;
  readonly #hooks: TransactionHooks;

  /** At the instant `now`. `world`: what it sees, if that is not the current state. */
  constructor(live: LiveWorld, now: SimTime, hooks: TransactionHooks, world = live.simulation.world) {
    this.#live = live;
    this.now = now;
    this.#hooks = hooks;
    this.world = world;
  }

  /** Can be used without the transaction. */
  get execute(): Transaction["execute"] {
    return (command) => this.#execute(command);
  }

  #execute(command: Command): Result<readonly RecordedEvent[]> {
    const hooks = this.#hooks;
    const { simulation } = this.#live;
    const onChange = () => hooks.onChange();
    hooks.onCommand();
    enableNewRules(simulation, this.now, onChange);
    const result = simulation.execute(command, this.now, onChange);
    if (result.ok) hooks.onEvents?.(result.value);
    return result;
  }

  readInSteps<T>(stepsIn: (world: World) => Generator<undefined, T>): Promise<T> {
    return this.#hooks.readInSteps(stepsIn);
  }

  storeSecret(id: string, value: string): void {
    const { world } = this;
    const { secretBox } = this.#live.history;
    this.#hooks.onChange();
    world.secrets.set({ id, value: secretBox.seal(id, value) });
  }

  readSecret(id: string): string | undefined {
    const stored = this.world.secrets.get(id);
    return stored === undefined ? undefined : this.#live.history.secretBox.open(id, stored.value);
  }

  deleteSecret(id: string): void {
    this.#hooks.onChange();
    this.world.secrets.delete(id);
  }

  storeBranchData(row: BranchData): void {
    this.#hooks.onChange();
    this.world.branchData.set(row);
    this.#hooks.onDurableRow();
  }

  recordKeyUse(keyId: number, address: string): void {
    const { now } = this;
    const { apiKeyUses } = this.world;
    const use = apiKeyUses.get(String(keyId));
    if (use !== undefined && now - use.lastUsedAt < SECOND && use.lastUsedFromAddr === address) return;
    apiKeyUses.set({ keyId, lastUsedAt: now, lastUsedFromAddr: address });
  }

  logRequest(describe: () => DescribedRequest): void {
    try {
      this.#live.requests?.append(this.now, this.world.seq, describe());
    } catch (error) {
      this.#hooks.onLost(error);
    }
  }

  operations(projectId: string, limit: number, beforeNumber?: number): readonly Operation[] {
    const { world } = this;
    const changed = changedOperations(world, projectId, beforeNumber);
    if (world.changes.isTruncated("operations")) return withChanged([], changed, limit);
    return withChanged(this.#storedOperations.operations(projectId, limit, beforeNumber), changed, limit);
  }

  eventsAbout(id: string, limit: number, filter?: EventFilter, after = 0): readonly RecordedEvent[] {
    const { simulation } = this.#live;
    const history = withUncommitted(simulation.journal, simulation.uncommittedSince(0));
    const part = { after, before: simulation.world.seq + 1 };
    return runToEnd(searchEvents(history, id, part, limit, filter));
  }

  events(since: number, limit: number): readonly RecordedEvent[] {
    const { simulation } = this.#live;
    const stored = simulation.journal.events(since, limit);
    return [...stored, ...simulation.uncommittedSince(since).slice(0, limit - stored.length)];
  }

  operation(id: string): Operation | undefined {
    const { world } = this;
    const recent = world.operations.get(id) ?? world.changes.latest("operations", id);
    if (recent !== undefined) return recent as Operation;
    return world.changes.isTruncated("operations") ? undefined : this.#storedOperations.operation(id);
  }

  /** A journal in memory derives the operations from its events, so changes of their rows are not collected. */
  get #storedOperations(): Pick<Journal, "operation" | "operations"> {
    const { simulation } = this.#live;
    if (!this.world.operations.isTracked && simulation.hasUncommittedEvents) this.#hooks.commit();
    return simulation.journal;
  }
}

/** The operations of a project that changed since the last commit, with a number below `before`. */
function changedOperations(
  { changes }: World,
  projectId: string,
  before = Number.POSITIVE_INFINITY,
): readonly Operation[] {
  const changed: Operation[] = [];
  for (const value of changes.latestOf("operations")) {
    const operation = value as Operation | undefined;
    if (operation?.projectId === projectId && operation.number < before) changed.push(operation);
  }
  return changed;
}

/** A page of stored operations as it will be after the next commit, newest first. No list waits for that commit. */
function withChanged(
  stored: readonly Operation[],
  changed: readonly Operation[],
  limit: number,
): readonly Operation[] {
  // The same page, so that what was rendered of it stays valid.
  if (changed.length === 0) return stored;
  const byNumber = new Map([...stored, ...changed].map((operation) => [operation.number, operation]));
  return Array.from(byNumber.values())
    .sort((one, other) => other.number - one.number)
    .slice(0, limit);
}

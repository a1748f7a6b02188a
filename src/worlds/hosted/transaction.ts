import { runToEnd } from "../../kernel/run-to-end.ts";
import { SECOND, type SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { Operation } from "../../platform/model/operation.ts";
import type { World } from "../../platform/world/world.ts";
import { searchEvents } from "../../simulation/search-events.ts";
import { enableNewRules } from "../enable-new-rules.ts";
import type { Transaction } from "../world-handle.ts";
import type { LiveWorld } from "./live-world.ts";

type TransactionHooks = {
  /** Called before reads of stored history, so that they see the events of the transaction. */
  readonly commit: () => void;
  /** Called before each command, also before one that is refused. */
  readonly onCommand: () => void;
  /** Called before the transaction changes anything in the world. */
  readonly onChange: () => void;
  /** Called with the events of each command. */
  readonly onEvents?: ((events: readonly RecordedEvent[]) => void) | undefined;
  /** Called after a change outside history that must be durable when the transaction resolves. */
  readonly onDurableRow: () => void;
  /** Called with the error of a request that could not be logged. */
  readonly onLost: (error: unknown) => void;
  readonly readInSteps: Transaction["readInSteps"];
};

/** The transaction at the instant `now`. `world`: what it sees, if that is not the current state. */
export function transactionAt(
  { simulation, requests, history: { secretBox } }: LiveWorld,
  now: SimTime,
  { commit, onCommand, onChange, onEvents, onDurableRow, onLost, readInSteps }: TransactionHooks,
  world: World = simulation.world,
): Transaction {
  const { journal } = simulation;
  const commitPending = () => {
    if (simulation.hasUncommittedEvents) commit();
  };
  return {
    world,
    now,
    readInSteps,
    execute(command) {
      onCommand();
      enableNewRules(simulation, now, onChange);
      const result = simulation.execute(command, now, onChange);
      if (result.ok) onEvents?.(result.value);
      return result;
    },
    storeSecret(id, value) {
      onChange();
      world.secrets.set({ id, value: secretBox.seal(id, value) });
    },
    readSecret(id) {
      const stored = world.secrets.get(id);
      return stored === undefined ? undefined : secretBox.open(id, stored.value);
    },
    deleteSecret(id) {
      onChange();
      world.secrets.delete(id);
    },
    storeBranchData(row) {
      onChange();
      world.branchData.set(row);
      onDurableRow();
    },
    recordKeyUse(keyId, address) {
      const use = world.apiKeyUses.get(String(keyId));
      if (use !== undefined && now - use.lastUsedAt < SECOND && use.lastUsedFromAddr === address) return;
      world.apiKeyUses.set({ keyId, lastUsedAt: now, lastUsedFromAddr: address });
    },
    logRequest(describe) {
      try {
        requests?.append(now, world.seq, describe());
      } catch (error) {
        onLost(error);
      }
    },
    operations(projectId, limit, beforeNumber) {
      if (!isOverlaid(world)) commitPending();
      const stored = journal.operations(projectId, limit, beforeNumber);
      return withChanged(stored, changedOperations(world, projectId, beforeNumber), limit);
    },
    eventsAbout(id, limit, filter, after = 0) {
      commitPending();
      const part = { after, before: simulation.world.seq + 1 };
      return runToEnd(searchEvents(journal, id, part, limit, filter));
    },
    events(since, limit) {
      commitPending();
      return journal.events(since, limit);
    },
    operation(id) {
      const recent = world.operations.get(id) ?? world.changes.latest("operations", id);
      if (recent !== undefined) return recent as Operation;
      if (!isOverlaid(world)) commitPending();
      return journal.operation(id);
    },
  };
}

/**
 * Whether the changes that are not committed can be laid over the stored operations. A journal in memory gets the
 * operations with the events, so changes of their rows are not collected.
 */
function isOverlaid({ operations, changes }: World): boolean {
  return operations.isTracked && !changes.isTruncated("operations");
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

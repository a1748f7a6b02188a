import { expect } from "vitest";
import { type DurationMs, SECOND, type SimTime } from "../../../src/kernel/time.ts";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import type { Refusal, RefusalCode } from "../../../src/platform/catalog/refusal-codes.ts";
import type { Event } from "../../../src/platform/model/events.ts";
import type { Command, DueWork } from "../../../src/platform/rules/commands.ts";
import { decide, decideDue } from "../../../src/platform/rules/decide.ts";
import { evolve } from "../../../src/platform/rules/evolve.ts";
import { emptyWorld, type World } from "../../../src/platform/world/world.ts";
import { checkInvariants } from "../../../src/simulation/invariants.ts";
import { randomFrom } from "../../../src/simulation/random.ts";

export { DAY, HOUR, MINUTE, SECOND } from "../../../src/kernel/time.ts";

/** A Thursday: the instant at which the starting worlds are ready. They begin ten seconds before. */
export const NOW = Date.UTC(2026, 0, 15, 12);
export const START = NOW - 10 * SECOND;
export const SEED = 1;

export type CommandOf<Type extends Command["type"]> = Extract<Command, { readonly type: Type }>;
type Wait = { readonly ms: DurationMs };
/** Steps before a command: accepted commands, due work that was done, and elapsed time. */
export type Step = Command | DueWork | Wait | readonly Step[];

/** A step in which time passes and operations finish when they are due. Nothing else happens by itself. */
export function after(ms: DurationMs): Wait {
  return { ms };
}

/** Sentences about loads name whole 5 s after the start, as computes of releases up to 0.4 are read. */
function withReadingsAtWholeSteps(event: Event): Event {
  if (event.type !== "ComputeActivated") return event;
  const { readingSeed: _, ...withoutSeed } = event;
  return withoutSeed;
}

/**
 * The rules as sentences: `given(past).when(command).then(events)`. Each world is new and has a fixed seed. The
 * invariants hold before and after.
 * Drawn ids have placeholders, in commands and in events: `operation-1` is the first operation of the world,
 * `record-2` its second settings record.
 */
export function given(...past: readonly Step[]) {
  const scene = new Scene();
  scene.run(past);
  scene.checkInvariants();
  return {
    /** Returns the current answer to a question about the world, with placeholders. */
    asking<T>(question: (world: World, now: SimTime) => T): T {
      return scene.withPlaceholders(question(scene.world, scene.now));
    },
    /**
     * With a wait, the clock moves first; unlike in `given`, no operation finishes meanwhile. A second `when`
     * continues after the events of the first.
     */
    when(what: Command | DueWork, { ms }: Wait = after(0)) {
      used.add(ruleName(what));
      scene.now += ms;
      const decided = scene.decide(what);
      return {
        /** All the events, in order. Of each, the fields that are named here; `undefined` means absent. */
        // biome-ignore lint/suspicious/noThenProperty: given, when, then. It is never awaited.
        then(expected: readonly ExpectedEvent[]): void {
          if (!decided.ok) throw new Error(`${decided.refusal.code}: ${decided.refusal.message}`);
          scene.record(decided.value);
          scene.checkInvariants();
          const events = scene.withPlaceholders(decided.value);
          expect(events.map(({ type }) => type)).toEqual(expected.map(({ type }) => type));
          expect(selectNamed(events, expected)).toEqual(expected);
        },
        thenAccepted(): void {
          if (!decided.ok) throw new Error(`${decided.refusal.code}: ${decided.refusal.message}`);
        },
        thenRefused(code: RefusalCode, message = /./, details: Partial<Refusal> = {}): void {
          if (decided.ok) throw new Error(`accepted: ${decided.value.map(({ type }) => type).join(", ")}`);
          expect(decided.refusal.code).toBe(code);
          const { hint } = decided.refusal;
          expect(`${decided.refusal.message}${hint === undefined ? "" : `: ${hint}`}`).toMatch(message);
          expect(decided.refusal).toMatchObject(details);
        },
      };
    },
  };
}

type Expected<T> = T extends readonly (infer Item)[]
  ? readonly Expected<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Expected<T[Key]> | undefined }
    : T;
type ExpectedEvent = {
  readonly [Type in Event["type"]]: { readonly type: Type } & Omit<
    Expected<Extract<Event, { readonly type: Type }>>,
    "type"
  >;
}[Event["type"]];
type Operation = Extract<Event, { readonly type: "OperationScheduled" }>["operation"];
type Action = Operation["action"];

/** An operation is scheduled and runs at once. */
export function running(action: Action, operation: Expected<Operation> = {}): ExpectedEvent {
  return scheduled(action, "running", operation);
}

/** An operation is scheduled and waits for an earlier one. */
export function queued(action: Action, operation: Expected<Operation> = {}): ExpectedEvent {
  return scheduled(action, "scheduling", operation);
}

/** An operation is recorded that the platform has already done. */
export function done(action: Action, operation: Expected<Operation> = {}): ExpectedEvent {
  return scheduled(action, "finished", operation);
}

function scheduled(
  action: Action,
  status: Operation["state"]["status"],
  operation: Expected<Operation>,
): ExpectedEvent {
  return { type: "OperationScheduled", operation: { ...operation, action, state: { status } } };
}

/** A world between two decisions. */
class Scene {
  readonly world: World = emptyWorld();
  now: SimTime = START;
  readonly #random = randomFrom(SEED);
  readonly #placeholders = new Map<string, string>();
  readonly #ids = new Map<string, string>();

  run(steps: readonly Step[]): void {
    for (const step of steps) {
      if (isSteps(step)) this.run(step);
      else if ("ms" in step) this.#wait(step.ms);
      else this.#execute(step);
    }
  }

  decide(what: Command | DueWork): ReturnType<typeof decide> {
    const context = { now: this.now, random: this.#random, profile: PROFILES[this.world.settings.profile] };
    const withIds = replaceStrings(what, this.#ids);
    return "type" in withIds
      ? decide(this.world, withIds, context)
      : { ok: true, value: decideDue(this.world, withIds, context) };
  }

  record(events: readonly Event[]): void {
    const decision = this.world.seq + 1;
    for (const decided of events) {
      const event = withReadingsAtWholeSteps(decided);
      // A replay reads the same event: no field is `undefined`.
      expect(JSON.parse(JSON.stringify(event))).toStrictEqual(event);
      this.#learnId(event);
      evolve(this.world, { ...event, seq: this.world.seq + 1, decision });
    }
  }

  checkInvariants(): void {
    const { violations } = checkInvariants(this.world, this.now);
    // Steps run no due work by themselves, apart from operations.
    expect(violations.filter(({ invariant }) => invariant !== "all due work has run")).toEqual([]);
  }

  withPlaceholders<T>(value: T): T {
    return replaceStrings(value, this.#placeholders);
  }

  #execute(what: Command | DueWork): void {
    const decided = this.decide(what);
    if (!decided.ok) throw new Error(`given ${ruleName(what)}: ${decided.refusal.message}`);
    this.record(decided.value);
  }

  #wait(ms: DurationMs): void {
    const until = this.now + ms;
    for (;;) {
      const next = this.#nextOperation();
      if (next === undefined || next.dueAt > until) break;
      this.now = next.dueAt;
      this.record(this.#due(next.id));
    }
    this.now = until;
  }

  #due(id: string): readonly Event[] {
    const decided = this.decide({ kind: "operation", id });
    return decided.ok ? decided.value : [];
  }

  #nextOperation(): { readonly id: string; readonly dueAt: SimTime } | undefined {
    return [...this.world.operations.values()]
      .flatMap(({ id, state }) => (state.status === "running" ? [{ id, dueAt: state.dueAt }] : []))
      .sort((a, b) => a.dueAt - b.dueAt)[0];
  }

  #learnId(event: Event): void {
    for (const kind of ["account", "project", "branch", "compute", "operation", "record", "snapshot"]) {
      const row = (
        event as unknown as Partial<Record<string, { readonly id: string; readonly number: number }>>
      )[kind];
      if (row === undefined || !DRAWN_ID.test(row.id)) continue;
      this.#placeholders.set(row.id, `${kind}-${row.number}`);
      this.#ids.set(`${kind}-${row.number}`, row.id);
    }
  }
}

const DRAWN_ID =
  /^((br-|ep-)[a-z]+-[a-z]+-[a-z0-9]{8}|(snap-)?[a-z]+-[a-z]+-\d{8}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

function isSteps(step: Step): step is readonly Step[] {
  return Array.isArray(step);
}

function replaceStrings<T>(value: T, replacements: ReadonlyMap<string, string>): T {
  if (typeof value === "string") return (replacements.get(value) ?? value) as T;
  if (Array.isArray(value)) return value.map((item) => replaceStrings(item, replacements)) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, replaceStrings(item, replacements)]);
  return Object.fromEntries(entries) as T;
}

/** The parts of a value that the expected value names. An empty object stands for itself. */
function selectNamed(value: unknown, expected: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(expected))
    return value.map((item, index) => selectNamed(item, expected[index]));
  const isNamed = typeof expected === "object" && expected !== null && !("asymmetricMatch" in expected);
  if (!isNamed || typeof value !== "object" || value === null || Object.keys(expected).length === 0)
    return value;
  return Object.fromEntries(
    Object.keys(expected).map((key) => [
      key,
      selectNamed((value as Record<string, unknown>)[key], (expected as Record<string, unknown>)[key]),
    ]),
  );
}

type RuleName = Command["type"] | DueWork["kind"];

/** All commands and kinds of due work. A new one needs a line here to compile, and a rule to pass. */
const RULES: Readonly<Record<RuleName, true>> = {
  CreateWorld: true,
  ConfigureWorld: true,
  ResetWorld: true,
  CreateAccount: true,
  ChangePlan: true,
  CreateApiKey: true,
  RevokeApiKey: true,
  InviteMembers: true,
  AcceptInvitation: true,
  ChangeMemberRole: true,
  RemoveMember: true,
  SetSpendingLimit: true,
  ClearSpendingLimit: true,
  GrantPermission: true,
  RevokePermission: true,
  RequestTransfer: true,
  AcceptTransfer: true,
  TransferProjects: true,
  CreateProject: true,
  UpdateProject: true,
  DeleteProject: true,
  RecoverBranch: true,
  RecoverProject: true,
  branchRemoval: true,
  projectRemoval: true,
  apiKeyRemoval: true,
  quota: true,
  AddJwks: true,
  DeleteJwks: true,
  RestrictProject: true,
  UnrestrictProject: true,
  AssignVpcEndpoint: true,
  DeleteVpcEndpoint: true,
  CreateBranch: true,
  UpdateBranch: true,
  SetDefaultBranch: true,
  DeleteBranch: true,
  expiration: true,
  RestoreBranch: true,
  ResetBranchToParent: true,
  CreateRole: true,
  DeleteRole: true,
  ResetRolePassword: true,
  CreateDatabase: true,
  UpdateDatabase: true,
  DeleteDatabase: true,
  CreateSnapshot: true,
  UpdateSnapshot: true,
  DeleteSnapshot: true,
  SetBackupSchedule: true,
  backup: true,
  snapshotExpiration: true,
  RestoreSnapshot: true,
  FinalizeRestore: true,
  CreateServiceRecord: true,
  UpdateServiceRecord: true,
  DeleteServiceRecords: true,
  CreateCompute: true,
  UpdateCompute: true,
  DeleteCompute: true,
  StartCompute: true,
  SuspendCompute: true,
  RestartCompute: true,
  autosuspend: true,
  rescale: true,
  RecordActivity: true,
  ScheduleActivity: true,
  BeginSpan: true,
  EndSpan: true,
  LearnBranchContent: true,
  activity: true,
  operation: true,
  SetFaults: true,
  RemoveFault: true,
  MatchFaults: true,
};

const used = new Set<RuleName>();

function ruleName(what: Command | DueWork): RuleName {
  return "type" in what ? what.type : what.kind;
}

/** The commands and kinds of due work that no `when` has named in this test file so far. */
export function unusedRules(): string[] {
  return Object.keys(RULES).filter((name) => !used.has(name as RuleName));
}

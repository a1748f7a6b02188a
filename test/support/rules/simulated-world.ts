import type { DurationMs, SimTime } from "../../../src/kernel/time.ts";
import type { Event, RecordedEvent } from "../../../src/platform/model/events.ts";
import type { Command } from "../../../src/platform/rules/commands.ts";
import { emptyWorld, type World } from "../../../src/platform/world/world.ts";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import { Simulation } from "../../../src/simulation/simulation.ts";
import { START, type Step } from "./rules.ts";

type OfType<Type extends Event["type"]> = Extract<RecordedEvent, { readonly type: Type }>;

/**
 * A world in which due work runs by itself at its instant, unlike in the rules. Steps are executed in order;
 * a wait runs what is due until its end (inclusive).
 */
export class SimulatedWorld {
  journal = new MemoryJournal();
  #simulation = new Simulation(emptyWorld(), this.journal);
  readonly events: RecordedEvent[] = [];
  now: SimTime = START;

  constructor(...steps: readonly Step[]) {
    this.run(...steps);
  }

  get world(): World {
    return this.#simulation.world;
  }

  /** When the next work is due. */
  get nextDue(): SimTime | undefined {
    return this.#simulation.nextDue();
  }

  run(...steps: readonly Step[]): this {
    for (const step of steps) {
      if (Array.isArray(step)) this.run(...step);
      else if ("ms" in step) this.wait(step.ms);
      else this.execute(step as Command);
    }
    return this;
  }

  /** The process ends and another one opens the world: what is due is found in the rows alone. */
  reopen(): this {
    this.journal = new MemoryJournal();
    this.#simulation = new Simulation(this.world, this.journal);
    return this;
  }

  /** Goes on in another simulation, such as one of a world in a file. */
  use(simulation: Simulation): this {
    this.#simulation = simulation;
    return this;
  }

  execute(command: Command): readonly RecordedEvent[] {
    const executed = this.#simulation.execute(command, this.now);
    if (!executed.ok) throw new Error(`${command.type}: ${executed.refusal.message}`);
    this.#commit();
    return executed.value;
  }

  wait(ms: DurationMs): this {
    this.now += ms;
    this.#simulation.runDueUntil(this.now);
    this.#commit();
    return this;
  }

  /** Each event of these types, with its instant. */
  instants(...types: readonly Event["type"][]): [type: string, at: SimTime][] {
    return this.events.filter(({ type }) => types.includes(type)).map(({ type, at }) => [type, at]);
  }

  /** The newest event of this type. */
  last<Type extends Event["type"]>(type: Type): OfType<Type> | undefined {
    return this.events.findLast((event): event is OfType<Type> => event.type === type);
  }

  #commit(): void {
    const clock = { mode: "manual", factor: 0, simAnchor: this.now, wallAnchor: 0 } as const;
    this.events.push(...this.#simulation.commit(clock, this.now));
  }
}

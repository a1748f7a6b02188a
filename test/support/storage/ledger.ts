import type { RecordedEvent } from "../../../src/platform/model/events.ts";
import { OutcomeUnknown } from "../../../src/simulation/journal.ts";
import { control } from "./shim-control.ts";

/** The events of a world's file or of a snapshot; `undefined` if there is no file. */
export type Content = readonly RecordedEvent[] | undefined;

/** Contents that a file may have: the acknowledged one, then those of changes with unknown result. */
export type Contents = readonly [Content, ...Content[]];

/** Contents by path in the data directory. */
export type LedgerState = ReadonlyMap<string, Contents>;
export type LedgerChange = readonly [file: string, ...contents: Contents];

const ABSENT: Contents = [undefined];

export function worldFile(world: string): string {
  return `worlds/${world}.sqlite`;
}

export function snapshotFile(world: string, snapshot: string): string {
  return `snapshots/${world}/${snapshot}.sqlite`;
}

/** The acknowledged content of each file, and what is open, at each marker of a recording. */
export class Ledger {
  readonly #states: LedgerState[];
  /** Files of worlds that have been opened. */
  readonly #followed = new Set<string>();

  constructor(initial: LedgerState = new Map()) {
    this.#states = [initial];
  }

  get state(): LedgerState {
    return this.#states.at(-1) as LedgerState;
  }

  at(marker: number): LedgerState {
    return this.#states[marker] as LedgerState;
  }

  contents(file: string): Contents {
    return this.state.get(file) ?? ABSENT;
  }

  isFollowed(file: string): boolean {
    return this.#followed.has(file);
  }

  follow(file: string): void {
    this.#followed.add(file);
  }

  /** The contents that the file may have, if it exists. */
  existing(file: string): [Content, ...Content[]] {
    return this.contents(file).filter((content) => content !== undefined) as [Content, ...Content[]];
  }

  /** The state after this marker of the recording. */
  set(...changes: readonly LedgerChange[]): void {
    control(`mark/${this.#states.length}`);
    const state = new Map(this.state);
    for (const [file, ...contents] of changes) state.set(file, contents);
    this.#states.push(state);
  }

  /**
   * Begins work that makes these changes. If it fails, the files are as before, unless its outcome is unknown.
   */
  begin(changes: readonly LedgerChange[]): { done(): void; failed(error: unknown): void } {
    const before = changes.map(([file]): LedgerChange => [file, ...this.contents(file)]);
    this.set(...changes.map(([file, ...after]): LedgerChange => [file, ...this.contents(file), ...after]));
    return {
      done: () => this.set(...changes),
      failed: (error) => {
        if (!(error instanceof OutcomeUnknown)) this.set(...before);
      },
    };
  }
}

export function lastOf(content: Content): RecordedEvent | undefined {
  return content?.at(-1);
}

/** Text of events that is equal for events in memory and stored events. */
function textOf(events: readonly RecordedEvent[]): string {
  return JSON.stringify(
    events.map(({ seq, at, type, decision, ...rest }) => ({ seq, at, type, decision, ...rest })),
  );
}

/** The content that these events are. Truncated histories are compared from their first event on. */
export function contentOf(
  what: string,
  events: readonly RecordedEvent[],
  allowed: readonly Content[],
): Content {
  const first = events[0]?.seq ?? Number.POSITIVE_INFINITY;
  const text = textOf(events);
  const found = allowed.find(
    (content) => content !== undefined && textOf(content.filter(({ seq }) => seq >= first)) === text,
  );
  if (found !== undefined) return found;
  const heads = allowed.map((content) => lastOf(content)?.seq ?? 0).join(" or ");
  throw new Error(
    `${what} ends at event ${lastOf(events)?.seq ?? 0}; acknowledged or requested were ${heads}`,
  );
}

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncEntry, writeAtomically } from "../../store/file/atomic-file.ts";
import { movedWorldsIn, moveMarkPath } from "../directory-layout.ts";

/** Destination of a moved world. If not `done`, only the destination knows whether it has the world. */
export type MoveMark = {
  readonly to: string;
  readonly historyId: string;
  readonly seq: number;
  readonly isDone: boolean;
};

/** The marks of the worlds of a data directory that move, or have moved, to other servers. */
export class MoveMarks {
  readonly #directory: string;
  readonly #marks = new Map<string, MoveMark>();

  constructor(directory: string) {
    this.#directory = directory;
    for (const world of movedWorldsIn(directory))
      this.#marks.set(world, JSON.parse(readFileSync(moveMarkPath(directory, world), "utf8")) as MoveMark);
  }

  get(world: string): MoveMark | undefined {
    return this.#marks.get(world);
  }

  all(): readonly (readonly [world: string, mark: MoveMark])[] {
    return [...this.#marks];
  }

  /** Durable when this resolves. */
  async set(world: string, mark: MoveMark): Promise<void> {
    await writeAtomically(moveMarkPath(this.#directory, world), async (file) =>
      writeFileSync(file, `${JSON.stringify(mark)}\n`, { mode: 0o600 }),
    );
    this.#marks.set(world, mark);
  }

  delete(world: string): void {
    if (!this.#marks.has(world)) return;
    const path = moveMarkPath(this.#directory, world);
    rmSync(path, { force: true });
    syncEntry(path);
    this.#marks.delete(world);
  }
}

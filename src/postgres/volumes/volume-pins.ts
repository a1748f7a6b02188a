/** How many need each volume at the moment, by its id. A volume that somebody needs is not removed. */
export class VolumePins {
  readonly #pins = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Pins the volume until the returned function is called. */
  pin(id: string): () => void {
    this.#pins.set(id, (this.#pins.get(id) ?? 0) + 1);
    let isPinned = true;
    return () => {
      if (!isPinned) return;
      isPinned = false;
      const others = (this.#pins.get(id) ?? 1) - 1;
      if (others > 0) {
        this.#pins.set(id, others);
        return;
      }
      this.#pins.delete(id);
      for (const resolve of this.#waiting.get(id) ?? []) resolve();
      this.#waiting.delete(id);
    };
  }

  isPinned(id: string): boolean {
    return this.#pins.has(id);
  }

  /** Resolves when the volume is not pinned. */
  async whenReleased(id: string): Promise<void> {
    if (!this.isPinned(id)) return;
    await new Promise<void>((resolve) => this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), resolve]));
  }
}

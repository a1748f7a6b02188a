/** Whether statements have created, changed or dropped a role or a database; "perhaps": a block was executed, which may have. */
export type CatalogChange = "none" | "perhaps" | "certain";

const CHANGE = /^(?:(?:CREATE|ALTER|DROP) (?:ROLE|DATABASE)|REASSIGN OWNED)\b/;
const BLOCK = /^(?:DO|CALL)\b/;
const FIRST_BYTES: readonly number[] = [0x41, 0x43, 0x44, 0x52]; // "A", "C", "D", "R"

/** Most command tags, such as `SELECT 1`, differ in the first byte. */
export function mayBeCatalogTag(firstByte: number): boolean {
  return FIRST_BYTES.includes(firstByte);
}

/** What statements have changed, by their command tags. */
export class CatalogChanges {
  #change: CatalogChange = "none";

  add(tag: string): void {
    if (CHANGE.test(tag)) this.#change = "certain";
    else if (this.#change === "none" && BLOCK.test(tag)) this.#change = "perhaps";
  }

  /** What was added since the last call. */
  take(): CatalogChange {
    const change = this.#change;
    this.#change = "none";
    return change;
  }
}

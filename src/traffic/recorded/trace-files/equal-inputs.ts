import { GOLDEN_STEP, MIX_FACTOR, mix } from "../../../kernel/mixed-word.ts";
import type { Intake } from "../rows/intake.ts";
import { MIN_REPEATED_ROWS } from "./repeated-requests.ts";

/** Odd, like `MIX_FACTOR`: the second half of a digest. */
const OTHER_FACTOR = 0x2c1b3c6d;
const WORD = 2 ** 32;

/**
 * Recognizes inputs with the same requests, in whichever order, by a digest of each: the number of its requests and the sums
 * of two hashes of them. Beside a larger input, they are not half of all requests, which `RepeatedRequests` notes.
 */
export class EqualInputs {
  readonly #firstWith = new Map<string, string>();
  readonly #notes: string[] = [];
  #rows = 0;
  #sum = 0;
  #otherSum = 0;

  add(compute: number, at: number, durationMs: number, source: number): void {
    let word = mix(compute, MIX_FACTOR) ^ mix(source, GOLDEN_STEP);
    word = mix(word ^ (at >>> 0), MIX_FACTOR) ^ Math.floor(at / WORD);
    word = mix(word ^ (durationMs >>> 0), GOLDEN_STEP) ^ Math.floor(durationMs / WORD);
    this.#rows += 1;
    this.#sum = (this.#sum + mix(word, MIX_FACTOR)) >>> 0;
    this.#otherSum = (this.#otherSum + mix(word, OTHER_FACTOR)) >>> 0;
  }

  endInput(name: string): void {
    const rows = this.#rows;
    const digest = `${rows} ${this.#sum} ${this.#otherSum}`;
    [this.#rows, this.#sum, this.#otherSum] = [0, 0, 0];
    if (rows < MIN_REPEATED_ROWS) return;
    const first = this.#firstWith.get(digest);
    if (first === undefined) this.#firstWith.set(digest, name);
    else this.#notes.push(`${name} has the same ${rows} requests as ${first}: is a file given twice?`);
  }

  noteIn(intake: Intake): void {
    for (const note of this.#notes) intake.note(note);
  }
}

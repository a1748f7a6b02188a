import { existsSync, readFileSync } from "node:fs";
import { appendDurably, replaceDurably } from "./durable-files.ts";

/** The position that the log of a volume had at an instant of the world's clock. */
export type Mark = { readonly at: number; readonly lsn: string };

const LINE = /^(\d+) ([0-9A-F]+\/[0-9A-F]+)$/;

/**
 * The marks of a volume, in the order of time. Lines of a file. Each is synced: after a power failure, an earlier
 * instant would otherwise be answered with the data of a mark before it.
 */
export class Marks {
  readonly #path: string;
  #last: Mark | undefined;
  /**
   * Whether everything in the file is on disk, and its last line is complete. After a failed write or sync, also of an
   * earlier process, neither is certain, and no later sync of the same file would change that.
   */
  #isDurable = false;

  constructor(path: string) {
    this.#path = path;
    this.#last = this.all().at(-1);
  }

  get last(): Mark | undefined {
    return this.#last;
  }

  /** Appends a mark, unless the log has not grown since the last one. */
  append(mark: Mark): void {
    if (mark.lsn === this.#last?.lsn) return;
    if (this.#isDurable) {
      this.#isDurable = false;
      appendDurably(this.#path, lineOf(mark));
      this.#isDurable = true;
    } else this.#replace([...this.all(), mark]);
    this.#last = mark;
  }

  /** The newest mark at or before an instant; `undefined` if all are later. */
  find(at: number): Mark | undefined {
    return this.all().findLast((mark) => mark.at <= at);
  }

  /** Deletes the marks that are not needed for this instant and later ones. */
  deleteBefore(at: number): void {
    const marks = this.all();
    const first = marks.findLastIndex((mark) => mark.at <= at);
    if (first <= 0) return;
    this.#replace(marks.slice(first));
  }

  #replace(marks: readonly Mark[]): void {
    this.#isDurable = false;
    replaceDurably(this.#path, marks.map(lineOf).join(""));
    this.#isDurable = true;
  }

  /** Omits a last line that a kill has cut: it has no line break, and its position may be incomplete. */
  all(): Mark[] {
    const marks: Mark[] = [];
    for (const line of (this.#text() ?? "").split("\n").slice(0, -1)) {
      const match = LINE.exec(line);
      if (match !== null) marks.push({ at: Number(match[1]), lsn: match[2] as string });
    }
    return marks;
  }

  #text(): string | undefined {
    return existsSync(this.#path) ? readFileSync(this.#path, "utf8") : undefined;
  }
}

function lineOf({ at, lsn }: Mark): string {
  return `${at} ${lsn}\n`;
}

// @ts-nocheck
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

/** The position that the log of a volume had at an instant of the world's clock. */
export type Mark = { readonly at: number; readonly lsn: string };

const UNFINISHED = ".unfinished";
const LINE = /^(\d+) ([0-9A-F]+\/[0-9A-F]+)$/;

/** The marks of a volume, in the order of time. Lines of a file, which is only appended to. */
export class Marks {
  readonly #path: string;
  #last: Mark | undefined;

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
    appendFileSync(this.#path, `${mark.at} ${mark.lsn}\n`);
    this.#last = mark;
  }

  /** The newest mark at or before an instant; `undefined` if all are later. */
  find(at: number): Mark | undefined {
    return this.all().findLast((mark) => mark.at <= at);
  }

  /** Deletes the marks that tell nothing about this instant and later ones. */
  deleteBefore(at: number): void {
    const marks = this.all();
    const first = marks.findLastIndex((mark) => mark.at <= at);
    if (first <= 0) return;
    const lines = marks.slice(first).map((mark) => `${mark.at} ${mark.lsn}\n`);
    writeFileSync(`${this.#path}${UNFINISHED}`, lines.join(""));
    renameSync(`${this.#path}${UNFINISHED}`, this.#path);
  }

  /** Without a last line that a kill has cut. */
  all(): Mark[] {
    if (!existsSync(this.#path)) return [];
    const marks: Mark[] = [];
    for (const line of readFileSync(this.#path, "utf8").split("\n")) {
      const match = LINE.exec(line);
      if (match !== null) marks.push({ at: Number(match[1]), lsn: match[2] as string });
    }
    return marks;
  }
}

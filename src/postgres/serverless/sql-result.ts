import type { Json } from "./sql-values.ts";
import { jsonValue } from "./sql-values.ts";

type Column = { readonly name: string; readonly type: number; readonly field: Json };

const FIXED_COLUMN_BYTES = 18;
const NULL_LENGTH = -1;

export type SqlResultJson = {
  readonly rowAsArray: boolean;
  readonly fields: readonly Json[];
  readonly rows: readonly Json[];
  readonly command: string;
  readonly rowCount: number | null;
};

/** The result of one statement, from the messages of Postgres to the JSON of the response. */
export class SqlResult {
  readonly #rawText: boolean;
  readonly #arrayMode: boolean;
  #columns: readonly Column[] = [];
  readonly #rows: Json[] = [];
  #tag = "";

  constructor(rawText: boolean, arrayMode: boolean) {
    this.#rawText = rawText;
    this.#arrayMode = arrayMode;
  }

  /** Takes one message, `body` without type and length. */
  take(type: string, body: Buffer): void {
    if (type === "T") this.#columns = parseColumns(body);
    else if (type === "D") this.#rows.push(this.#row(body));
    else if (type === "C") this.#tag = body.toString("utf8", 0, body.length - 1);
  }

  toJson(): SqlResultJson {
    const [command = "", ...counts] = this.#tag.split(" ");
    // INSERT also names an object id, which is 0.
    const count = counts.at(-1);
    return {
      rowAsArray: this.#arrayMode,
      fields: this.#columns.map(({ field }) => field),
      rows: this.#rows,
      command,
      rowCount: count !== undefined && /^\d+$/.test(count) ? Number(count) : null,
    };
  }

  #row(body: Buffer): Json {
    let offset = 2;
    const values = this.#columns.map(({ type }) => {
      const length = body.readInt32BE(offset);
      offset += 4;
      if (length === NULL_LENGTH) return null;
      const text = body.toString("utf8", offset, offset + length);
      offset += length;
      return this.#rawText ? text : jsonValue(text, type);
    });
    if (this.#arrayMode) return values;
    return Object.fromEntries(this.#columns.map(({ name }, index) => [name, values[index] ?? null]));
  }
}

function parseColumns(body: Buffer): Column[] {
  const columns: Column[] = [];
  let offset = 2;
  for (let count = body.readInt16BE(0); count > 0; count -= 1) {
    const end = body.indexOf(0, offset);
    const name = body.toString("utf8", offset, end);
    const type = body.readUInt32BE(end + 7);
    const field = {
      name,
      dataTypeID: type,
      tableID: body.readUInt32BE(end + 1),
      columnID: body.readInt16BE(end + 5),
      dataTypeSize: body.readInt16BE(end + 11),
      dataTypeModifier: body.readInt32BE(end + 13),
      format: "text",
    };
    columns.push({ name, type, field });
    offset = end + 1 + FIXED_COLUMN_BYTES;
  }
  return columns;
}

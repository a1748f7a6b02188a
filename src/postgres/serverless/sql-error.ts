/** The fields of an error that the serverless driver reads, by the letters of the Postgres protocol. */
const FIELDS = {
  C: "code",
  D: "detail",
  H: "hint",
  P: "position",
  p: "internalPosition",
  q: "internalQuery",
  S: "severity",
  W: "where",
  t: "table",
  c: "column",
  s: "schema",
  d: "dataType",
  n: "constraint",
  F: "file",
  L: "line",
  R: "routine",
} as const;

type Field = (typeof FIELDS)[keyof typeof FIELDS];

const BAD_REQUEST = 400;

/** A request for SQL over HTTP fails. Without a SQLSTATE it did not reach Postgres. */
export class SqlError extends Error {
  override readonly name = "SqlError";
  readonly status: number;
  readonly #fields: Partial<Record<Field, string>>;

  constructor(message: string, status = BAD_REQUEST, fields: Partial<Record<Field, string>> = {}) {
    super(message);
    this.status = status;
    this.#fields = fields;
  }

  get code(): string | undefined {
    return this.#fields.code;
  }

  /** The body of the response: all fields, `null` if there is no value. */
  get body(): string {
    const fields = Object.values(FIELDS).map((name) => [name, this.#fields[name] ?? null]);
    return JSON.stringify({ message: this.message, ...Object.fromEntries(fields) });
  }
}

/** The error of an ErrorResponse message, `body` without type and length. */
export function errorOfMessage(body: Buffer, status = BAD_REQUEST): SqlError {
  const values = new Map(
    body
      .toString("utf8")
      .split("\0")
      .filter((field) => field !== "")
      .map((field) => [field[0] ?? "", field.slice(1)]),
  );
  const fields = Object.entries(FIELDS).flatMap(([letter, name]) => {
    const value = values.get(letter);
    return value === undefined ? [] : [[name, value]];
  });
  return new SqlError(values.get("M") ?? "", status, Object.fromEntries(fields));
}

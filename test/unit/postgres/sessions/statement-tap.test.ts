import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { StatementTap, tapStatements } from "../../../../src/postgres/sessions/statement-tap.ts";
import { MAX_STATEMENT_BYTES, StatementLog } from "../../../../src/postgres/statements/statement-log.ts";

import type { WorldHandle } from "../../../../src/worlds/world-handle.ts";

const message = (type: string, ...parts: readonly (string | Buffer)[]) => {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(`${part}\0`) : part)),
  );
  const head = Buffer.alloc(5);
  head.write(type, "latin1");
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
};
const int16 = (...values: readonly number[]) =>
  Buffer.from(values.flatMap((value) => [value >> 8, value & 255]));
const query = (text: string) => message("Q", text);
const parse = (name: string, text: string) => message("P", name, text, int16(0));
const bind = (name: string, parameters: number) => message("B", "", name, int16(1, 1, parameters));
const execute = message("E", "", Buffer.alloc(4));
const sync = message("S");
const done = (tag: string) => message("C", tag);
const failed = (code: string, text: string) => message("E", `C${code}`, `M${text}`, Buffer.alloc(1));
const ready = message("Z", Buffer.from("I"));

/** What is logged for messages of a client (`>`) and of the engine (`<`), each chunk divided at every byte, too. */
function logged(...exchange: readonly (readonly [">" | "<", ...Buffer[]])[]) {
  const run = (pieces: (chunk: Buffer) => readonly Buffer[]) => {
    const found: unknown[] = [];
    const tap = new StatementTap(({ text, parameters }, outcome) => found.push([text, parameters, outcome]));
    for (const [from, ...messages] of exchange)
      for (const piece of pieces(Buffer.concat(messages)))
        if (from === ">") tap.fromClient(piece);
        else tap.fromEngine(piece);
    tap.close();
    return found;
  };
  const whole = run((chunk) => [chunk]);
  expect(run((chunk) => [...chunk].map((byte) => Buffer.from([byte])))).toEqual(whole);
  return whole;
}

test("a simple query is logged once, with its last tag or its error", () => {
  expect(
    logged(
      [">", query("create table t (); insert into t default values")],
      ["<", done("CREATE TABLE"), done("INSERT 0 1"), ready],
      [">", query("select 1/0")],
      ["<", failed("22012", "division by zero"), ready],
      [">", query("")],
      ["<", message("I"), ready],
    ),
  ).toEqual([
    ["create table t (); insert into t default values", 0, { done: "INSERT 0 1" }],
    ["select 1/0", 0, { failed: { code: "22012", message: "division by zero" } }],
    ["", 0, { done: "" }],
  ]);
});

test("of a pipeline, the statements after a failed one are not executed, and the next pipeline is", () => {
  expect(
    logged(
      [">", parse("one", "insert into t values ($1)"), bind("one", 1), execute, bind("one", 1), execute],
      [">", bind("one", 1), execute, sync, parse("", "select 1"), bind("", 0), execute, sync],
      ["<", message("1"), message("2"), done("INSERT 0 1"), message("2")],
      ["<", failed("23505", "duplicate key"), ready, message("1"), message("2"), done("SELECT 1"), ready],
    ),
  ).toEqual([
    ["insert into t values ($1)", 1, { done: "INSERT 0 1" }],
    ["insert into t values ($1)", 1, { failed: { code: "23505", message: "duplicate key" } }],
    ["insert into t values ($1)", 1, { lost: "not executed, because an earlier statement failed" }],
    ["select 1", 0, { done: "SELECT 1" }],
  ]);
});

test("a statement that cannot even be prepared is logged", () => {
  const wrong = failed("42P01", 'relation "t" does not exist');
  expect(logged([">", parse("a", "select * from t"), message("D", "Sa"), sync], ["<", wrong, ready])).toEqual(
    [["select * from t", 0, { failed: { code: "42P01", message: 'relation "t" does not exist' } }]],
  );
});

test("a Sync during COPY is not answered, and what a lost connection left is logged", () => {
  expect(
    logged(
      [">", parse("", "copy t from stdin"), bind("", 0), execute, sync],
      ["<", message("1"), message("2"), message("G", int16(0))],
      [">", message("d", "1\n"), message("c"), sync],
      ["<", done("COPY 1"), ready],
      [">", query("select pg_sleep(600)")],
    ),
  ).toEqual([
    ["copy t from stdin", 0, { done: "COPY 1" }],
    ["select pg_sleep(600)", 0, { lost: "the connection ended before the answer" }],
  ]);
});

test("a text of the longest length is whole, and a longer one is cut", () => {
  const text = "x".repeat(MAX_STATEMENT_BYTES - 1);
  const answer = [done("SELECT 1"), ready] as const;
  expect(logged([">", query(text)], ["<", ...answer], [">", query(`${text}yz`)], ["<", ...answer])).toEqual([
    [text, 0, { done: "SELECT 1" }],
    [`${text}y…`, 0, { done: "SELECT 1" }],
  ]);
});

test("a statement and a portal that the client closes are not stored any more", () => {
  const close = (kind: "S" | "P", name: string) => message("C", Buffer.from(`${kind}${name}\0`));
  expect(
    logged(
      [">", parse("one", "select 1"), close("S", "one"), bind("one", 0), execute, sync],
      ["<", failed("26000", "no such statement"), ready],
      [">", parse("two", "select 2"), bind("two", 0), close("P", ""), execute, sync],
      ["<", failed("34000", "no such portal"), ready],
    ),
  ).toEqual([
    ["", 0, { failed: { code: "26000", message: "no such statement" } }],
    ["", 0, { failed: { code: "34000", message: "no such portal" } }],
  ]);
});

test("a statement that ends while the world is replaced has the last known instant", () => {
  const log = new StatementLog();
  let isReplaced = false;
  const world = {
    name: "default",
    now: () => {
      if (isReplaced) throw new Error("the world is being restored");
      return 5_000;
    },
  } as WorldHandle;
  const client = new PassThrough();
  const tap = tapStatements(client, log, world, { endpointId: "ep-a", role: "owner", database: "neondb" });
  isReplaced = true;
  client.emit("data", query("select 2"));
  tap?.fromEngine(Buffer.concat([done("SELECT 1"), ready]));
  expect(log.of("default")).toMatchObject([{ at: 5_000, text: "select 2" }]);
});

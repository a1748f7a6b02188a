import { expect, test } from "vitest";
import { mayDropDatabase } from "../../../../src/postgres/statements/drops-database.ts";

test.each([
  ["drop database shop", true],
  ['DROP  DATABASE IF EXISTS "a b" WITH (FORCE)', true],
  ["/* cleanup */ Drop\n\tDatabase shop", true],
  ["select 'drop database shop'", true],
  ["drop table database", false],
  ["create database shop", false],
  ["select * from backdrop database", false],
  ["", false],
])("of %j: %s", (text, expected) => {
  expect(mayDropDatabase(Buffer.from(`Q\0\0\0\0${text}\0`))).toBe(expected);
});

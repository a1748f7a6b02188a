import { expect, test } from "vitest";
import { mayExcludeSessions } from "../../../../src/postgres/statements/excludes-sessions.ts";

test.each([
  ["drop database shop", true],
  ['DROP  DATABASE IF EXISTS "a b" WITH (FORCE)', true],
  ["/* cleanup */ Drop\n\tDatabase shop", true],
  ["select 'drop database shop'", true],
  ["alter database shop rename to store", true],
  ["create database copy with template shop", true],
  ["CREATE DATABASE copy TEMPLATE = shop", true],
  ["drop table database", false],
  ["create database shop", false],
  ["create table template (id int)", false],
  ["select * from backdrop database", false],
  ["", false],
])("of %j: %s", (text, expected) => {
  expect(mayExcludeSessions(Buffer.from(`Q\0\0\0\0${text}\0`))).toBe(expected);
});

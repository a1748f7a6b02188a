import { expect, test } from "vitest";
import { cacheAdvice, hitRatio } from "../../../src/platform/model/cache.ts";
import {
  computeHost,
  HOST_DOMAIN_PATTERN,
  poolerHost,
  proxyHost,
} from "../../../src/platform/rules/compute/host-name.ts";
import { worldWithProject } from "../../support/rules/rule-worlds.ts";
import { given } from "../../support/rules/rules.ts";

test.each([
  "localhost",
  "db.test",
  "a",
  "0a",
  "a-b.c-d",
  "a--b.test",
  "1.2.a3",
  "7.test",
  "a.b.c.d.e",
  `${"a".repeat(63)}.test`,
  `test.${"a".repeat(63)}`,
  `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(32)}`,
])("%j may be the domain of host names", (domain) => {
  expect(domain).toMatch(HOST_DOMAIN_PATTERN);
});

test.each([
  "",
  ".",
  "a.",
  ".a",
  "a..b",
  "-a",
  "a-",
  "a.-b",
  "a.b-",
  "A",
  "a_b",
  "a b",
  "123",
  "127.0.0.1",
  "db.7",
  "db.123",
  `${"a".repeat(64)}.test`,
  `test.${"a".repeat(64)}`,
  `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(33)}`,
])("%j may not", (domain) => {
  expect(domain).not.toMatch(HOST_DOMAIN_PATTERN);
});

test("host names begin with the compute, its region and its cloud", () => {
  const hosts = (settings: Parameters<typeof worldWithProject>[1] = {}) =>
    given(worldWithProject({}, settings)).asking((world) => {
      const compute = world.computes.get("ep-main");
      if (compute === undefined) throw new Error("ep-main does not exist");
      return [computeHost(world, compute), poolerHost(world, compute), proxyHost(world, "azure-gwc")];
    });
  expect(hosts()).toEqual([
    "ep-main.us-east-2.aws.standin.localhost",
    "ep-main-pooler.us-east-2.aws.standin.localhost",
    "gwc.azure.standin.localhost",
  ]);
  expect(hosts({ hostDomain: "db.test" })[0]).toBe("ep-main.us-east-2.aws.db.test");
});

test.each([
  [0, 0, undefined, undefined],
  [1, 3, 25, /below 99 %.*larger compute/],
  [0, 1, 0, /below 99 %/],
  [99, 1, 99, undefined],
  [989, 11, 98.9, /below 99 %/],
  [5, 0, 100, undefined],
])("%i hits and %i misses are a hit ratio of %s", (hits, misses, ratio, advice) => {
  const cache = { hits, misses, writes: 0, used: 0 };
  expect(hitRatio(cache)).toBe(ratio);
  if (advice === undefined) expect(cacheAdvice(cache)).toBeUndefined();
  else expect(cacheAdvice(cache)).toMatch(advice);
});

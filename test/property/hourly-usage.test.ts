import fc from "fast-check";
import { expect, test } from "vitest";
import { ChangeSet } from "../../src/kernel/change-set.ts";
import type { Granularity, HourlyUsage } from "../../src/platform/model/usage-totals.ts";
import { HourlyUsageTable } from "../../src/platform/world/hourly-usage.ts";
import { expectHolds } from "../support/properties/properties.ts";

const SUFFIX = { hourly: "", daily: "#day", monthly: "#month" };

const steps = fc.array(
  fc.record({
    what: fc.constantFrom("add", "add", "add", "load", "forgetBefore", "forget", "copy"),
    id: fc.constantFrom("br-one", "proud-two"),
    granularity: fc.constantFrom<Granularity>("hourly", "daily", "monthly"),
    hour: fc.integer({ min: 0, max: 5 }),
    activeMs: fc.integer({ min: 0, max: 3 }),
  }),
  { maxLength: 60 },
);

test("the hourly usage table equals a plain map and reports its changes; copies do not change", async () => {
  await expectHolds(
    fc.asyncProperty(steps, async (steps) => {
      const changes = new ChangeSet();
      const table = new HourlyUsageTable(changes);
      const plain = new Map<string, HourlyUsage>();
      const recorded = new Map<string, unknown>();
      const copies: { readonly copy: Iterable<HourlyUsage>; readonly expected: readonly HourlyUsage[] }[] =
        [];
      for (const { what, id, granularity, hour, activeMs } of steps) {
        const of = id + SUFFIX[granularity];
        const key = `${of}/${hour}`;
        if (what === "add") {
          table.add(id, granularity, hour, { activeMs, cuMs: activeMs / 4 });
          const sum = (plain.get(key)?.activeMs ?? 0) + activeMs;
          if (activeMs > 0) plain.set(key, { of, hour, activeMs: sum, cuMs: sum / 4 });
        } else if (what === "load") {
          table.load({ of, hour, activeMs, cuMs: activeMs / 4 });
          plain.set(key, { of, hour, activeMs, cuMs: activeMs / 4 });
          recorded.set(key, plain.get(key));
        } else if (what === "copy") {
          copies.push({ copy: table.copy(), expected: table.toArray() });
        } else {
          const isGone = (row: HourlyUsage) =>
            what === "forget" ? row.of.split("#")[0] === id : row.of === of && row.hour < hour;
          for (const [key, row] of plain) if (isGone(row)) plain.delete(key);
          if (what === "forget") table.deleteFor(id);
          else table.deleteBefore(id, granularity, hour);
        }
        for (const { key, value } of changes.list)
          value === undefined ? recorded.delete(key) : recorded.set(key, value);
        changes.clear();
        expect(new Map(table.entries())).toEqual(plain);
        expect(recorded).toEqual(plain);
        expect(table.size).toBe(plain.size);
        expect(table.get(id, granularity, hour)).toEqual(plain.get(key));
        for (const { copy, expected } of copies) expect([...copy]).toEqual(expected);
        for (const { copy, expected } of copies) expect(JSON.stringify(copy)).toBe(JSON.stringify(expected));
      }
    }),
    60,
  );
});

import { expect, test } from "vitest";
import { deleteUsage, meter, usageAt } from "../../../../../src/platform/rules/usage/meter.ts";
import { active, at, idle, worldWith } from "./usage-scene.ts";

test("an active compute books its time, and its size times its time, to its branch and its project", () => {
  const world = worldWith([["05 10:00", "05 10:02", 0.25]], false);
  expect(world.usage.toArray()).toEqual([
    { id: "br-main", activeMs: 120_000, cuMs: 30_000 },
    { id: "shop", activeMs: 120_000, cuMs: 30_000 },
  ]);
});

test("a second booking adds to the first", () => {
  const world = worldWith([
    ["05 10:00", "05 10:02", 0.25],
    ["05 10:10", "05 10:11", 4],
  ]);
  expect(world.usage.get("br-main")).toMatchObject({ activeMs: 180_000, cuMs: 270_000 });
});

test("an idle compute books nothing", () => {
  const world = worldWith([]);
  meter(world, idle, at("05 10:00"));
  expect(world.usage.toArray()).toEqual([]);
});

test("a world without hourly usage records totals only", () => {
  const world = worldWith([["05 10:00", "05 13:00"]], false);
  expect(world.usage.get("br-main")).not.toHaveProperty("hour");
  expect(world.hourlyUsage.toArray()).toEqual([]);
});

test("usage at an instant is what is booked plus the time of active computes since then", () => {
  const world = worldWith([["05 10:00", "05 10:02", 0.5]]);
  const computes = [active("05 10:02", 2), idle, active("05 10:04", 1)];
  expect(usageAt(world, "br-main", computes, at("05 10:05"))).toEqual({
    id: "br-main",
    activeMs: (2 + 3 + 1) * 60_000,
    cuMs: (2 * 0.5 + 3 * 2 + 1) * 60_000,
  });
  expect(usageAt(world, "br-new", [], at("05 10:05"))).toEqual({ id: "br-new", activeMs: 0, cuMs: 0 });
});

test("deleting the usage of a branch deletes its hours and leaves the usage of its project", () => {
  const world = worldWith([["05 10:00", "05 12:30"]]);
  deleteUsage(world, "br-main");
  expect(world.usage.toArray().map(({ id }) => id)).toEqual(["shop"]);
  expect(world.hourlyUsage.toArray().map(({ of }) => of)).toEqual(["shop", "shop"]);
});

import { expect, test } from "vitest";
import {
  amount,
  amountWithMargin,
  currentDelayPhrase,
  delayPhrase,
  delayText,
  millisText,
  money,
  moneyWithMargin,
  percentOf,
  percentWithMargin,
  plural,
  signed,
  spanText,
  waitWithMargin,
} from "../../../src/whatif/units/number-format.ts";

test.each([
  ["never", "never"],
  [0, "0 s"],
  [60, "1 min"],
  [61, "61 s"],
  [300, "5 min"],
  [599, "599 s"],
  [601, "10 min 1 s"],
  [3_600, "1 h"],
  [90_061, "1 d 1 h 1 min 1 s"],
  [604_800, "7 d"],
] as const)("a delay of %s is shown exactly, as %s", (delay, text) => {
  expect(delayText(delay)).toBe(text);
});

test("phrases name a delay, each compute's own delay, and autosuspend that is off", () => {
  expect([delayPhrase(300), delayPhrase("own"), delayPhrase("never")]).toEqual([
    "a delay of 5 min",
    "each compute's own delay",
    "autosuspend off",
  ]);
  expect([currentDelayPhrase(300), currentDelayPhrase("own"), currentDelayPhrase("never")]).toEqual([
    "the current delay of 5 min",
    "the computes' current delays",
    "the current setting (autosuspend off)",
  ]);
});

test.each([
  [0, "0"],
  [12_345.6, "12,300"],
  [1_335.7, "1,340"],
  [999.6, "1,000"],
  [45.67, "45.7"],
  [1.234, "1.23"],
  [0.01234, "0.0123"],
])("%d is shown as %s", (value, text) => {
  expect(amount(value)).toBe(text);
});

test("money has its sign before the dollar, and at most three significant digits", () => {
  expect([0, -1.5, 9.996, 42.96, 99.96, 138.39, 12_345.6].map(money)).toEqual([
    "$0",
    "−$1.50",
    "$10.0",
    "$43.0",
    "$100",
    "$138",
    "$12,300",
  ]);
});

test("a margin has at most two significant digits, and is omitted if there is none", () => {
  expect([amountWithMargin(495.5, 4.37), amountWithMargin(495.5, null), amountWithMargin(0, 0)]).toEqual([
    "496 ± 4.4",
    "496",
    "0",
  ]);
  expect([moneyWithMargin(42.96, 0.468), moneyWithMargin(1_880, 836.2)]).toEqual([
    "$43.0 ± $0.47",
    "$1,880 ± $840",
  ]);
  expect([waitWithMargin(2_320, 11.7), waitWithMargin(2_320, 1_170)]).toEqual([
    "2.32 s ± 12 ms",
    "2.32 s ± 1.2 s",
  ]);
  expect([percentWithMargin(-69, 0.183), percentWithMargin(0, 0), percentWithMargin(null, 1)]).toEqual([
    "−69 ± 0.18 %",
    "±0 %",
    "–",
  ]);
});

test("a difference has its sign; there is no percentage of zero", () => {
  expect([percentOf(5, 10), percentOf(-5, 10), percentOf(0, 0), percentOf(3, 0), percentOf(-3, 0)]).toEqual([
    "+50 %",
    "−50 %",
    "±0 %",
    "new",
    "gone",
  ]);
  expect([signed(2), signed(-2), signed(0)]).toEqual(["+2", "−2", "±0"]);
});

test("spans and waits use a readable unit", () => {
  expect([spanText(90), spanText(120), spanText(7_200), spanText(200_000)]).toEqual([
    "90 s",
    "2 min",
    "2 h",
    "2.31 d",
  ]);
  expect([millisText(0), millisText(999), millisText(1_000)]).toEqual(["0 ms", "999 ms", "1 s"]);
});

test("one is singular", () => {
  expect([plural(1, "cold start"), plural(1_000, "cold start")]).toEqual([
    "1 cold start",
    "1,000 cold starts",
  ]);
});

import { parseHTML } from "linkedom";
import { expect, test } from "vitest";
import { reportHtml } from "../../../src/whatif/page/html.ts";
import type { ReportPage } from "../../../src/whatif/page/page-layout.ts";
import type { PageRow } from "../../../src/whatif/page/page-table.ts";

const NO_INPUT = { notes: [], badRows: 0, bad: [] };

/** The document of a report whose only table has these rows. */
function reportOf(headings: readonly string[], rows: readonly (readonly string[])[]) {
  const page: ReportPage = {
    title: "Delays",
    subject: "",
    answer: ["An answer."],
    facts: [],
    tables: [
      {
        name: "delays",
        title: "Delays",
        headings,
        rows: rows.map((cells): PageRow => ({ cells })),
        records: [],
      },
    ],
    limits: { exact: [], simulated: ["Sampled."], left_out: [] },
  };
  return parseHTML(reportHtml(page, [], {}, NO_INPUT)).document;
}

const column = (rows: readonly string[]) =>
  [
    ...reportOf(
      ["delay", "change"],
      rows.map((cell) => ["5 min", cell]),
    ).querySelectorAll("td"),
  ].map((cell) => [cell.textContent, cell.querySelector("i")?.getAttribute("data-pad") ?? ""]);

test("decimal points of a column align by invisible digits after the unit; the text stays as it is", () => {
  expect(column(["±0 %", "−5.65 %", "+11.0 %", "+168 %"])).toEqual([
    ["±0 %", ".00"],
    ["−5.65 %", ""],
    ["+11.0 %", "0"],
    ["+168 %", ".00"],
  ]);
});

test("a column of different units or of whole numbers has no invisible digits", () => {
  expect(column(["867 ms", "2.32 s"]).map(([, padding]) => padding)).toEqual(["", ""]);
  expect(column(["1,234", "7"]).map(([, padding]) => padding)).toEqual(["", ""]);
});

test.each([
  ["that fits a phone", 2, []],
  ["wider than a phone", 8, ["hint"]],
  ["wider than the page", 16, ["hint always"]],
])("a table %s hints at its further columns where it scrolls", (_, columns, classes) => {
  const headings = Array.from({ length: columns }, () => "requests");
  const hints = [...reportOf(headings, [headings]).querySelectorAll(".hint")];
  expect(hints.map(({ className }) => className)).toEqual(classes);
});

test("the limits are folded below the answer", () => {
  const limits = reportOf(["delay"], []).querySelector("header ~ details.limits");
  expect(limits?.textContent).toContain("Sampled.");
  expect(limits?.hasAttribute("open")).toBe(false);
});

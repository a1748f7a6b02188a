import type { ControlAnswer } from "../../control-api/document/answers.ts";
import { accountAnswer, NothingActive } from "../whatif/account-answer.ts";
import { reportTables, type WhatifResult } from "../whatif/report-output.ts";

type StoredReport = NonNullable<ControlAnswer<"GET /account-report">["report"]>;

/** Nothing in the answer is random. */
const SEED = 1;

/**
 * The report of `standin whatif curve` on a file of `standin account pull`, for the console of the world that has this past;
 * `undefined` if the file has no time after a start. `profile`: a name, or the path of a file.
 */
export async function accountReport(file: string, profile: string): Promise<StoredReport | undefined> {
  let answer: WhatifResult;
  try {
    answer = await accountAnswer(file, { profile, seed: SEED });
  } catch (error) {
    if (error instanceof NothingActive) return undefined;
    throw error;
  }
  const { embeddedSvg } = await import("../../whatif/page/svg.ts");
  const { title, subject, answer: sentences, facts, limits } = answer.page;
  const [tables, charts] = [await reportTables(answer), await answer.charts()];
  return {
    version: 1,
    ...{ title, subject, answer: sentences, facts, limits },
    tables: tables.map(({ name, title: heading, note, headings, rows }) => ({
      ...{ name, title: heading, note: note ?? null, headings },
      rows: rows.map(({ cells }) => cells),
    })),
    charts: charts.map(({ svg, narrowSvg, ...chart }) => ({
      ...chart,
      ...{ svg: embeddedSvg(svg), narrow_svg: embeddedSvg(narrowSvg) },
    })),
  };
}

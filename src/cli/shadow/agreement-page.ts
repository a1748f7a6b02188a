import { escapeHtml } from "../../kernel/escape-html.ts";
import { htmlPage } from "../../kernel/html-page.ts";
import { factsHtml, tableHtml } from "../../whatif/page/html.ts";
import { REPORT_STYLE } from "../../whatif/page/html-style.ts";
import { pageTable } from "../../whatif/page/page-table.ts";
import { PALETTE } from "../../whatif/page/palette.ts";
import { countText, plural } from "../../whatif/units/number-format.ts";
import type { Agreement } from "./agreement.ts";

/** Surprises on the page; all are in the JSON. */
const SHOWN_SURPRISES = 500;

const STYLE = `.answer.differs{border-left-color:var(--current)}
.surprises{margin:0 0 40px}.surprises ol{margin:0;padding:0;list-style:none}
.surprises li{margin:0 0 10px;padding:12px 16px;background:var(--panel);border:1px solid var(--line);border-left:4px solid var(--current);border-radius:8px;overflow-wrap:anywhere}
.surprises p{margin:0}.surprises .where,.surprises .rule{color:var(--faint);font-size:.84rem}
.rules dt{font-weight:600;color:var(--ink)}.rules dd{margin:0 0 .6em}`;

/** The agreement as one HTML file without scripts or external resources, in the style of the what-if reports. */
export function agreementPage(agreement: Agreement, account: string): string {
  const { api, since, until, profile, checks, surprises } = agreement;
  const title = "How well standin agrees with an account";
  const notes = checks.flatMap(({ check, note }) => (note === null ? [] : [`${check}: ${note}`]));
  return htmlPage(
    title,
    `${PALETTE}\n${REPORT_STYLE}\n${STYLE}`,
    `<header>
<p class="kicker">standin shadow</p>
<h1>${title}</h1>
<p class="answer${agreement.agrees ? "" : " differs"}">${answer(agreement)}</p>
${notes.map((note) => `<p class="also">${escapeHtml(note)}.</p>`).join("\n")}
<p class="subject">${escapeHtml(`${account}, read from ${api}: ${secondText(since)} to ${secondText(until)} UTC, compared with profile ${profile}`)}</p>
</header>
${factsHtml(factsOf(agreement))}
${surprisesHtml(surprises)}
${tableHtml(checkTable(checks))}
<details class="rules" open>
<summary>The rules that were compared</summary>
<dl>
${checks.map(({ check, evidence, rule }) => `<dt>${check} (${evidence})</dt><dd>${escapeHtml(rule)}</dd>`).join("\n")}
</dl>
<p>The letter is the evidence of the rule: R reference, S public specification, D documentation of the vendor, A assumption.</p>
</details>`,
  );
}

/** Instants of an account are whole seconds. */
function secondText(instant: string): string {
  return instant.slice(0, 19).replace("T", " ");
}

function answer({ agrees, surprises, tolerance }: Agreement): string {
  const found = plural(surprises.length, "surprise");
  return agrees
    ? `Agrees with the rules: ${found}${surprises.length === 0 ? "" : `, ${tolerance} tolerated`}.`
    : `Differs from the rules: ${found}, ${tolerance} tolerated.`;
}

function factsOf({ checks, surprises, tolerance }: Agreement) {
  const differing = checks.filter(({ surprises: own }) => own > 0).length;
  const suspends = checks.find(({ check }) => check === "suspend");
  const late = suspends?.differences_ms;
  return [
    { label: "Surprises", value: countText(surprises.length), note: `${tolerance} tolerated` },
    { label: "Checks that differ", value: `${differing} of ${checks.length}`, note: "see the table" },
    {
      label: "Suspends: median difference",
      value: late == null ? "–" : `${countText(late.median)} ms`,
      note: `${plural(suspends?.compared ?? 0, "suspend")} compared`,
    },
  ];
}

function surprisesHtml(surprises: Agreement["surprises"]): string {
  if (surprises.length === 0) return "";
  const items = surprises.slice(0, SHOWN_SURPRISES).map((surprise) => {
    const { at, check, rule, evidence, project, compute, operation, text } = surprise;
    const places = [
      `${secondText(at)} UTC`,
      ...[project, compute].filter((id) => id !== null),
      ...(operation === null ? [] : [`operation ${operation}`]),
    ];
    return `<li><p>${escapeHtml(text)}</p><p class="where">${escapeHtml(places.join(" · "))}</p><p class="rule">${check} (${evidence}): ${escapeHtml(rule)}</p></li>`;
  });
  const rest = surprises.length - items.length;
  const more = rest === 0 ? "" : `\n<p>And ${rest} more: see agreement.json.</p>`;
  return `<section class="surprises">\n<h2>What the rules do not explain</h2>\n<ol>\n${items.join("\n")}\n</ol>${more}\n</section>`;
}

function checkTable(checks: Agreement["checks"]) {
  const difference = (name: "least" | "median" | "p95" | "most", heading: string) => ({
    heading,
    cell: ({ differences_ms }: Agreement["checks"][number]) =>
      differences_ms === null ? "–" : countText(differences_ms[name]),
  });
  return pageTable({
    name: "checks",
    title: "Checks, and differences from the expected instant in ms",
    columns: [
      { heading: "check", cell: ({ check }) => check },
      { heading: "evidence", cell: ({ evidence }) => evidence },
      { heading: "compared", cell: ({ compared }) => countText(compared) },
      { heading: "skipped", cell: ({ skipped }) => countText(skipped) },
      { heading: "surprises", cell: ({ surprises }) => countText(surprises) },
      ...[difference("least", "least"), difference("median", "median")],
      ...[difference("p95", "95 %"), difference("most", "most")],
    ],
    rows: checks,
    records: checks,
  });
}

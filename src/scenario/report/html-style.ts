import { baseStyle, DARK_PAGE, LIGHT_PAGE, paletteStyle } from "../../kernel/html-page.ts";

const LIGHT = {
  ...LIGHT_PAGE,
  active: "#0f8a5f",
  starting: "#d99a00",
  operation: "#3565d4",
  fault: "#7c4dbd",
  failed: "#c2281f",
};
const DARK: Readonly<Record<keyof typeof LIGHT, string>> = {
  ...DARK_PAGE,
  active: "#4cc99a",
  starting: "#f0c14b",
  operation: "#7ea6ff",
  fault: "#bf9bf5",
  failed: "#ff7a6b",
};

/** The style of the HTML report of a run, for screens from 420 px, dark screens, and paper. */
export const RUN_REPORT_STYLE = `${paletteStyle(LIGHT, DARK)}
${baseStyle(1.5)}
main{max-width:1100px;margin:0 auto;padding:36px 24px 64px}
h1{margin:0 0 .6em;font-size:1.6rem;line-height:1.2}
h2{margin:0 0 .3em;font-size:1.25rem;overflow-wrap:anywhere}
h3{margin:1.6em 0 .5em;font-size:1rem}
section.run{border-top:1px solid var(--line);padding:28px 0 12px}
.kicker,.subject,.note{color:var(--faint);font-size:.86rem;margin:0 0 .8em;overflow-wrap:anywhere}
.badge{display:inline-block;margin-right:.5em;padding:.05em .6em;border-radius:99px;border:1px solid currentColor;font-size:.8rem;font-weight:650;vertical-align:.15em}
.passed{color:var(--active)}.failed{color:var(--failed)}.could_not_run,.not_checked{color:var(--starting)}
.lanes{border:1px solid var(--line);border-radius:8px;padding:10px 12px;background:var(--panel)}
.lane{margin:0 0 8px;break-inside:avoid}
.lane .label{font-size:.78rem;color:var(--faint);overflow-wrap:anywhere}
.lane svg{display:block;width:100%;background:var(--paper);border:1px solid var(--line);border-radius:3px}
.axis{position:relative;height:1.5em;font-size:.75rem;color:var(--faint);font-variant-numeric:tabular-nums}
.axis span{position:absolute;white-space:nowrap;border-left:1px solid var(--faint);padding-left:3px;line-height:1.2}
.marks{position:relative;height:1.4em}
.marks b{position:absolute;transform:translateX(-50%);min-width:1.25em;padding:0 .2em;border-radius:3px;background:var(--failed);color:var(--paper);font-size:.72rem;line-height:1.35;font-weight:500;text-align:center;white-space:nowrap}
.active{fill:var(--active)}.starting{fill:var(--starting)}.arrival{fill:var(--faint)}.operation{fill:var(--operation)}.operation.failed,.operation.cancelled{fill:var(--failed)}.fault{fill:var(--fault)}.step{fill:var(--ink)}
.failure{stroke:var(--failed);stroke-width:1.5;vector-effect:non-scaling-stroke}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;margin:.6em 0 0;padding:0;list-style:none;font-size:.8rem;color:var(--faint)}
.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.4em;border-radius:2px;vertical-align:-.05em}
.failures{margin:0;padding:0;list-style:none}
.failures>li{margin:0 0 14px;padding:10px 14px;border:1px solid var(--line);border-left:4px solid var(--failed);border-radius:6px;background:var(--panel);break-inside:avoid}
.failures h4{margin:0 0 .3em;font-size:.95rem;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:minmax(5.5em,max-content) 1fr;gap:2px 12px;margin:0;font-size:.88rem}
dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.86rem;font-variant-numeric:tabular-nums}
th,td{padding:5px 10px 5px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{color:var(--faint);font-weight:500}
code{font-size:.85em;overflow-wrap:anywhere}
details{margin-top:1.4em}summary{cursor:pointer;font-weight:600}
@media (max-width:640px){main{padding:22px 14px}.axis span:nth-child(even){display:none}h1{font-size:1.3rem}}
@media print{main{max-width:none;padding:0}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}.scroll{overflow:visible}details::details-content{content-visibility:visible;height:auto}section.run{break-before:page}section.run:first-of-type{break-before:auto}}`;

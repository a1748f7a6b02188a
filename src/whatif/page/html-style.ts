import { baseStyle } from "../../kernel/html-page.ts";

/** The colours are variables that the palette of the charts defines. */
export const REPORT_STYLE = `${baseStyle(1.55)}
main{max-width:940px;margin:0 auto;padding:48px 28px 72px}
.margin{display:inline-block;color:var(--faint);text-align:left;white-space:nowrap}
.kicker{margin:0;color:var(--faint);font-size:.78rem;letter-spacing:.09em;text-transform:uppercase}
h1{margin:.15em 0 .5em;font-size:1.9rem;line-height:1.2;letter-spacing:-.015em}
h2{margin:0 0 .7em;font-size:1.1rem;letter-spacing:-.005em}
h3{margin:0 0 .4em;font-size:.95rem}
.answer{margin:0 0 .6em;font-size:1.15rem;line-height:1.5;border-left:4px solid var(--best);padding-left:16px}
.also{margin:0 0 .6em;padding-left:20px}
.subject{margin:1.2em 0 0;color:var(--faint);font-size:.88rem}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(158px,1fr));gap:12px;margin:28px 0 40px}
.fact{display:flex;flex-direction:column;background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:14px 16px}
.fact .label{color:var(--faint);font-size:.8rem}
.fact .value{font-size:1.35rem;font-weight:650;letter-spacing:-.02em;font-variant-numeric:tabular-nums;line-height:1.35}
.fact .note{font-size:.8rem;color:var(--faint)}
figure{margin:0 0 40px;break-inside:avoid}
figure svg{display:block;width:100%;height:auto}
figure .narrow{display:none;max-width:520px}
figcaption{color:var(--faint);font-size:.88rem;margin-top:.5em;max-width:70ch}
.table{margin:0 0 40px;break-inside:avoid-page}
.scroll{overflow-x:auto;border-radius:6px;background:linear-gradient(to right,var(--paper) 30%,transparent) left/40px 100%,linear-gradient(to left,var(--paper) 30%,transparent) right/40px 100%,linear-gradient(to right,var(--shade),transparent) left/14px 100%,linear-gradient(to left,var(--shade),transparent) right/14px 100%;background-repeat:no-repeat;background-attachment:local,local,scroll,scroll;--shade:color-mix(in srgb,var(--ink) 22%,transparent)}
.hint{display:none;margin:-.4em 0 .6em;color:var(--faint);font-size:.8rem}.hint.always{display:block}
.table .note{color:var(--faint);font-size:.88rem;margin:.7em 0 0;max-width:70ch}
td i::after{content:attr(data-pad);visibility:hidden}
table{border-collapse:collapse;width:100%;font-size:.88rem;font-variant-numeric:tabular-nums}
th,td{padding:7px 10px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child{text-align:left;padding-left:8px}
thead th{color:var(--faint);font-weight:500;border-bottom-width:2px}
tbody th{font-weight:500}
tr.best{background:color-mix(in srgb,var(--best) 11%,transparent)}
tr.current{background:color-mix(in srgb,var(--current) 10%,transparent)}
tr.bound{color:var(--faint)}
.tag{margin-left:6px;padding:1px 7px;border-radius:99px;font-size:.7rem;font-weight:600;border:1px solid currentColor}
.best .tag{color:var(--best)}.current .tag{color:var(--current)}.bound .tag{color:var(--bound)}
.input{margin:0 0 32px;font-size:.88rem}.input ul{padding-left:1.2em}
.limits{margin:0 0 40px;color:var(--ink)}
.limits[open] summary{margin-bottom:14px}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(240px,1fr));gap:12px}
.limit{background:var(--panel);border:1px solid var(--line);border-top:3px solid var(--best);border-radius:8px;padding:14px 16px;font-size:.88rem}
.limit.simulated{border-top-color:var(--accent)}.limit.left_out{border-top-color:var(--current)}
.limit p{margin:0 0 .6em}.limit p:last-child{margin:0}
details{font-size:.88rem;color:var(--faint)}
summary{cursor:pointer;font-weight:600;color:var(--ink)}
pre{overflow:auto;background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:14px;color:var(--ink);font-size:.8rem}
@media screen and (max-width:640px){main{padding:28px 16px}h1{font-size:1.5rem}figure .wide{display:none}figure .narrow{display:block}.hint{display:block}.facts{grid-template-columns:1fr 1fr;gap:10px;margin:20px 0 28px}.fact{padding:10px 12px}}
@media print{.hint.always{display:none}@page{margin:16mm}html{font-size:12px}main{max-width:none;padding:0}.fact,.limit{background:none}.facts{grid-template-columns:repeat(auto-fit,minmax(112px,1fr))}.scroll{overflow:visible;background:none}th,td{padding:4px 6px;white-space:normal}h2{break-after:avoid}.manifest{display:none}details::details-content{content-visibility:visible;height:auto}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}`;

// @ts-nocheck
// Checks the subject of a commit: `area: imperative summary`, at most 72 characters, the reason in the body.
// Usage: node scripts/check-commit-message.mjs <file with the message>
import { readFileSync } from "node:fs";

const LONGEST_SUBJECT = 72;
const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error("usage: node scripts/check-commit-message.mjs <file with the message>");
  process.exit(2);
}
const [subject = "", second = ""] = readFileSync(file, "utf8")
  .split("\n")
  .filter((line) => !line.startsWith("#"));

const problems = [];
if (!/^(Merge|Revert|fixup!|squash!) ?/.test(subject)) {
  const [, area, summary] = /^([a-z][a-z0-9-]*(?:\/[a-z0-9-]+)*): (.+)$/.exec(subject) ?? [];
  if (area === undefined)
    problems.push('expected "area: imperative summary", such as "store: reject a broken chain"');
  else if (/^[A-Z]/.test(summary)) problems.push(`start the summary in lower case: "${summary}"`);
  else if (/^\w+(ed|ing)\b/.test(summary) && !/^(embed|need|speed|seed|feed|bring)\b/.test(summary))
    problems.push(`use the imperative ("add", not "added" or "adding"): "${summary}"`);
  if (subject.endsWith(".")) problems.push("leave out the full stop at the end");
}
if (subject.length > LONGEST_SUBJECT)
  problems.push(`the subject has ${subject.length} characters; ${LONGEST_SUBJECT} is the most`);
if (second.trim() !== "")
  problems.push("leave the second line empty; the reason goes into the body below it");

for (const problem of problems) console.error(`commit message: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;

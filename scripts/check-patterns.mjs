// Refuses regular expressions with polynomial or exponential time in the code that handles requests: one long
// request would block all others. The analysis is that of eslint-plugin-regexp (scslre).
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { analyse } from "scslre";
import ts from "typescript";

/** Folders of src/ whose code handles the input of a request. */
const FOLDERS = [
  "http",
  "platform-api",
  "control-api",
  "app",
  "worlds",
  "store",
  "simulation",
  "platform",
  "kernel",
];

/** Expressions that are built while the program runs, which this check cannot read. By file: the reason. */
const BUILT = {
  "src/platform-api/app.ts":
    "from the paths of the public document: segments without a slash, divided by slashes",
  "src/worlds/directory-layout.ts": "from a constant; tests names of files",
};

/** The problems of an expression. */
function problemsOf(source, flags) {
  const { reports } = analyse(new RegExp(source, flags));
  return reports.map(({ exponential, character }) => {
    const time = exponential ? "exponential" : "polynomial";
    return `takes ${time} time for repetitions of ${character.literal.source}`;
  });
}

let patterns = 0;
const problems = [];
const unusedReasons = new Set(Object.keys(BUILT));

function check(path, node, source) {
  const { line } = source.getLineAndCharacterOfPosition(node.getStart());
  const report = (problem) => problems.push(`${path}:${line + 1}: ${problem}`);
  if (node.kind === ts.SyntaxKind.RegularExpressionLiteral) {
    const [, text, flags] = /^\/(.*)\/(\w*)$/s.exec(node.text);
    patterns += 1;
    for (const problem of problemsOf(text, flags)) report(`${node.text} ${problem}`);
  } else if (
    (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
    node.expression.getText() === "RegExp"
  ) {
    if (path in BUILT) unusedReasons.delete(path);
    else report("RegExp(…): this check cannot read an expression that is built; write a literal");
  }
}

for (const folder of FOLDERS) {
  for (const file of readdirSync(join("src", folder), { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    const path = join("src", folder, file);
    const source = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
    const visit = (node) => {
      check(path, node, source);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
}
for (const path of unusedReasons) problems.push(`scripts/check-patterns.mjs: ${path} builds no expression`);
if (problemsOf("a*a*b", "").length === 0)
  problems.push("a pattern with overlap was not found: the check fails");
if (patterns === 0) problems.push("no pattern was checked");
for (const problem of problems) console.error(problem);
console.log(`patterns: ${patterns} checked, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

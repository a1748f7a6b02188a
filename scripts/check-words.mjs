// Rejects identifiers of src/ and of the satellites that use a retired word of scripts/retired-words.json, which lists replacements,
// and comments that begin with "Of": they do not name their subject.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** `words`: replacement of each retired word. `allowed`: public or stored names that keep it. */
const { words, allowed } = JSON.parse(readFileSync("scripts/retired-words.json", "utf8"));
const isAllowed = new Set(allowed);
const satellites = existsSync("packages")
  ? readdirSync("packages").map((name) => `packages/${name}/src`)
  : [];
const files = ["src", ...satellites].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(folder, file)),
);

/** The begin of a comment. A line that continues a comment may begin with the word. */
const BEGINS_WITH_OF = /\/\*\*\s+(?:\* )?Of\b|(?<!^[ \t]*\/\/.*\n)^[ \t]*\/\/ Of\b/gm;

let found = 0;
let subjectless = 0;
for (const path of files) {
  const text = readFileSync(path, "utf8");
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  for (const { index } of text.matchAll(BEGINS_WITH_OF)) {
    const { line } = source.getLineAndCharacterOfPosition(text.indexOf("Of", index));
    console.error(`${path}:${line + 1}: begin the comment with the thing that it describes, not with "Of"`);
    subjectless += 1;
  }
  const visit = (node) => {
    if ((ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && !isAllowed.has(node.text)) {
      for (const word of node.text.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/)) {
        const instead = words[word.toLowerCase()];
        if (instead === undefined) continue;
        const { line } = source.getLineAndCharacterOfPosition(node.getStart());
        console.error(`${path}:${line + 1}: ${node.text}: instead of "${word.toLowerCase()}" use ${instead}`);
        found += 1;
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}
if (files.length === 0) console.error("no file was checked");
console.log(
  `words: ${files.length} files, ${found} retired words, ${subjectless} comments without a subject`,
);
process.exitCode = found + subjectless === 0 && files.length > 0 ? 0 : 1;

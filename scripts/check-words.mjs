// Rejects identifiers of src/ and of the satellites that use a retired word of scripts/retired-words.json, which lists replacements.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** By retired word: the word to use. `allowed`: public or stored names that keep it. */
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

let found = 0;
for (const path of files) {
  const source = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
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
console.log(`words: ${files.length} files, ${found} retired words`);
process.exitCode = found === 0 && files.length > 0 ? 0 : 1;

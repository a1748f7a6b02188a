// Checks that the packages can be published, and prints the commands that publish them. It publishes nothing itself.
import { readdirSync, readFileSync } from "node:fs";

const PLACEHOLDER = "placeholder.invalid";
const packages = [".", ...readdirSync("packages").map((name) => `packages/${name}`)];
const problems = [];
const { version } = readManifest(".");
for (const directory of packages) {
  const manifest = readManifest(directory);
  if (JSON.stringify(manifest).includes(PLACEHOLDER))
    problems.push(`${directory}/package.json: replace ${PLACEHOLDER} in repository, homepage and bugs`);
  if (manifest.version !== version)
    problems.push(`${directory}/package.json: has version ${manifest.version}, and the others ${version}`);
}
const kustomization = "deploy/kustomize/base/kustomization.yaml";
if (readFileSync(kustomization, "utf8").includes(PLACEHOLDER))
  problems.push(`${kustomization}: replace ${PLACEHOLDER} in the address of the image`);
if (!readFileSync("CHANGELOG.md", "utf8").includes(`\n## ${version}\n`))
  problems.push(`CHANGELOG.md: has no chapter for ${version}`);

if (problems.length > 0) {
  process.stderr.write(`release: ${problems.join("\nrelease: ")}\n`);
  process.exitCode = 1;
} else {
  process.stdout.write(
    `${packages.map((directory) => `npm publish ${directory === "." ? "" : `-w ${directory} `}--provenance`).join("\n")}\n`,
  );
}

function readManifest(directory) {
  return JSON.parse(readFileSync(`${directory}/package.json`, "utf8"));
}

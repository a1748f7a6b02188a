// Builds docs/ into dist/docs, a folder of static files with search for the server and for any web server: `npm run docs`.
// Fails if a link of a page, or the heading that it names, does not exist.
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { build } from "vitepress";
import { githubSlug } from "../site/github-slug.mjs";
import { readTopics } from "./docs-topics.mjs";

const FOLDER = "dist/docs";
const { description } = JSON.parse(readFileSync("package.json", "utf8"));
const idsOfPages = new Map();

rmSync(FOLDER, { recursive: true, force: true });
await build("site");
copyFileSync("src/console/icon.svg", join(FOLDER, "icon.svg"));
// The pages as Markdown, too, for programs that read them.
for (const file of filesOf("docs").filter((file) => /\.(?:md|json)$/.test(file))) {
  mkdirSync(dirname(join(FOLDER, relative("docs", file))), { recursive: true });
  copyFileSync(file, join(FOLDER, relative("docs", file)));
}
writeFileSync(join(FOLDER, "llms.txt"), listOfPages());
const codeColours = writeWithDigest("code", "css", readFileSync(join(FOLDER, "assets/code.css"), "utf8"));
rmSync(join(FOLDER, "assets/code.css"));
for (const file of filesOf(join(FOLDER, "assets")).filter((file) => file.endsWith(".css")))
  writeFileSync(file, withoutInlineImages(readFileSync(file, "utf8")));
const pages = filesOf(FOLDER).filter((file) => file.endsWith(".html"));
for (const page of pages) writeFileSync(page, withoutInlineCode(page, readFileSync(page, "utf8")));
const problems = pages.flatMap(brokenLinks);
for (const problem of problems) console.error(problem);
const bytes = filesOf(FOLDER).reduce((sum, file) => sum + readFileSync(file).length, 0);
console.log(
  `${FOLDER}: ${pages.length} pages, ${(bytes / 1e6).toFixed(1)} MB, ${problems.length} broken links`,
);
process.exitCode = problems.length === 0 ? 0 : 1;

function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

/** https://llmstxt.org: what the pages are about, for language models. */
function listOfPages() {
  const groups = readTopics("docs/index.md").map(({ group, topics }) => {
    const lines = topics.map(({ path }) => {
      const [file, anchor] = path.split("#");
      const text = sectionOf(readFileSync(join("docs", file), "utf8"), anchor);
      return `- [${/^#+ (.+)$/m.exec(text)[1]}](${path}): ${firstSentence(text)}`;
    });
    return `## ${group}\n\n${lines.join("\n")}\n`;
  });
  return `# standin\n\n> ${description}\n\n${groups.join("\n")}`;
}

/** From the heading with this anchor on; without one, all. */
function sectionOf(text, anchor) {
  if (anchor === undefined) return text;
  const heading = [...text.matchAll(/^#+ (.+)$/gm)].find(([, title]) => githubSlug(title) === anchor);
  return text.slice(heading.index);
}

function firstSentence(text) {
  const blocks = text.replaceAll(/^```.*?^```/gms, "").split(/\n{2,}/);
  const paragraph = blocks.find((block) => /^[^#|<>\n-]/.test(block)) ?? "";
  const plain = paragraph.replaceAll(/\s+/g, " ").replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
  return plain.split(/(?<=\.) (?=[A-Z`*])/)[0];
}

/** The policy of the server allows scripts and styles from files only. */
function withoutInlineCode(page, html) {
  const root = `${relative(dirname(page), FOLDER) || "."}/`;
  const assets = `${root}assets/`;
  return html
    .replaceAll(/ style="[^"]*"/g, "")
    .replace('href="/icon.svg"', `href="${root}icon.svg"`)
    .replaceAll(/<script([^>]*)>([^<]+)<\/script>/g, (_, attributes, code) => {
      const file = writeWithDigest("inline", "js", code);
      return `<script${attributes} src="${assets}${file}"></script>`;
    })
    .replace("</head>", `<link rel="stylesheet" href="${assets}${codeColours}"></head>`);
}

/** Moves inline images of a style sheet to files in the folder of the style sheet. */
function withoutInlineImages(css) {
  return css.replaceAll(
    /url\(("?)data:image\/svg\+xml,(.+?)\1\)(?=[;,}\s])/g,
    (_, _quote, image) => `url(${writeWithDigest("image", "svg", decodeURIComponent(image))})`,
  );
}

/** Writes a file whose name changes with its contents, so that browsers may keep it. Returns the name. */
function writeWithDigest(name, extension, content) {
  const file = `${name}.${createHash("sha256").update(content).digest("hex").slice(0, 8)}.${extension}`;
  writeFileSync(join(FOLDER, "assets", file), content);
  return file;
}

function brokenLinks(page) {
  const html = readFileSync(page, "utf8");
  const links = [...html.matchAll(/<(?:a|link|script|img|source)\b[^>]*?\s(?:href|src|srcset)="([^"]*)"/g)];
  return links
    .map(([, link]) => link.replaceAll("&amp;", "&"))
    .filter((link) => !/^(?:[a-z]+:|#$)/.test(link) && !leads(page, link))
    .map((link) => `${page}: ${link}`);
}

function leads(page, link) {
  const [path, id] = decodeURI(link).split("#");
  let target = path === "" ? page : join(dirname(page), path);
  if (target.endsWith("/") || target === FOLDER) target = join(target, "index.html");
  if (!existsSync(target)) return false;
  if (id === undefined || id === "") return true;
  if (!idsOfPages.has(target))
    idsOfPages.set(
      target,
      new Set([...readFileSync(target, "utf8").matchAll(/\sid="([^"]*)"/g)].map(([, found]) => found)),
    );
  return idsOfPages.get(target).has(id);
}

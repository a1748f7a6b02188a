// The site of docs/, which `npm run docs` builds (scripts/docs.mjs). Groups and order come from docs/index.md.
import { readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { transformerStyleToClass } from "@shikijs/transformers";
import { defineConfig } from "vitepress";
import { readTopics } from "../../scripts/docs-topics.mjs";
import { githubSlug } from "../github-slug.mjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));

/** The colours of code as classes: the policy of the server allows no `style` attribute. */
const codeColours = transformerStyleToClass({ classPrefix: "code-" });

export default defineConfig({
  title: "standin",
  description: "A deterministic simulator of a hosted Postgres platform's management API",
  lang: "en",
  srcDir: "../docs",
  outDir: "../dist/docs",
  cacheDir: "../node_modules/.vitepress-site",
  // Pages find each other wherever the folder is served.
  base: "./",
  metaChunk: true,
  // VueUse would add a style element to the page, which the policy of the server does not allow.
  appearance: { disableTransition: false },
  lastUpdated: false,
  head: [["link", { rel: "icon", href: "/icon.svg", type: "image/svg+xml" }]],
  // scripts/docs.mjs checks all links of the built pages, also those to headings.
  ignoreDeadLinks: true,
  markdown: {
    anchor: { slugify: githubSlug },
    codeTransformers: [codeColours],
    config(markdown) {
      markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
      removeLinksOutOfSite(markdown);
      alignCellsByClass(markdown);
      keepBraces(markdown);
    },
  },
  transformPageData: (page) => ({ title: page.title || "Documentation" }),
  // The classes are known when all pages have been rendered.
  buildEnd: ({ outDir }) => writeFileSync(join(outDir, "assets", "code.css"), codeColours.getCSS()),
  vite: { logLevel: "warn", build: { chunkSizeWarningLimit: 4_000 } },
  themeConfig: {
    siteTitle: `standin ${version}`,
    nav: [
      { text: "First steps", link: "/tutorials/first-steps" },
      { text: "Commands", link: "/reference/commands" },
    ],
    sidebar: {
      // Decisions are half of the pages. The list of all topics is the largest part of a short page.
      "/explanation/decisions/": [
        {
          text: "Explanation",
          items: [
            { text: "Architecture", link: "/explanation/architecture" },
            { text: "Decisions", link: "/explanation/decisions/README" },
          ],
        },
      ],
      "/": readTopics("docs/index.md").map(({ group, topics }) => ({
        text: group,
        collapsed: false,
        items: topics.map(({ title, path }) => ({
          text: title[0].toUpperCase() + title.slice(1),
          link: `/${path.replace(/\.md$/, "")}`,
        })),
      })),
    },
    outline: { level: [2, 3] },
    search: { provider: "local" },
  },
});

/** A link from docs/ to another folder of the repository would lead nowhere in the site: only its text remains. */
function removeLinksOutOfSite(markdown) {
  markdown.core.ruler.push("links_out_of_site", ({ tokens, env }) => {
    const folder = posix.dirname(env.relativePath);
    for (const token of tokens) {
      let isOutside = false;
      token.children = token.children?.filter((child) => {
        if (child.type === "link_open") isOutside = leavesSite(folder, child.attrGet("href") ?? "");
        return !isOutside || !child.type.startsWith("link_");
      });
    }
  });
}

function leavesSite(folder, href) {
  return !/^[a-z]+:|^[#/]/.test(href) && posix.join(folder, href).startsWith("../");
}

/** The policy of the server allows no `style` attribute. */
function alignCellsByClass(markdown) {
  for (const rule of ["td_open", "th_open"])
    markdown.renderer.rules[rule] = (tokens, index, options, _env, renderer) => {
      const alignment = /^text-align:(\w+)$/.exec(tokens[index].attrGet("style") ?? "")?.[1];
      if (alignment !== undefined) {
        tokens[index].attrs = tokens[index].attrs.filter(([name]) => name !== "style");
        tokens[index].attrJoin("class", `align-${alignment}`);
      }
      return renderer.renderToken(tokens, index, options);
    };
}

/** Pages are Markdown, not templates of Vue: two braces are text. */
function keepBraces(markdown) {
  const { text, code_inline: code } = markdown.renderer.rules;
  const withEntities = (html) => html.replaceAll("{{", "&#123;&#123;");
  markdown.renderer.rules.text = (...given) => withEntities(text(...given));
  markdown.renderer.rules.code_inline = (...given) => withEntities(code(...given));
}

import { join } from "node:path";
import { Command, Option } from "commander";
import { errorPage } from "../../http/errors.ts";
import { closestMatch } from "../../kernel/text.ts";
import { addTargetOptions, findServer, type ServerTarget } from "../client/client.ts";
import { COMMAND_PAGES, pageOfCommand } from "../docs/command-pages.ts";
import { DOCS_FOLDER, readTopics, type Topic } from "../docs/topics.ts";
import { openInBrowser } from "../terminal/browser.ts";
import { CliError } from "../terminal/cli-error.ts";
import { print } from "../terminal/print.ts";

type DocsOptions = ServerTarget & { readonly list?: boolean; readonly open?: boolean };

export function docsCommand(): Command {
  return addTargetOptions(new Command("docs"))
    .argument("[topic...]", "name of a page, a command, or the code of an error (default: the first page)")
    .addOption(new Option("--list", "print all topics, in groups").conflicts("open"))
    .addOption(new Option("--open", "open the page in a browser"))
    .addHelpText(
      "after",
      `
Prints the URL of the page on the running server. Without a server, prints the path of the page in this package.

Examples:
  $ standin docs --list
  $ standin docs faults
  $ standin docs BRANCH_NOT_FOUND
  $ standin docs whatif curve --open`,
    )
    .action(async (words: readonly string[], options: DocsOptions) => {
      const topics = readTopics();
      if (options.list === true) {
        print(listOf(topics));
        return;
      }
      const place = await placeOf(words.length === 0 ? "index.md" : pageOf(words.join(" "), topics), options);
      print(`${place}\n`);
      if (options.open === true) await openInBrowser(place);
    });
}

/** The URL of a page on the running server, or its path in this package. */
async function placeOf(page: string, target: ServerTarget): Promise<string> {
  const server = await findServer(target);
  if (server !== undefined) {
    const url = new URL(`/docs/${page.replace(/\.md(?=#|$)/, ".html")}`, server.controlUrl);
    // The server may have been started with --console off, or from a clone without the built site.
    if ((await fetch(url, { method: "HEAD" })).ok) return url.href;
  }
  return join(DOCS_FOLDER, page.replace(/#.*/, ""));
}

/** A page of docs/, by its name, its title, its command, or an error that it lists. */
function pageOf(text: string, topics: readonly Topic[]): string {
  const wanted = text.toLowerCase();
  const found = topics.find(({ name, title }) => name === wanted || title.toLowerCase() === wanted);
  if (found !== undefined) return found.path;
  const ofError = errorPage(text.toUpperCase());
  if (ofError !== undefined) return ofError;
  const commands = Object.values(COMMAND_PAGES).flatMap((pages) => Object.keys(pages));
  const [first = ""] = wanted.split(" ");
  if (commands.includes(wanted) || commands.includes(first)) return pageOfCommand(wanted);
  const near = closestMatch(wanted, [...topics.flatMap(({ name, title }) => [name, title]), ...commands]);
  const remedy = near === undefined ? "list all topics with: standin docs --list" : `did you mean "${near}"?`;
  throw new CliError(`there is no topic "${text}"; ${remedy}`, true);
}

function listOf(topics: readonly Topic[]): string {
  const width = Math.max(...topics.map(({ name }) => name.length));
  const groups = [...new Set(topics.map(({ group }) => group))];
  return groups
    .map((group) => {
      const lines = topics
        .filter((topic) => topic.group === group)
        .map(
          ({ name, title }) => `  ${name.padEnd(width)}  ${title.charAt(0).toUpperCase()}${title.slice(1)}\n`,
        );
      return `${group}\n${lines.join("")}`;
    })
    .join("\n");
}

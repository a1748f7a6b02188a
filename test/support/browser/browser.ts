import { readFileSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { type ServerProcess, serve, temporaryDirectory } from "../process/process.ts";
import {
  type RunningServer,
  type ServerClient,
  serverClient,
  startServer,
  testDirectory,
} from "../server/running-server.ts";
import { BROWSER_PROGRAM } from "./browser-program.ts";

const START = "2026-03-02T08:00:00Z";

let browser: Promise<Browser> | undefined;

/** Shared by the tests of a worker. */
function sharedBrowser(): Promise<Browser> {
  // The arguments of its package run everything in one process, which ends with the first page that is closed.
  browser ??= chromium.launch({ executablePath: BROWSER_PROGRAM, args: ["--no-sandbox"] });
  return browser;
}

const SETTINGS = ["--clock", "manual", "--start-at", START, "--seed", "7", "--pg-port", "none"];

let shared: ServerProcess | undefined;
let worlds = 0;

/** For the top of a file: its tests use worlds of one server, unless they need a server of their own. */
export function shareServer(): void {
  const directory = temporaryDirectory();
  beforeAll(async () => {
    shared = await serve(directory.path, SETTINGS);
  });
  afterAll(async () => {
    await shared?.kill("SIGKILL");
    shared = undefined;
    directory.remove();
  });
}

/** The root of the shared server. */
export function sharedServerUrl(): string {
  if (shared === undefined) throw new Error("the file does not call shareServer()");
  return new URL("/", shared.ready.api_url).href;
}

/** A new world of the shared server, which is as empty as that of a new server. */
async function newWorld({ ready }: ServerProcess): Promise<{ client: ServerClient; path: string }> {
  worlds += 1;
  const name = `test-${worlds}`;
  await serverClient(ready).sim("POST", "/worlds", { name, clock: "manual" });
  const path = `/w/${name}`;
  const of = (url: string) => url.replace(/(?=\/(api\/v2|_sim)$)/, path);
  const own = { ...ready, api_url: of(ready.api_url), control_url: of(ready.control_url) };
  const client = serverClient(own);
  // Requests for paths of no world are logged by the default world.
  await client.sim("DELETE", "/requests");
  return { client, path: `${path}/` };
}

export type ConsolePage<S = ServerClient> = {
  readonly page: Page;
  readonly server: S;
  readonly url: string;
  /** Faults of the page: errors, violations of its policy, requests to other servers. Must stay empty. */
  readonly complaints: string[];
};

/** The page of a server that the test can end. */
export type OwnConsolePage = ConsolePage<RunningServer> & {
  /** Starts the server again on this port, after it has ended. */
  readonly restart: (port: string) => Promise<RunningServer>;
};

export type ConsoleOptions = {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: "light" | "dark";
  /** A touch screen of a user who prefers reduced motion. */
  readonly touch?: boolean;
  /** Prepares the world before the page opens. */
  readonly before?: (server: ServerClient) => Promise<unknown>;
};

/** A new world of the shared server, and its console in a browser. At the end the page must have had no errors. */
export async function openConsole(options: ConsoleOptions = {}): Promise<ConsolePage> {
  if (shared === undefined) throw new Error("the file does not call shareServer()");
  const { client, path } = await newWorld(shared);
  await options.before?.(client);
  const url = new URL(path, shared.ready.api_url).href;
  return { ...(await openPage(url, options)), server: client, url };
}

/** Opens the console of a world on a server of its own with a manual clock. */
export async function openOwnConsole(
  options: ConsoleOptions & { readonly args?: readonly string[]; readonly controlToken?: string } = {},
): Promise<OwnConsolePage> {
  const { args = [], controlToken } = options;
  const data = testDirectory();
  const server = await startServer(
    data,
    [...SETTINGS, ...args],
    controlToken === undefined ? {} : { env: { STANDIN_CONTROL_TOKEN: controlToken }, controlToken },
  );
  await options.before?.(server);
  const url = new URL("/", server.ready.api_url).href;
  const restart = (port: string) => startServer(data, ["--pg-port", "none"], { port });
  return { ...(await openPage(url, options)), server, url, restart };
}

/** A page in a browser of its own settings. At the end it must have had no errors. */
export async function openPage(
  url: string,
  {
    width = 1440,
    height = 900,
    scheme = "light",
    touch = false,
  }: Pick<ConsoleOptions, "width" | "height" | "scheme" | "touch"> = {},
): Promise<Pick<ConsolePage, "page" | "complaints">> {
  const context = await (await sharedBrowser()).newContext({
    viewport: { width, height },
    colorScheme: scheme,
    hasTouch: touch,
    isMobile: touch,
    reducedMotion: touch ? "reduce" : "no-preference",
    locale: "de-DE",
    timezoneId: "Asia/Tokyo",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error.stack)));
  page.on("console", (message) => {
    // Answers that are no 2xx are expected and shown to the user.
    if (message.type() === "error" && !message.text().includes("Failed to load resource"))
      complaints.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL("/", url).href)) complaints.push(`request to ${request.url()}`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  await page.goto(url);
  return { page, complaints };
}

/** Violations of accessibility rules on the page as it is now: of all, or of some. */
export async function accessibilityViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Evaluated by the debugger, so that the page's policy does not apply to it.
  await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
  const { violations } = (await page.evaluate(
    `axe.run(document, ${JSON.stringify(rules && { runOnly: rules })})`,
  )) as { violations: { id: string; nodes: { html: string }[] }[] };
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`,
  );
}

/** Creates a project on the server, and lets its operations finish: the id of its compute. */
export async function addProject(server: ServerClient, name: string): Promise<string> {
  const { body } = await server.api("POST", "/projects", { project: { name } });
  await server.sim("POST", "/clock/advance", { by: "20s" });
  return body.endpoints[0].id;
}

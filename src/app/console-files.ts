import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Context, Hono } from "hono";
import { PACKAGE_ROOT } from "./package-root.ts";
import { PAGE_HEADERS } from "./page-headers.ts";

/** The built console: `npm run build` writes it. */
const FOLDER = join(PACKAGE_ROOT, "dist", "console");
const TYPES: Readonly<Record<string, string>> = {
  "console.js": "text/javascript; charset=utf-8",
  "console.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
};

/**
 * The page of each world, at / and at /w/<name>/. It contains no data: what it shows comes from the control API,
 * which asks for its token. Other clients than browsers get the answer for an unknown path.
 */
export function consolePages(mode: "on" | "read-only" | "run"): Hono {
  const app = new Hono();
  app.get("/_console/:file", async (context, next) => {
    const file = context.req.param("file");
    const type = TYPES[file];
    const content = type === undefined ? undefined : await contentOf(file);
    if (type === undefined || content === undefined) return next();
    return context.body(content, 200, { ...PAGE_HEADERS, "Content-Type": type });
  });
  const page = async (context: Context, next: () => Promise<void>) => {
    if (!context.req.header("accept")?.includes("text/html")) return next();
    const content = await contentOf("index.html");
    if (content === undefined) return next();
    const html = new TextDecoder().decode(content).replace(MODE, `data-mode="${mode}"`);
    return context.body(html, 200, { ...PAGE_HEADERS, "Content-Type": "text/html; charset=utf-8" });
  };
  app.get("/", page);
  app.get("/w/:world/", page);
  app.get("/w/:world", (context, next) =>
    context.req.header("accept")?.includes("text/html") ? context.redirect(`${context.req.path}/`) : next(),
  );
  return app;
}

/** Attribute of the page that tells the script which actions it may offer. */
const MODE = 'data-mode="on"';
const contents = new Map<string, Uint8Array<ArrayBuffer>>();

/** `undefined` if the console was not built. */
async function contentOf(file: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const known = contents.get(file);
  if (known !== undefined) return known;
  try {
    const content = new Uint8Array(await readFile(join(FOLDER, file)));
    contents.set(file, content);
    return content;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { Hono } from "hono";
import { PACKAGE_ROOT } from "./package-root.ts";
import { PAGE_HEADERS } from "./page-headers.ts";

/** The built documentation: `npm run docs` writes it, and each package contains it. */
const FOLDER = join(PACKAGE_ROOT, "dist", "docs");
/** Its pages as Markdown. The package has no second copy of them in the built documentation. */
const SOURCES = join(PACKAGE_ROOT, "docs");
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
};
/** Names of files and folders: none begins with a dot, so no path leaves the folder. */
const PATH = /^[\w@-][\w@.-]*(?:\/[\w@-][\w@.-]*)*$/;
/** The names of these files contain a digest of their contents. */
const IMMUTABLE = { "Cache-Control": "public, max-age=31536000, immutable" };
const NOT_BUILT =
  "This copy of standin contains no built documentation. Run `npm run docs` in the clone, or read docs/index.md.\n";

/** The documentation at /docs/. It contains nothing of a world, and needs no token. */
export function docsPages(folder: string = FOLDER, sources: string = SOURCES): Hono {
  const app = new Hono();
  app.get("/llms.txt", (context) => context.redirect("docs/llms.txt"));
  app.get("/docs", (context) => context.redirect("docs/"));
  app.get("/docs/*", async (context, next) => {
    const path = context.req.path.slice("/docs/".length) || "index.html";
    if (!PATH.test(path)) return next();
    const name = extname(path) === "" ? `${path}.html` : path;
    const content = await contentOf(join(extname(name) === ".md" ? sources : folder, name));
    const type = TYPES[extname(name)];
    if (content === undefined || type === undefined)
      return path === "index.html" ? context.text(NOT_BUILT, 404) : next();
    const caching = name.startsWith("assets/") ? IMMUTABLE : {};
    return context.body(content, 200, { ...PAGE_HEADERS, ...caching, "Content-Type": type });
  });
  return app;
}

/** `undefined` if there is no such file. */
async function contentOf(file: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await readFile(file));
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes((error as NodeJS.ErrnoException).code ?? ""))
      return undefined;
    throw error;
  }
}

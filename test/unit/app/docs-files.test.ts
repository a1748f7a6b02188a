import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { docsPages } from "../../../src/app/docs-files.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

/** A server of a folder with these files, and a secret beside it. */
function docsOf(files: Readonly<Record<string, string>>) {
  const { path } = temporaryDirectory();
  const [folder, sources] = [join(path, "docs"), join(path, "sources")];
  for (const pages of [folder, sources]) mkdirSync(join(pages, "reference"), { recursive: true });
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(path, "secret.html"), "secret");
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(name.endsWith(".md") ? sources : folder, name), content);
  return docsPages(folder, sources);
}

test("files of the documentation are served with their types, those in Markdown from their own folder, and a strict policy", async () => {
  const app = docsOf({
    "index.html": "<h1>Documentation</h1>",
    "reference/faults.html": "<h1>Faults</h1>",
    "reference/faults.md": "# Faults",
    "assets/app.12345678.js": "export {}",
    "assets/@index.12345678.js": "export {}",
  });
  expect((await app.request("/docs")).headers.get("location")).toBe("docs/");
  for (const [path, type, caching] of [
    ["/docs/", "text/html; charset=utf-8", "no-cache"],
    ["/docs/reference/faults", "text/html; charset=utf-8", "no-cache"],
    ["/docs/reference/faults.html", "text/html; charset=utf-8", "no-cache"],
    ["/docs/reference/faults.md", "text/markdown; charset=utf-8", "no-cache"],
    ["/docs/assets/app.12345678.js", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"],
    [
      "/docs/assets/@index.12345678.js",
      "text/javascript; charset=utf-8",
      "public, max-age=31536000, immutable",
    ],
  ] as const) {
    const response = await app.request(path);
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.headers.get("content-type")).toBe(type);
    expect(response.headers.get("cache-control")).toBe(caching);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  }
});

test.each([
  "/docs/../secret.html",
  "/docs/%2e%2e/secret.html",
  "/docs/..%2fsecret.html",
  "/docs/reference/../../secret.html",
  "/docs//etc/passwd",
  "/docs/reference",
  "/docs/.hidden.html",
  "/docs/a%00b.html",
])("no path leads out of the folder: %s", async (path) => {
  const app = docsOf({ "index.html": "", ".hidden.html": "" });
  const response = await app.fetch({
    method: "GET",
    url: `http://127.0.0.1${path}`,
    headers: new Headers(),
  } as Request);
  expect(response.status).toBe(404);
});

test("where the documentation was not built, its address says how to build it", async () => {
  const response = await docsOf({}).request("/docs/");
  expect(response.status).toBe(404);
  expect(await response.text()).toContain("npm run docs");
});

import { createServer } from "node:http";

export type InProcessOptions = {
  readonly target: "standin" | "standin without a socket" | "bare server";
  readonly package: string;
  readonly calls: number;
};

export type InProcessResult = {
  readonly importMs: number;
  readonly firstMs: number;
  /** Excludes the first call. */
  readonly laterMs: readonly number[];
};

type Closable = { close(): unknown };
type Package = { createStandin(options?: { port?: number | false }): Promise<Closable> };

const options = JSON.parse(process.argv[2] ?? "") as InProcessOptions;
const [create, importMs] = await timed(load);
const [first, firstMs] = await timed(create);
await first.close();
const laterMs: number[] = [];
for (let call = 0; call < options.calls; call += 1) {
  const [created, ms] = await timed(create);
  laterMs.push(ms);
  await created.close();
}
const result: InProcessResult = { importMs, firstMs, laterMs };
process.stdout.write(`${JSON.stringify(result)}\n`);

async function load(): Promise<() => Promise<Closable>> {
  if (options.target === "bare server") return listen;
  const { createStandin } = (await import(options.package)) as Package;
  return () => createStandin(options.target === "standin" ? {} : { port: false });
}

function listen(): Promise<Closable> {
  return new Promise((resolve) => {
    const server = createServer((_, response) => response.end("{}")).listen(0, "127.0.0.1", () =>
      resolve(server),
    );
  });
}

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const startedAt = performance.now();
  const done = await work();
  return [done, performance.now() - startedAt];
}

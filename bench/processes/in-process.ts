import { createServer } from "node:http";

/** What a test makes in its process: a double with or without a socket, or a server that does nothing. */
export type InProcessOptions = {
  readonly makes: "double" | "double without a socket" | "bare server";
  readonly package: string;
  readonly calls: number;
};

export type InProcessResult = {
  readonly importMs: number;
  readonly firstMs: number;
  /** Of each call after the first. */
  readonly laterMs: readonly number[];
};

type Closed = { close(): unknown };
type Package = { createStandin(options?: { port?: number | false }): Promise<Closed> };

const options = JSON.parse(process.argv[2] ?? "") as InProcessOptions;
const [make, importMs] = await timed(load);
const [first, firstMs] = await timed(make);
await first.close();
const laterMs: number[] = [];
for (let call = 0; call < options.calls; call += 1) {
  const [created, ms] = await timed(make);
  laterMs.push(ms);
  await created.close();
}
const result: InProcessResult = { importMs, firstMs, laterMs };
process.stdout.write(`${JSON.stringify(result)}\n`);

async function load(): Promise<() => Promise<Closed>> {
  if (options.makes === "bare server") return listen;
  const { createStandin } = (await import(options.package)) as Package;
  return () => createStandin(options.makes === "double" ? {} : { port: false });
}

function listen(): Promise<Closed> {
  return new Promise((listening) => {
    const server = createServer((_, response) => response.end("{}")).listen(0, "127.0.0.1", () =>
      listening(server),
    );
  });
}

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const startedAt = performance.now();
  const done = await work();
  return [done, performance.now() - startedAt];
}

// npm run fuzz -- --requests 10000000 --files 1000 --before-login 1000000 --seed 1
import { parseArgs } from "node:util";
import { fuzzBeforeLogin } from "./before-login.ts";
import { fuzz } from "./fuzz.ts";
import { fuzzReaders } from "./readers.ts";

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "200000" },
    files: { type: "string", default: "0" },
    "before-login": { type: "string", default: "0" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
  },
});
const [requests, files, seed] = [values.requests, values.files, values.seed].map(Number) as [
  number,
  number,
  number,
];
const beforeLogin = Number(values["before-login"]);
process.stdout.write(
  `npm run fuzz -- --requests ${requests} --files ${files} --before-login ${beforeLogin} --seed ${seed}\n`,
);
const startedAt = performance.now();
let shownAt = 0;
const interrupt = new AbortController();
process.once("SIGINT", () => interrupt.abort());
try {
  if (requests > 0) {
    const figures = await fuzz({
      requests,
      seed,
      budgets: true,
      signal: interrupt.signal,
      onProgress: (soFar) => {
        if (soFar.requests - shownAt < 100_000) return;
        shownAt = soFar.requests;
        process.stdout.write(`${JSON.stringify(soFar)}\n`);
      },
    });
    process.stdout.write(`${JSON.stringify(figures)}\n`);
  }
  if (files > 0 && !interrupt.signal.aborted)
    process.stdout.write(`${JSON.stringify(await fuzzReaders({ files, seed }))}\n`);
  if (beforeLogin > 0 && !interrupt.signal.aborted)
    process.stdout.write(
      `${JSON.stringify(
        await fuzzBeforeLogin({
          inputs: beforeLogin,
          seed,
          signal: interrupt.signal,
          onProgress: (soFar) => {
            if (soFar.inputs % 50_000 === 0) process.stdout.write(`${JSON.stringify(soFar)}\n`);
          },
        }),
      )}\n`,
    );
  if (interrupt.signal.aborted) process.stdout.write("interrupted: ");
  process.stdout.write(`no finding in ${Math.round((performance.now() - startedAt) / 1_000)} s\n`);
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

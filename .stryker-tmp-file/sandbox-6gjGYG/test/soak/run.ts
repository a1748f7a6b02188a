// @ts-nocheck
// npm run soak -- --minutes 60
import { parseArgs } from "node:util";
import { describeGrowth, growthAfterWarmUp, isGrowing } from "./growth.ts";
import { soak } from "./soak.ts";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "60" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes: expected a positive number, got "${values.minutes}"`);
const MIB = 1024 ** 2;
let answered = 0;
const samples = await soak({
  minutes,
  onSample: ({ minute, rssBytes, heapBytes, descriptors, fileBytes }, requests) => {
    answered = requests;
    const mib = (bytes: number) => (bytes / MIB).toFixed(1);
    process.stdout.write(
      `minute ${minute.toFixed(1)}: ${requests} requests, RSS ${mib(rssBytes)} MiB, heap ${mib(heapBytes)} MiB, ${descriptors} descriptors, files ${mib(fileBytes)} MiB\n`,
    );
  },
});
const growths = growthAfterWarmUp(samples);
process.stdout.write(`${minutes} minutes, ${answered} requests\n${growths.map(describeGrowth).join("\n")}\n`);
process.exitCode = growths.some(isGrowing) ? 1 : 0;

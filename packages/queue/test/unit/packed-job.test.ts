import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { queueHost } from "../../../../src/cli/queue/queue-host.ts";
import { prepareJobs, type TitledJob } from "../../../../src/cli/run/prepare-jobs.ts";
import { temporaryDirectory } from "../../../../test/support/process/process.ts";
import { JobPacker } from "../../src/packed-job.ts";
import { JobUnpacker, MissingFile } from "../../src/unpack-job.ts";

const HOST = queueHost();
const CSV = "endpoint,at\na,2026-01-01T00:00:00Z\na,2026-01-01T00:00:01Z\n";

function temporary(): string {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  mkdirSync(path, { recursive: true });
  return path;
}

/** The runs of a scenario with a recording and the file of a world. */
async function jobsOf(options: { readonly seed?: number } = {}): Promise<readonly TitledJob[]> {
  const path = temporary();
  writeFileSync(join(path, "r.csv"), CSV);
  writeFileSync(join(path, "w.sqlite"), "a world");
  writeFileSync(
    join(path, "s.yaml"),
    [
      "version: 1",
      "matrix: { delay: [1, 2] }",
      `world: { start_delay: "\${delay}s", projects: { shop: {} } }`,
      "traffic: [{ name: r, to: shop/main, pattern: replay, file: r.csv }]",
      "length: 1m",
    ].join("\n"),
  );
  const jobs = await prepareJobs([join(path, "s.yaml")], options, new AbortController().signal);
  return jobs.map((job) => ({ ...job, needs: { ...job.needs, worldFile: join(path, "w.sqlite") } }));
}

test("a job is unpacked as it was packed, and its runs share the files", async () => {
  const jobs = await jobsOf();
  const packer = new JobPacker(HOST);
  const packed = jobs.map((job) => packer.pack(job, "1.0.0", "run"));
  expect(packer.files.size).toBe(3);
  let reads = 0;
  const directory = temporary();
  const unpacker = new JobUnpacker(
    async (digest) => {
      reads += 1;
      return packer.files.get(digest) ?? null;
    },
    { host: HOST, directory },
  );
  for (const [index, each] of packed.entries()) {
    if (each === undefined) throw new Error("not packed");
    const { job, release } = await unpacker.unpack(JSON.parse(JSON.stringify(each)));
    const { worldCopy, temporaryRoot, isWithoutFiles, ...rest } = job;
    expect(isWithoutFiles).toBe(true);
    expect(temporaryRoot).toBe(directory);
    release();
    const { title: _, needs: __, target: ___, ...expected } = jobs[index] as TitledJob;
    expect(rest).toEqual(expected);
    expect(readFileSync(worldCopy ?? "", "utf8")).toBe("a world");
  }
  expect(reads).toBe(3);
});

test("the id depends on the build, the combination, the seed and the files, and not on the command", async () => {
  const [first, second] = await jobsOf();
  const [seeded] = await jobsOf({ seed: 7 });
  if (first === undefined || second === undefined || seeded === undefined) throw new Error("no jobs");
  const ids = [
    new JobPacker(HOST).pack(first, "1.0.0", "run"),
    new JobPacker(HOST).pack(first, "1.0.1", "run"),
    new JobPacker(HOST).pack(second, "1.0.0", "run"),
    new JobPacker(HOST).pack(seeded, "1.0.0", "run"),
    new JobPacker(HOST).pack({ ...first, text: `${first.text}\n` }, "1.0.0", "run"),
  ].map((job) => job?.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new JobPacker(HOST).pack(first, "1.0.0", "other")?.id).toBe(ids[0]);
});

test("a job whose world cannot be read is not packed, and one with a world in use is an error", async () => {
  const [job] = await jobsOf();
  if (job === undefined) throw new Error("no job");
  const worldFile = job.needs.worldFile ?? "";
  expect(
    new JobPacker(HOST).pack({ ...job, needs: { sql: false, worldFile: "/no/such" } }, "1.0.0", "run"),
  ).toBe(undefined);
  writeFileSync(`${worldFile}-wal`, "");
  expect(() => new JobPacker(HOST).pack(job, "1.0.0", "run")).toThrow(/is in use; make a copy/);
});

test("a missing or damaged file is an error", async () => {
  const [job] = await jobsOf();
  const packed = job === undefined ? undefined : new JobPacker(HOST).pack(job, "1.0.0", "run");
  if (packed === undefined) throw new Error("not packed");
  await expect(
    new JobUnpacker(async () => null, { host: HOST, directory: temporary() }).unpack(packed),
  ).rejects.toThrow(MissingFile);
});

test("worlds beyond the limit are removed from the disk when no job uses them", async () => {
  const [job] = await jobsOf();
  if (job === undefined) throw new Error("no job");
  const packer = new JobPacker(HOST);
  const packedWith = (content: string) => {
    const worldFile = join(temporary(), "w.sqlite");
    writeFileSync(worldFile, content);
    const packed = packer.pack({ ...job, needs: { ...job.needs, worldFile } }, "1.0.0", "run");
    if (packed === undefined) throw new Error("not packed");
    return packed;
  };
  const [a, b, c] = [packedWith("world a"), packedWith("world b"), packedWith("world c")];
  const directory = temporary();
  const unpacker = new JobUnpacker(async (digest) => packer.files.get(digest) ?? null, {
    host: { ...HOST, limits: { ...HOST.limits, retained: 1 } },
    directory,
  });
  const worlds = () => readdirSync(directory).map((name) => readFileSync(join(directory, name), "utf8"));
  const first = await unpacker.unpack(a);
  const again = await unpacker.unpack(a);
  const second = await unpacker.unpack(b);
  expect(worlds().sort()).toEqual(["world a", "world b"]);
  first.release();
  second.release();
  const third = await unpacker.unpack(c);
  expect(worlds().sort()).toEqual(["world a", "world c"]);
  again.release();
  third.release();
  (await unpacker.unpack(b)).release();
  expect(worlds()).toEqual(["world b"]);
});

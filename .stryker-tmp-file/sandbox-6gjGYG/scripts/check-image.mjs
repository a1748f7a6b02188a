// @ts-nocheck
// Checks the image recipe and runs its steps in a temporary directory, without a container engine: the stages
// become directories, and the health check is asked from outside the image. `--lint` only checks the recipe.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const PORT = "14620";
const HEALTH_TRIES = 50;

const stages = parseStages(readFileSync("Dockerfile", "utf8"));
lint(stages);
process.stdout.write(`Dockerfile: ${stages.length} stages, no problems\n`);
if (!process.argv.includes("--lint")) await runSteps(stages);

/** The instructions of each stage: `{ name, steps: [{ instruction, text }] }`. */
function parseStages(recipe) {
  const found = [];
  for (const line of recipe.replaceAll(/\\\n\s*/g, "").split("\n")) {
    const [, instruction, text = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (instruction === "FROM") found.push({ base: text, name: / AS (\w+)$/.exec(text)?.[1], steps: [] });
    else if (instruction !== undefined) found.at(-1).steps.push({ instruction, text });
    else if (line !== "" && !line.startsWith("#")) throw new Error(`Dockerfile: cannot read ${line}`);
  }
  return found;
}

function lint(all) {
  const problems = [];
  const require = (isTrue, problem) => isTrue || problems.push(problem);
  const last = all.at(-1);
  const texts = (instruction) =>
    last.steps.filter((step) => step.instruction === instruction).map(({ text }) => text);
  require(all.length > 1, "the build must have a stage of its own");
  for (const { base } of all) require(/^node:\d+-\w+/.test(base), `${base}: the version must be given`);
  require(texts("USER").length === 1 &&
    !/^(root|0)\b/.test(texts("USER")[0]), "the last USER must not be root");
  require(texts("VOLUME").length === 1, "there must be a VOLUME");
  require(texts("HEALTHCHECK").length === 1, "there must be a HEALTHCHECK");
  require(texts("ENTRYPOINT")[0]?.startsWith(
    "[",
  ), "ENTRYPOINT must be a list, so that signals reach the server");
  require(!all.some(({ steps }) =>
    steps.some(({ instruction, text }) => instruction === "COPY" && /^\. /.test(text)),
  ), "COPY must name what it copies");
  require(!/TOKEN|KEY|PASSWORD|SECRET/.test(
    texts("ENV").concat(texts("ARG")).join(" "),
  ), "the image must not contain a secret");
  if (problems.length > 0) throw new Error(`Dockerfile:\n${problems.join("\n")}`);
}

async function runSteps(all) {
  const root = mkdtempSync(join(tmpdir(), "standin-image-"));
  try {
    const env = { ...process.env };
    for (const [index, { name, steps }] of all.entries()) {
      const stage = join(root, name ?? String(index));
      let directory = stage;
      mkdirSync(stage);
      for (const { instruction, text } of steps) {
        process.stdout.write(`${name ?? "image"}: ${instruction} ${text}\n`);
        if (instruction === "WORKDIR") {
          directory = join(stage, text);
          mkdirSync(directory, { recursive: true });
        } else if (instruction === "ENV")
          for (const pair of text.split(" ")) env[pair.split("=")[0]] = pair.slice(pair.indexOf("=") + 1);
        else if (instruction === "COPY") copy(root, directory, text);
        // The directories and users of the image do not exist here.
        else if (instruction === "RUN")
          execFileSync("sh", ["-c", text.split(" && ")[0]], { cwd: directory, env, stdio: "inherit" });
      }
      if (index === all.length - 1) await checkHealth(steps, stage, env);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function copy(root, directory, text) {
  const [, from, paths] = /^(?:--from=(\w+) )?(.*)$/.exec(text);
  const all = paths.split(" ");
  const target = all.pop();
  for (const path of all) {
    const to = target === "./" ? join(directory, path) : join(directory, target);
    mkdirSync(dirname(to), { recursive: true });
    cpSync(from === undefined ? path : join(root, from, path), to, { recursive: true });
  }
}

/** Starts the entry point with the environment of the image until its health check succeeds. */
async function checkHealth(steps, stage, imageEnv) {
  const list = (instruction) => {
    const { text } = steps.find((step) => step.instruction === instruction);
    return JSON.parse(text.slice(text.indexOf("[")));
  };
  const env = {
    ...imageEnv,
    STANDIN_PORT: PORT,
    STANDIN_DATA: join(stage, "data"),
    STANDIN_CONTROL_TOKEN: "token-of-the-check",
  };
  const [node, program, ...rest] = [...list("ENTRYPOINT"), ...list("CMD")];
  const server = spawn(node, [join(stage, program), ...rest], { env, stdio: "inherit" });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  try {
    const [check, ...args] = list("HEALTHCHECK");
    for (let tries = 1; ; tries += 1) {
      try {
        execFileSync(check, args, { env });
        break;
      } catch (error) {
        if (tries === HEALTH_TRIES || server.exitCode !== null) throw error;
        await sleep(200);
      }
    }
  } finally {
    server.kill("SIGTERM");
  }
  const code = await ended;
  if (code !== 0) throw new Error(`the server stopped with code ${code}`);
  process.stdout.write("image: healthy, and stopped with code 0\n");
}

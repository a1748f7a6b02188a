import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { freePort } from "../../support/process/ports.ts";
import { spawnCommand } from "../../support/process/process.ts";
import { hasProgram } from "../../support/process/programs.ts";
import { openEventStream } from "../../support/server/event-stream.ts";
import {
  type RunningServer,
  serverClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";

const TOKEN = "token-of-both-cells";
const KEY = "key-of-both-cells";
const RECIPES = join(import.meta.dirname, "../../../deploy/cells");

type Router = {
  readonly program: string;
  readonly file: string;
  readonly args: (config: string) => readonly string[];
  /** Enters that the world is at cell b; returns the command that makes the router read it. */
  readonly moveToB: (directory: string, config: string, world: string) => readonly string[];
};

const ROUTERS: readonly Router[] = [
  {
    program: "nginx",
    file: "nginx.conf",
    args: (config) => ["-c", config, "-g", "daemon off; error_log stderr; pid nginx.pid;"],
    moveToB(directory, config, world) {
      writeFileSync(join(directory, "moved.conf"), `${world} cell-b;\n`);
      return [
        "nginx",
        "-c",
        config,
        "-p",
        directory,
        "-g",
        "error_log stderr; pid nginx.pid;",
        "-s",
        "reload",
      ];
    },
  },
  {
    program: "haproxy",
    file: "haproxy.cfg",
    args: (config) => ["-f", config],
    moveToB: (directory, _, world) => [
      ...["bash", "-c"],
      `exec 3<>/dev/tcp/127.0.0.1/$(cat ${directory}/admin-port) && echo "add map ${directory}/moved.map ${world} cell-b" >&3 && cat <&3`,
    ],
  },
  {
    program: "caddy",
    file: "Caddyfile",
    args: (config) => ["run", "--adapter", "caddyfile", "--config", config],
    moveToB(_, config, world) {
      const text = readFileSync(config, "utf8");
      writeFileSync(
        config,
        text.replace(`@moved-to-b path_regexp ^/w/(none)`, `@moved-to-b path_regexp ^/w/(${world})`),
      );
      return [
        "caddy",
        "reload",
        "--adapter",
        "caddyfile",
        "--config",
        config,
        "--address",
        /admin (\S+)/.exec(text)?.[1] ?? "",
      ];
    },
  },
];

const startCell = (cell: string) =>
  startServer(
    testDirectory(),
    ["--cell", cell, "--clock", "manual", "--seed", "1", "--pg-port", "none", "--api-key", KEY],
    {
      controlToken: TOKEN,
      env: { STANDIN_CONTROL_TOKEN: TOKEN },
    },
  );

test.each(ROUTERS)(
  "$program spreads worlds over cells by their names, and follows a world that moves",
  async (router) => {
    if (!hasProgram(router.program)) return;
    const cells = await Promise.all([startCell("a"), startCell("b")]);
    const { origin, moveToB } = await startRouter(router, cells);
    const world = (name: string) =>
      serverClient(
        { ...cells[0].ready, api_url: `${origin}/w/${name}/api/v2`, control_url: `${origin}/w/${name}/_sim` },
        KEY,
        TOKEN,
      );
    const cellOf = async (name: string) => {
      const { headers } = await world(name).api("GET", "/projects");
      return headers.get("standin-cell");
    };

    // Names that no world has yet. With so many, a hash that works selects each cell at least twice.
    const some = Array.from({ length: 64 }, (_, index) => `team-${index}`);
    const places = await Promise.all(some.map(cellOf));
    const namesOn = (cell: string) => some.filter((_, index) => places[index] === cell).slice(0, 2);
    const [onA, onB] = [namesOn("a"), namesOn("b")];
    expect([onA.length, onB.length]).toEqual([2, 2]);
    for (const name of [...onA, ...onB]) {
      const { status, body } = await world(name).sim("PUT", "/world", {});
      expect([status, body.world.api_url]).toEqual([200, `${origin}/w/${name}/api/v2`]);
    }
    for (const [index, names] of [onA, onB].entries()) {
      const { body } = await (cells[index] as RunningServer).sim("GET", "/worlds");
      expect(body.worlds.map(({ name }: { name: string }) => name).sort()).toEqual(
        ["default", ...names].sort(),
      );
    }

    const stream = await openEventStream(`${origin}/w/${onA[0]}/_sim/events/stream`, {
      Authorization: `Bearer ${TOKEN}`,
    });
    await world(onA[0] as string).api("POST", "/api_keys", { key_name: "seen at once" });
    await stream.until(({ data }) => data.api_key?.name === "seen at once");

    const team = onA[1] as string;
    await world(team).api("POST", "/projects", { project: { name: "taken along" } });
    const [from, to] = cells.map(({ ready }) => new URL(ready.api_url).origin) as [string, string];
    const moved = await runStandin(["worlds", "move", team, "--url", from, "--to", to], {
      STANDIN_CONTROL_TOKEN: TOKEN,
    });
    expect([moved.code, moved.stderr]).toEqual([0, ""]);
    expect((await world(team).api("GET", "/projects")).status).toBe(503);
    await moveToB(team);
    // A router that reads its configuration again may close connections.
    const ask = () =>
      world(team)
        .api("GET", "/projects")
        .catch(() => undefined);
    let answer = await ask();
    for (; answer === undefined || answer.status === 503; answer = await ask()) await sleep(20);
    expect([answer.headers.get("standin-cell"), answer.body.projects]).toMatchObject([
      "b",
      [{ name: "taken along" }],
    ]);
  },
  30_000,
);

/** Starts a router with its recipe, in which only the addresses and directories are others. */
async function startRouter(router: Router, cells: readonly RunningServer[]) {
  const directory = testDirectory();
  mkdirSync(join(directory, "logs"));
  const [port, adminPort] = [await freePort(), await freePort()];
  const [a, b] = cells.map(({ ready }) => new URL(ready.api_url).host);
  const text = readFileSync(join(RECIPES, router.file), "utf8")
    .replaceAll("10.0.0.11:4620", a as string)
    .replaceAll("10.0.0.12:4620", b as string)
    .replaceAll(/0\.0\.0\.0:8080|(?<=:\/\/):8080/g, `127.0.0.1:${port}`)
    .replaceAll("localhost:2019", `127.0.0.1:${adminPort}`)
    .replaceAll("socket /run/standin-haproxy.sock mode 600", `socket ipv4@127.0.0.1:${adminPort}`)
    .replaceAll("/etc/standin", directory);
  const config = join(directory, router.file);
  writeFileSync(config, text);
  writeFileSync(join(directory, "admin-port"), String(adminPort));
  for (const file of ["moved.conf", "moved.map"]) writeFileSync(join(directory, file), "");
  const args = router.program === "nginx" ? ["-p", directory, ...router.args(config)] : router.args(config);
  const running = spawnCommand([router.program, ...args], { HOME: directory });
  onTestFinished(async () => {
    await running.kill("SIGTERM");
  });
  const origin = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(`${origin}/_sim/health/live`).then(
      ({ ok }) => ok,
      () => false,
    );
  let hasEnded = false;
  void running.ended.then(() => {
    hasEnded = true;
  });
  while (!(await isUp())) {
    if (hasEnded) throw new Error(`${router.program} has ended: ${running.stderr()}`);
    await sleep(20);
  }
  return {
    origin,
    async moveToB(world: string) {
      const reload = spawnCommand(router.moveToB(directory, config, world), { HOME: directory });
      expect([await reload.ended, reload.stderr()]).toEqual([0, expect.any(String)]);
    },
  };
}

import { cpSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Progress } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { startCommand } from "../environment/servers.ts";
import { LARGE_HEAP, type SimulatedWorld, smallWorld, worldOf } from "../environment/simulated-world.ts";
import { type Figure, median, plainFigure } from "../figure.ts";

const WORLD = "team";
const CLIENTS = 4;
/** Requests before and after a move, so that the gap of a move stands out. */
const AROUND_MS = 300;

/** The longest time without a successful write, and the whole time of the move. */
type MoveMeasurement = { readonly gapMs: number; readonly moveMs: number; readonly megabytes: number };

/** Measures how long writes wait while a world moves between two servers and back. */
export async function moveFigures(environment: BenchEnvironment, progress: Progress): Promise<Figure[]> {
  const worlds = environment.quick
    ? [await smallWorld(environment)]
    : [await smallWorld(environment), await worldOf(environment, 1_000), await worldOf(environment, 10_000)];
  const figures: Figure[] = [];
  for (const world of worlds) {
    progress(`moves of ${world.title}`);
    const moves = await measureMoves(environment, world, environment.quick ? 2 : 8);
    const gaps = moves.map(({ gapMs }) => gapMs);
    const [first] = moves;
    figures.push(
      plainFigure(
        `move of ${world.title}, ${first?.megabytes.toFixed(1)} MB`,
        "ms",
        median(moves.map(({ moveMs }) => moveMs)),
      ),
      plainFigure("  longest wait of a write, median", "ms", median(gaps)),
      plainFigure("  longest wait of a write, slowest move", "ms", Math.max(...gaps), {
        of: "value",
        atMost: 1_000,
      }),
    );
  }
  return figures;
}

async function measureMoves(
  environment: BenchEnvironment,
  { data }: SimulatedWorld,
  rounds: number,
): Promise<MoveMeasurement[]> {
  const source = environment.directory();
  cpSync(data, source, { recursive: true });
  const nodeOptions = [LARGE_HEAP];
  const more = ["--pg-port", "none"];
  const servers = [
    await startCommand(environment, source, { nodeOptions, more }),
    await startCommand(environment, environment.directory(), { nodeOptions, more }),
  ];
  const bases = servers.map(({ port }) => `http://127.0.0.1:${port}`);
  const [first = ""] = bases;
  await post(`${first}/_sim/worlds`, { name: WORLD });
  const { key } = (await post(`${first}/w/${WORLD}/_sim/api_keys`, { key_name: "load" })) as { key: string };
  const moves: MoveMeasurement[] = [];
  for (let round = 0; round < rounds; round += 1)
    moves.push(await measureMove(bases[round % 2] ?? "", bases[(round + 1) % 2] ?? "", key));
  for (const { child } of servers) await environment.stop(child);
  return moves;
}

async function measureMove(from: string, to: string, key: string): Promise<MoveMeasurement> {
  const { world } = (await (await fetch(`${from}/_sim/worlds/${WORLD}`)).json()) as {
    world: { size_bytes: number };
  };
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, () => longestGap(from, to, key, () => isOver));
  await sleep(AROUND_MS);
  const began = performance.now();
  await post(`${from}/_sim/worlds/${WORLD}/move`, { to });
  const moveMs = performance.now() - began;
  await sleep(AROUND_MS);
  isOver = true;
  const gapMs = Math.max(...(await Promise.all(clients)));
  return { gapMs, moveMs, megabytes: world.size_bytes / 1e6 };
}

/** Writes without a pause, to the other server as soon as this one answers 503, and returns the longest wait. */
async function longestGap(from: string, to: string, key: string, isOver: () => boolean): Promise<number> {
  let [base, longest] = [from, 0];
  for (let succeededAt = performance.now(); !isOver(); ) {
    const response = await fetch(`${base}/w/${WORLD}/api/v2/api_keys`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ key_name: "bench" }),
    });
    await response.arrayBuffer();
    if (response.ok) {
      const now = performance.now();
      longest = Math.max(longest, now - succeededAt);
      succeededAt = now;
    } else if (response.status === 503 || response.status === 404) base = base === from ? to : from;
    else throw new Error(`${base}: status ${response.status}`);
  }
  return longest;
}

async function post(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
  return response.json();
}

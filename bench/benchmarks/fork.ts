import type { Benchmark } from "../benchmark.ts";
import { comparedFigure, type Figure, median, plainFigure } from "../figure.ts";
import type { KeeperOptions, Kept } from "../processes/keeper.ts";
import { inRounds, pairs } from "../rounds.ts";
import type { Child } from "../stage/child.ts";
import { LARGE_HEAP, largeWorld, type SimulatedWorld, smallWorld } from "../stage/simulated-world.ts";
import { MIGRATIONS, type Stage } from "../stage/stage.ts";

/** What a keeper is asked to do. */
type Act = "copy" | "snapshot" | "fork" | "past" | "opening" | "commits" | "advance";

const LARGE_MS = 500;
const SMALL_MS = 20;

const elapsed = ({ elapsedMs }: Kept) => elapsedMs;
const pause = ({ pauseMs }: Kept) => pauseMs;

export const fork: Benchmark = {
  name: "fork",
  measures: "a snapshot and a fork of a large world and of a small one, against a bare copy of the file, and how long others wait",
  async run(stage, progress) {
    const large = await largeWorld(stage, progress);
    const keeper = await startKeeper(stage, large);
    const sides = sidesOf(keeper, ["copy", "snapshot", "fork", "commits", "advance"]);
    progress("warming up");
    await inRounds(1, sides, () => undefined);
    const rounds = await inRounds(stage.quick ? 1 : 5, sides, progress);
    progress("forks of the past, and the opening of forks");
    const late = await inRounds(stage.quick ? 1 : 3, sidesOf(keeper, ["past", "opening"]), () => undefined);
    await stage.stop(keeper);
    const plain = (figure: string, of: readonly number[]) => plainFigure(figure, "ms", median(of));
    const waited = (figure: string, side: "snapshot" | "fork" | "advance") =>
      comparedFigure(figure, "ms", "100 commits", pairs(rounds, side, "commits", pause));
    return [
      ...copied(large, rounds, LARGE_MS),
      waited("  longest pause in a snapshot", "snapshot"),
      waited("  longest pause in a fork", "fork"),
      waited("  longest pause in an advance", "advance"),
      plain(
        "  opening the fork, all of it a pause",
        late.map(({ opening }) => opening.elapsedMs),
      ),
      plain(
        "  fork of the past, at half of its events",
        late.map(({ past }) => past.elapsedMs),
      ),
      plain(
        "  longest pause in a fork of the past",
        late.map(({ past }) => past.pauseMs),
      ),
      ...(await smallFigures(stage, progress)),
    ];
  },
};

async function smallFigures(stage: Stage, progress: (step: string) => void): Promise<Figure[]> {
  const small = await smallWorld(stage);
  const keeper = await startKeeper(stage, small);
  const sides = sidesOf(keeper, ["copy", "snapshot", "fork"]);
  await inRounds(3, sides, () => undefined);
  progress("a small world");
  const rounds = await inRounds(stage.quick ? 3 : 25, sides, () => undefined);
  const openings = await inRounds(stage.quick ? 1 : 9, sidesOf(keeper, ["opening"]), () => undefined);
  await stage.stop(keeper);
  const opening = median(openings.map(({ opening }) => opening.elapsedMs));
  return [...copied(small, rounds, SMALL_MS), plainFigure("  opening the fork", "ms", opening)];
}

function copied({ title }: SimulatedWorld, rounds: readonly Record<"copy" | "snapshot" | "fork", Kept>[], atMost: number): Figure[] {
  const target = { of: "value", atMost } as const;
  return [
    comparedFigure(`snapshot, ${title}`, "ms", "bare copy", pairs(rounds, "snapshot", "copy", elapsed), target),
    comparedFigure(`fork, ${title}`, "ms", "bare copy", pairs(rounds, "fork", "copy", elapsed), target),
  ];
}

async function startKeeper(stage: Stage, { data }: SimulatedWorld): Promise<Child> {
  const options: KeeperOptions = { data, migrations: MIGRATIONS };
  return stage.start([LARGE_HEAP, stage.script("keeper"), JSON.stringify(options)]);
}

function sidesOf<Side extends Act>(keeper: Child, sides: readonly Side[]): Record<Side, () => Promise<Kept>> {
  return Object.fromEntries(sides.map((side) => [side, () => keeper.ask<Kept>(side)])) as Record<Side, () => Promise<Kept>>;
}

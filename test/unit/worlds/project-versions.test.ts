import { expect, test } from "vitest";
import type { HostedWorld } from "../../../src/worlds/hosted-world.ts";
import { allProjectVersions } from "../../../src/worlds/project-versions.ts";

type OpenWorld = Pick<HostedWorld, "isDormant" | "peek">;

const opened = (isDormant: boolean, projects: readonly object[]) =>
  ({
    isDormant,
    peek: () => ({ world: { projects: new Map(projects.map((project, id) => [String(id), project])) } }),
  }) as unknown as OpenWorld;

/** The files of the worlds `closed` and `damaged`. */
const storage = {
  worlds: () => ["closed", "damaged", "dormant", "open"],
  projectVersions: (name: string) => {
    if (name === "damaged") throw new Error("damaged.sqlite cannot be read");
    return name === "closed" ? [16, 17] : [15];
  },
};

test("versions of projects are those of all worlds that can be read, without deleted projects", async () => {
  const open = new Map([
    ["dormant", opened(true, [{ pgVersion: 14 }])],
    ["open", opened(false, [{ pgVersion: 17 }, { pgVersion: 18, deletedAt: 5 }])],
  ]);
  expect(await allProjectVersions(storage, open)).toEqual([16, 17, 15, 17]);
});

test("of a world whose projects cannot be read to the end, no version is counted", async () => {
  const { peek } = opened(false, []);
  const projects = {
    *values() {
      yield { pgVersion: 17 };
      throw new Error("a row is damaged");
    },
  };
  const partial = { isDormant: false, peek: () => ({ ...peek(), world: { projects } }) };
  const open = new Map([["open", partial as unknown as OpenWorld]]);
  expect(await allProjectVersions({ ...storage, worlds: () => ["closed", "open"] }, open)).toEqual([16, 17]);
});

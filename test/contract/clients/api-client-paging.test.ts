import { describe, expect, test } from "vitest";
import { startServedClient } from "../../support/server/served-client.ts";

// Reading all pages of a list with the public client: every element exactly once, for any page size.

const PROJECTS = 23;
const BRANCHES = 12;
const MOST_PAGES = 100;

const { client } = await startServedClient(["--operations", "immediate"]);
const projectIds: string[] = [];
for (let number = 0; number < PROJECTS; number += 1) {
  projectIds.push(
    (await client.createProject({ project: { name: `shop ${number % 2 === 0 ? "even" : "odd"}` } })).data
      .project.id,
  );
}
const projectId = projectIds[0] ?? "";
// Created at the same instant, so the sort has ties.
for (let number = 1; number < BRANCHES; number += 1) await client.createProjectBranch(projectId, {});

type Page = { readonly ids: readonly string[]; readonly next: string | undefined };

/** All ids of a list, page by page, to the last page. */
async function walk(
  pageAfter: (cursor: string | undefined) => Promise<Page>,
  between: () => Promise<unknown> = async () => undefined,
) {
  const ids: string[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page = await pageAfter(cursor);
    ids.push(...page.ids);
    if (page.next === undefined || page.ids.length === 0) return ids;
    cursor = page.next;
    await between();
  }
  throw new Error(`no end after ${MOST_PAGES} pages`);
}

const projectsBy = (limit: number, search?: string) => async (cursor: string | undefined) => {
  const { data } = await client.listProjects({
    limit,
    ...(cursor === undefined ? {} : { cursor }),
    ...(search === undefined ? {} : { search }),
  });
  return { ids: data.projects.map(({ id }) => id), next: data.pagination?.cursor };
};

const operationsBy =
  (limit: number, of = projectId) =>
  async (cursor: string | undefined) => {
    const { data } = await client.listProjectOperations({
      projectId: of,
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    });
    return { ids: data.operations.map(({ id }) => id), next: data.pagination?.cursor };
  };

type Sort = { readonly sort_by?: "name" | "created_at" | "updated_at"; readonly sort_order?: "asc" | "desc" };

const branchesBy =
  (limit: number, sort: Sort = {}) =>
  async (cursor: string | undefined) => {
    const { data } = await client.listProjectBranches({
      projectId,
      limit,
      ...sort,
      ...(cursor === undefined ? {} : { cursor }),
    });
    return { ids: data.branches.map(({ id }) => id), next: data.pagination?.next };
  };

describe.each([1, 2, 5, 22, 23, 24, 400])("in pages of %i", (limit) => {
  test("all projects are listed in the order of their creation", async () => {
    expect(await walk(projectsBy(limit))).toEqual(projectIds);
  });

  test("a search lists only matching projects", async () => {
    expect(await walk(projectsBy(limit, "odd"))).toEqual(projectIds.filter((_, index) => index % 2 === 1));
  });

  test("all operations are listed, newest first", async () => {
    const { operations } = (await client.listProjectOperations({ projectId, limit: 1000 })).data;
    // create_timeline, start_compute, and one operation per further branch.
    expect(operations).toHaveLength(2 + (BRANCHES - 1));
    expect(await walk(operationsBy(limit))).toEqual(operations.map(({ id }) => id));
  });

  test.each(
    (["name", "created_at", "updated_at"] as const).flatMap((sort_by) =>
      (["asc", "desc"] as const).map((sort_order) => ({ sort_by, sort_order })),
    ),
  )("all branches are listed by $sort_by $sort_order", async (sort) => {
    const { branches } = (await client.listProjectBranches({ projectId, ...sort })).data;
    expect(new Set(branches.map(({ id }) => id)).size).toBe(BRANCHES);
    const keys = branches.map((branch) => branch[sort.sort_by]);
    const sorted = [...keys].sort();
    expect(keys).toEqual(sort.sort_order === "asc" ? sorted : sorted.reverse());
    expect(await walk(branchesBy(limit, sort))).toEqual(branches.map(({ id }) => id));
  });
});

test("a page without a limit has 10 projects", async () => {
  expect((await client.listProjects({})).data.projects).toHaveLength(10);
});

test("every page of branches but an empty one carries a cursor", async () => {
  const { next } = await branchesBy(BRANCHES)(undefined);
  expect(next).toEqual(expect.any(String));
  expect(await branchesBy(BRANCHES)(next)).toEqual({ ids: [], next: undefined });
});

test("operations created between pages do not shift the pages", async () => {
  const other = (await client.createProject({ project: {} })).data;
  const before = await walk(operationsBy(1000, other.project.id));
  const restart = () => client.restartProjectEndpoint(other.project.id, other.endpoints[0]?.id ?? "");
  expect(await walk(operationsBy(1, other.project.id), restart)).toEqual(before);
});

test("projects deleted between pages do not hide others", async () => {
  const mine = [];
  for (let number = 0; number < 6; number += 1)
    mine.push((await client.createProject({ project: { name: "fleeting" } })).data.project.id);
  const left = [...mine];
  const deleteOldest = () => client.deleteProject(left.shift() ?? "");
  // After each page, one project that has been listed is deleted.
  expect(await walk(projectsBy(1, "fleeting"), deleteOldest)).toEqual(mine);
});

test("projects created between pages come last", async () => {
  const first = (await client.createProject({ project: { name: "growing" } })).data.project.id;
  const made: string[] = [];
  const make = async () => {
    if (made.length < 3)
      made.push((await client.createProject({ project: { name: "growing" } })).data.project.id);
  };
  expect(await walk(projectsBy(1, "growing"), make)).toEqual([first, ...made]);
});

import { expect, test } from "vitest";
import { createDouble, createProject, type Double } from "../support/double/double.ts";
import { openReleaseWorld } from "../support/double/release-world.ts";

/** The ids of a new project, of its branch and of its compute. */
async function newIds(double: Double, key?: string): Promise<string[]> {
  const { projectId, branchId, endpointId } = await createProject(double, {}, key);
  return [projectId, branchId, endpointId];
}

test.each(["0.1.0", "0.4.0"])("a world of release %s keeps ids that end in digits", async (release) => {
  const { stored, double, key } = await openReleaseWorld(release);
  expect(await newIds(double, key)).toEqual([
    expect.stringMatching(/^[a-z]+-[a-z]+-[1-9]\d{7}$/),
    expect.stringMatching(/^br-[a-z]+-[a-z]+-[1-9]\d{7}$/),
    expect.stringMatching(/^ep-[a-z]+-[a-z]+-[1-9]\d{7}$/),
  ]);
  for (const { differences } of await stored.verify("default")) expect(differences).toEqual([]);
});

test("ids of a new world end in characters of the region of their project", async () => {
  const double = await createDouble();
  expect(await newIds(double)).toEqual([
    expect.stringMatching(/^[a-z]+-[a-z]+-\d{8}$/),
    expect.stringMatching(/^br-[a-z]+-[a-z]+-a5[a-z0-9]{6}$/),
    expect.stringMatching(/^ep-[a-z]+-[a-z]+-a5[a-z0-9]{6}$/),
  ]);
});

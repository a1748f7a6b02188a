import { AUTHORIZATION, type Server } from "../environment/servers.ts";

const CALLS_AT_ONCE = 4;

/** Reads the pages of operations of these projects as a pull does, and only parses them. Resolves to their number. */
export async function readBarePages({ port }: Server, projects: readonly string[]): Promise<number> {
  const get = async (path: string) =>
    (await fetch(`http://127.0.0.1:${port}/api/v2${path}`, { headers: AUTHORIZATION })).json() as Promise<{
      operations: unknown[];
      pagination?: { cursor?: string };
    }>;
  const queue = [...projects];
  let operations = 0;
  const readNext = async () => {
    for (let project = queue.shift(); project !== undefined; project = queue.shift()) {
      await get(`/projects/${project}/endpoints`);
      for (let cursor = ""; ; ) {
        const page = await get(`/projects/${project}/operations?limit=1000${cursor}`);
        operations += page.operations.length;
        if (page.operations.length === 0 || page.pagination?.cursor === undefined) break;
        const next = `&cursor=${encodeURIComponent(page.pagination.cursor)}`;
        if (next === cursor) break;
        cursor = next;
      }
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, readNext));
  return operations;
}

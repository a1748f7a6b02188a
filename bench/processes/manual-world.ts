import { createApp } from "../../src/app/create-app.ts";
import { openWorlds } from "../../src/app/open-worlds.ts";
import { report } from "./report.ts";

type Storage = Parameters<typeof openWorlds>[0];
type Settings = Parameters<typeof openWorlds>[1];
export type ManualWorld = Awaited<ReturnType<typeof openManualWorld>>;

/** A world on a manual clock whose requests are answered in this process. */
export async function openManualWorld(storage: Storage, settings: Settings & { readonly apiKey: string }) {
  const clock = { mode: "manual", factor: 0 } as const;
  const { worlds, world } = await openWorlds(storage, { ...settings, clock }, report);
  const { fetch } = createApp({
    ...{ worlds, version: "bench", rateLimit: false, readsFirst: true, hosts: [], controlToken: undefined },
    onBug: report,
  });
  const headers = { Authorization: `Bearer ${settings.apiKey}` };
  return {
    world,
    /** A response that is not read. Rejects if it is no success. */
    async get(path: string): Promise<Response> {
      const response = await fetch(new Request(`http://127.0.0.1${path}`, { headers }));
      if (!response.ok) throw new Error(`GET ${path}: ${response.status}`);
      return response;
    },
  };
}

/** Creates projects, each with a branch and a compute, in one transaction. `first`: the number in the first name. */
export async function createProjects(
  { world }: Pick<ManualWorld, "world">,
  first: number,
  count: number,
): Promise<void> {
  await world.transact(({ world: { accounts }, execute }) => {
    const [account] = accounts.values();
    if (account === undefined) throw new Error("the world has no account");
    for (let one = first; one < first + count; one += 1) {
      const result = execute({ type: "CreateProject", accountId: account.id, name: `p${one}` });
      if (!result.ok) throw new Error(result.refusal.message);
    }
  });
}

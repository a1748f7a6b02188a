import { signal } from "@preact/signals";
import { control, platform } from "../client/request.ts";
import type { Branch, Clock, Compute, Project } from "../client/types.ts";
import { attempt } from "./notices.ts";
import { refreshAll } from "./refresh.ts";
import { accounts, clock, selection } from "./world.ts";

/** A world that the page fills in for a user who has nothing yet: what it has, and a day of traffic. */
type PreparedWorld = {
  readonly name: string;
  readonly about: string;
  readonly build: (builder: WorldBuilder) => Promise<void>;
};

const HOUR = 3_600_000;
const MINUTE = 60_000;
const DAY = 24 * HOUR;
/** Longer than any operation of a new project or branch takes. */
const SETTLE = "1m";

export const PREPARED_WORLDS: readonly PreparedWorld[] = [
  {
    name: "Shop",
    about: "A project with a preview branch, and visitors from 8 to 20 o'clock",
    async build(builder) {
      const { project, branch, endpoint } = await builder.project("shop");
      const preview = await builder.branch(project, "preview/checkout", branch);
      for (let hour = 8; hour < 20; hour += 1)
        for (const minute of [(hour * 7) % 60, (hour * 7 + 23) % 60]) builder.visit(endpoint, hour, minute);
      for (const hour of [9, 10, 14]) builder.visit(preview, hour, 12);
    },
  },
  {
    name: "Fleet",
    about: "Eight customers with a project each: one is busy all day, the others now and then",
    async build(builder) {
      for (let customer = 1; customer <= 8; customer += 1) {
        const { endpoint } = await builder.project(`customer-${customer}`);
        if (customer === 1)
          for (let minute = 0; minute < 24 * 60; minute += 4) builder.visit(endpoint, 0, minute);
        else
          for (let hour = customer; hour < 24; hour += customer) builder.visit(endpoint, hour, customer * 5);
      }
    },
  },
  {
    name: "Agent platform",
    about: "A branch for each of six tasks of agents, which expire after two days",
    async build(builder) {
      const { project, branch } = await builder.project("agents");
      for (let task = 1; task <= 6; task += 1) {
        const endpoint = await builder.branch(project, `task-${task}`, branch, 2 * DAY);
        for (let call = 0; call < 5; call += 1) builder.visit(endpoint, task * 2, call * 3);
      }
    },
  },
];

/** Whether a prepared world is being filled in. */
export const isPreparing = signal(false);

/** Fills the world, and lets a day pass. The mode of the clock stays. */
export async function openPrepared({ build }: PreparedWorld): Promise<void> {
  if (isPreparing.value) return;
  isPreparing.value = true;
  try {
    await attempt(async () => {
      const { mode, factor } = clock.value ?? (await control<Clock>("GET", "/clock"));
      await control("PUT", "/clock", { mode: "manual" });
      try {
        const builder = new WorldBuilder(accounts.value[0]?.id ?? "");
        await build(builder);
        await builder.letADayPass();
        selection.value = builder.first && { kind: "project", id: builder.first.id };
      } finally {
        if (mode !== "manual")
          await control("PUT", "/clock", mode === "scaled" ? { mode, factor } : { mode });
      }
    });
  } finally {
    isPreparing.value = false;
    refreshAll();
  }
}

class WorldBuilder {
  readonly #account: string;
  readonly #visits: { readonly endpoint: string; readonly after: number }[] = [];
  first: Project | undefined;

  constructor(account: string) {
    this.#account = account;
  }

  /** A project with its default branch, and the id of its compute. */
  async project(name: string) {
    const created = await platform<{ project: Project; branch: Branch; endpoints: readonly Compute[] }>(
      ...([this.#account, "POST", "/projects", { project: { name } }] as const),
    );
    this.first ??= created.project;
    await control("POST", "/clock/advance", { by: SETTLE });
    return { ...created, endpoint: created.endpoints[0]?.id ?? "" };
  }

  /** A branch with a compute, whose id it returns. */
  async branch(project: Project, name: string, parent: Branch, expiresAfter?: number): Promise<string> {
    const expires_at = expiresAfter && new Date((await instant()) + expiresAfter).toISOString();
    const created = await platform<{ endpoints: readonly Compute[] }>(
      ...([this.#account, "POST", `/projects/${project.id}/branches`] as const),
      {
        branch: { name, parent_id: parent.id, ...(expires_at === undefined ? {} : { expires_at }) },
        endpoints: [{ type: "read_write" }],
      },
    );
    await control("POST", "/clock/advance", { by: SETTLE });
    return created.endpoints[0]?.id ?? "";
  }

  /** A query of a client at this time of the day that begins when everything is created. */
  visit(endpoint: string, hour: number, minute: number): void {
    this.#visits.push({ endpoint, after: hour * HOUR + minute * MINUTE });
  }

  async letADayPass(): Promise<void> {
    const start = await instant();
    const activities = this.#visits.map(({ endpoint, after }) => ({
      endpoint_id: endpoint,
      at: new Date(start + after).toISOString(),
      duration_ms: 2_000,
    }));
    await control("POST", "/activity", activities);
    await control("POST", "/clock/advance", { to: new Date(start + DAY).toISOString() });
  }
}

async function instant(): Promise<number> {
  return Date.parse((await control<Clock>("GET", "/clock")).now);
}

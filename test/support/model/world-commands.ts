import fc from "fast-check";
import { expect } from "vitest";
import { advance } from "./clock.ts";
import { type Command, command } from "./model-command.ts";
import { pick } from "./platform-model.ts";

const SECOND = 1_000;
const jumpMs = fc.oneof(
  fc.constantFrom(
    1,
    500,
    SECOND,
    3 * SECOND,
    5 * SECOND,
    20 * SECOND,
    59_999,
    60 * SECOND,
    299_999,
    300 * SECOND,
    3_600 * SECOND,
  ),
  fc.integer({ min: 1, max: 8 * SECOND }),
  fc.integer({ min: 1, max: 8 * 86_400 * SECOND }),
);

export const advanceBy: fc.Arbitrary<Command> = jumpMs.map(advanceByMs);

export function advanceByMs(ms: number): Command {
  return command(
    `advance by ${ms} ms`,
    () => true,
    async (model, stage) => {
      const before = model.now;
      await advance(model, stage, { by: ms });
      expect(model.now).toBe(before + ms);
    },
  );
}

export const advanceToNext: fc.Arbitrary<Command> = fc.constant(
  command(
    "advance to what is due next",
    () => true,
    async (model, stage) => {
      const { body: clock } = await stage.double().sim("GET", "/clock");
      await advance(model, stage, { next: true });
      expect(model.now).toBe(Date.parse(clock.next_due ?? clock.now));
    },
  ),
);

/** Long enough for unfinished operations to finish, so that later commands are not all rejected. */
export const waitForOperations: fc.Arbitrary<Command> = fc.constant(
  command(
    "wait until operations are over",
    () => true,
    (model, stage) => advance(model, stage, { by: 20 * SECOND }),
  ),
);

export const createKey: fc.Arbitrary<Command> = fc.nat(1).map((owner) =>
  command(
    `create a key of account ${owner}`,
    ({ keys }) => keys.length < 5,
    async (model, stage) => {
      const account = pick(model.accounts, owner);
      const { status, body } = await stage
        .double()
        .api("POST", "/api_keys", { key_name: "another" }, account.key);
      expect(status).toBe(200);
      model.keys.push({ id: body.id, account, secret: body.key, revoked: false });
      expect((await stage.double().api("GET", "/projects", undefined, body.key)).status).toBe(200);
    },
  ),
);

export const revokeKey: fc.Arbitrary<Command> = fc.nat(9).map((index) =>
  command(
    `revoke key ${index}`,
    ({ keys }) => keys.length > 0,
    async (model, stage) => {
      const key = pick(model.keys, index);
      const { status, body } = await stage
        .double()
        .api("DELETE", `/api_keys/${key.id}`, undefined, key.account.key);
      expect(status).toBe(key.revoked ? 404 : 200);
      if (!key.revoked) expect(body).toMatchObject({ id: key.id, revoked: true });
      key.revoked = true;
      expect((await stage.double().api("GET", "/projects", undefined, key.secret)).status).toBe(401);
      const { body: listed } = await stage.double().api("GET", "/api_keys", undefined, key.account.key);
      expect(listed.map(({ id }: { id: number }) => id)).not.toContain(key.id);
    },
  ),
);

/** The process restarts and finds everything unchanged. */
export const reopen: fc.Arbitrary<Command> = fc.constant(
  command(
    "stop and start again",
    () => true,
    async (_, stage) => {
      const read = async (path: string) => (await stage.double().sim("GET", path)).body;
      const before = [await read("/state"), await read("/clock"), await read("/endpoints")];
      await stage.reopen?.();
      expect([await read("/state"), await read("/clock"), await read("/endpoints")]).toEqual(before);
    },
  ),
);

import { describe, test } from "vitest";
import { INSTALLATIONS } from "./installations.ts";
import { testOperations } from "./operations/test-operations.ts";

const older = INSTALLATIONS.slice(0, -1);

describe.each(older)("with Postgres $version,", (installation) => {
  testOperations(installation);
});

test.skipIf(older.length > 0)("this machine has a single version of Postgres", () => undefined);

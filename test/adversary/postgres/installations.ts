import { findInstallations } from "../../../src/postgres/installations/installation.ts";
import { engineUser } from "../../../src/postgres/machine/os-user.ts";

/** Every major version of Postgres of this machine. Each has other rules of who may do what. */
export const INSTALLATIONS = await findInstallations(undefined, engineUser());

/** By default, what does not depend on the version of Postgres is tested with the newest one only. */
export const isThorough = process.env["STANDIN_TEST_ADVERSARY"] === "all";

/** Those for tests of what standin does by itself. */
export const NEWEST = isThorough ? INSTALLATIONS : INSTALLATIONS.slice(-1);

import { expect, test } from "vitest";
import { unusedRules } from "../support/rules/rules.ts";

// One test file for all rules: they load the platform once, and share the record of the commands they use.
import "./world.rules.ts";
import "./account/access.rules.ts";
import "./account/account.rules.ts";
import "./account/api-key.rules.ts";
import "./account/organization.rules.ts";
import "./account/permission.rules.ts";
import "./account/spending-limit.rules.ts";
import "./account/transfer.rules.ts";
import "./project/project.rules.ts";
import "./project/change-project.rules.ts";
import "./project/recovery.rules.ts";
import "./project/removal.rules.ts";
import "./project/quota.rules.ts";
import "./project/jwks.rules.ts";
import "./project/vpc-endpoint.rules.ts";
import "./branch/branch.rules.ts";
import "./branch/change-branch.rules.ts";
import "./branch/delete-branch.rules.ts";
import "./branch/restore-branch.rules.ts";
import "./branch/role.rules.ts";
import "./branch/database.rules.ts";
import "./branch/learned-content.rules.ts";
import "./branch/branch-snapshot.rules.ts";
import "./branch/restore-snapshot.rules.ts";
import "./branch/service-record.rules.ts";
import "./compute/any-state.rules.ts";
import "./compute/compute.rules.ts";
import "./compute/change-compute.rules.ts";
import "./compute/compute-lifecycle.rules.ts";
import "./compute/autosuspend.rules.ts";
import "./compute/autoscaling.rules.ts";
import "./compute/activity.rules.ts";
import "./compute/scheduled-activity.rules.ts";
import "./compute/connections.rules.ts";
import "./compute/span.rules.ts";
import "./compute/sizes.rules.ts";
import "./compute/cache.rules.ts";
import "./operation.rules.ts";
import "./locks.rules.ts";
import "./lookup.rules.ts";
import "./fault.rules.ts";

test("every command and every kind of due work has a rule", () => {
  expect(unusedRules()).toEqual([]);
});

import { expect, test } from "vitest";
import { restrictedProjects } from "../../../src/platform/rules/project/vpc-endpoint.ts";
import {
  createOther,
  createShop,
  ORGANIZATION,
  SHOP,
  worldWithAccount,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import { type CommandOf, given, type Step } from "../../support/rules/rules.ts";

const assign: CommandOf<"AssignVpcEndpoint"> = {
  type: "AssignVpcEndpoint",
  organizationId: ORGANIZATION,
  regionId: "aws-us-east-2",
  vpcEndpointId: "vpce-1",
  label: "office",
};
const remove: CommandOf<"DeleteVpcEndpoint"> = {
  type: "DeleteVpcEndpoint",
  organizationId: ORGANIZATION,
  regionId: "aws-us-east-2",
  vpcEndpointId: "vpce-1",
};
const restrict: CommandOf<"RestrictProject"> = {
  type: "RestrictProject",
  ...SHOP,
  vpcEndpointId: "vpce-1",
  label: "office",
};
const unrestrict: CommandOf<"UnrestrictProject"> = {
  type: "UnrestrictProject",
  ...SHOP,
  vpcEndpointId: "vpce-1",
};

test("a VPC endpoint is assigned to an organization", () => {
  given(worldWithAccount())
    .when(assign)
    .then([
      {
        type: "RecordCreated",
        record: {
          kind: "organizationVpcEndpoint",
          scope: ORGANIZATION,
          fields: { vpcEndpointId: "vpce-1", regionId: "aws-us-east-2", label: "office" },
        },
      },
    ]);
});

test("assigning a VPC endpoint again changes its label", () => {
  given(worldWithAccount(), assign)
    .when({ ...assign, label: "branch office" })
    .then([{ type: "RecordUpdated", recordId: "record-1", fields: { label: "branch office" } }]);
});

test("VPC endpoints are refused in unknown regions and in regions of Azure", () => {
  given(worldWithAccount())
    .when({ ...assign, regionId: "mars-north-1" })
    .thenRefused("REGION_NOT_FOUND");
  given(worldWithAccount())
    .when({ ...assign, regionId: "azure-eastus2" })
    .thenRefused("REGION_NOT_SUPPORTED");
});

test("a deleted VPC endpoint is marked as removed and cannot be assigned again", () => {
  given(worldWithAccount(), assign)
    .when(remove)
    .then([{ type: "RecordUpdated", recordId: "record-1", fields: { label: "office", removed: true } }]);
  given(worldWithAccount(), assign, remove).when(assign).thenRefused("VPC_ENDPOINT_NOT_ALLOWED");
});

test("deleting a VPC endpoint lifts the restrictions of projects to it", () => {
  given(worldWithProject(), assign, restrict)
    .when(remove)
    .then([
      { type: "RecordUpdated", recordId: "record-1" },
      { type: "RecordDeleted", recordId: "record-2" },
    ]);
});

test("the restrictions stay while the endpoint is assigned in another region", () => {
  given(worldWithProject(), assign, { ...assign, regionId: "aws-us-east-1" }, restrict)
    .when(remove)
    .then([{ type: "RecordUpdated", recordId: "record-1" }]);
});

test("deleting an unknown VPC endpoint, or one of another region, is refused", () => {
  given(worldWithAccount()).when(remove).thenRefused("VPC_ENDPOINT_NOT_FOUND");
  given(worldWithAccount(), assign)
    .when({ ...remove, regionId: "aws-us-east-1" })
    .thenRefused("VPC_ENDPOINT_NOT_FOUND");
  given(worldWithAccount(), assign)
    .when({ ...remove, regionId: "mars-north-1" })
    .thenRefused("REGION_NOT_FOUND");
});

test("a project is restricted to a VPC endpoint of its organization", () => {
  given(worldWithProject(), assign)
    .when(restrict)
    .then([
      {
        type: "RecordCreated",
        record: {
          kind: "projectVpcEndpoint",
          scope: "shop",
          fields: { vpcEndpointId: "vpce-1", label: "office" },
        },
      },
    ]);
});

test("restricting a project to the same VPC endpoint again changes the label", () => {
  given(worldWithProject(), assign, restrict)
    .when({ ...restrict, label: "branch office" })
    .then([{ type: "RecordUpdated", recordId: "record-2", fields: { label: "branch office" } }]);
});

test("restricting a project to a VPC endpoint that its organization does not have is refused", () => {
  given(worldWithProject())
    .when(restrict)
    .thenRefused("VPC_ENDPOINT_NOT_ALLOWED", /assign it there first/);
  given(worldWithProject(), assign, remove).when(restrict).thenRefused("VPC_ENDPOINT_NOT_ALLOWED");
});

test("a restriction is lifted", () => {
  given(worldWithProject(), assign, restrict)
    .when(unrestrict)
    .then([{ type: "RecordDeleted", recordId: "record-2" }]);
});

test("lifting a restriction that does not exist is refused", () => {
  given(worldWithProject(), assign).when(unrestrict).thenRefused("VPC_ENDPOINT_NOT_FOUND");
});

test.each([restrict, unrestrict])("$type for a project of another account is refused", (command) => {
  given(worldWithProject(), createOther)
    .when({ ...command, accountId: "other" })
    .thenRefused("PROJECT_NOT_FOUND");
});

test.each([assign, remove])("$type in an unknown organization is refused", (command) => {
  given(worldWithAccount())
    .when({ ...command, organizationId: "org-unknown" })
    .thenRefused("ORGANIZATION_NOT_FOUND");
});

test("the projects that an endpoint restricts are those of the organization, oldest first", () => {
  const createBlog: Step = { ...createShop, id: "blog", branch: {}, compute: {} };
  const projects = (vpcEndpointId: string, ...steps: readonly Step[]) =>
    given(worldWithProject(), createBlog, assign, { ...assign, vpcEndpointId: "vpce-2" }, steps).asking(
      (world) => {
        const owner = world.accounts.get("owner");
        return owner && restrictedProjects(world, owner, vpcEndpointId).map(({ id }) => id);
      },
    );
  const restrictBlog = { ...restrict, projectId: "blog" };
  expect(projects("vpce-1")).toEqual([]);
  expect(projects("vpce-1", restrictBlog)).toEqual(["blog"]);
  expect(projects("vpce-1", restrictBlog, restrict)).toEqual(["shop", "blog"]);
  expect(projects("vpce-2", restrictBlog, restrict)).toEqual([]);
  expect(projects("vpce-1", restrict, restrictBlog, unrestrict)).toEqual(["blog"]);
});

test("deleting an endpoint ends its restrictions in the organization, and no others", () => {
  given(worldWithProject(), assign, { ...assign, vpcEndpointId: "vpce-2" }, restrict, {
    ...restrict,
    vpcEndpointId: "vpce-2",
  })
    .when(remove)
    .then([
      { type: "RecordUpdated", recordId: "record-1" },
      { type: "RecordDeleted", recordId: "record-3" },
    ]);
});

test("an endpoint that is assigned in another region keeps its restrictions", () => {
  given(worldWithProject(), assign, { ...assign, regionId: "aws-us-east-1" }, restrict)
    .when(remove)
    .then([{ type: "RecordUpdated", recordId: "record-1" }]);
});

export type Region = {
  readonly id: string;
  readonly name: string;
  readonly latitude: string;
  readonly longitude: string;
  /**
   * D: the first two characters of the last part of ids in the region: `ep-dawn-king-a527wlyu.us-east-2.aws…`.
   * Hosts of the region in public repositories have them. A: a region with more than one has the code of hosts
   * without the number of a cell.
   */
  readonly idCode: string;
};

/** S, D: regions named in public documents. The first one is the default. */
export const REGIONS: readonly Region[] = [
  { id: "aws-us-east-2", name: "AWS US East 2 (Ohio)", latitude: "39.96", longitude: "-83", idCode: "a5" },
  {
    id: "aws-us-east-1",
    name: "AWS US East 1 (N. Virginia)",
    latitude: "38.13",
    longitude: "-78.45",
    idCode: "ah",
  },
  {
    id: "aws-us-west-2",
    name: "AWS US West 2 (Oregon)",
    latitude: "46.15",
    longitude: "-123.88",
    idCode: "a6",
  },
  {
    id: "aws-eu-central-1",
    name: "AWS Europe Central 1 (Frankfurt)",
    latitude: "50",
    longitude: "8",
    idCode: "a2",
  },
  {
    id: "aws-eu-west-2",
    name: "AWS Europe West 2 (London)",
    latitude: "51.5",
    longitude: "-0.1",
    idCode: "ab",
  },
  {
    id: "aws-ap-southeast-1",
    name: "AWS Asia Pacific 1 (Singapore)",
    latitude: "1.37",
    longitude: "103.8",
    idCode: "a1",
  },
  {
    id: "aws-ap-southeast-2",
    name: "AWS Asia Pacific 2 (Sydney)",
    latitude: "-33.87",
    longitude: "151.2",
    idCode: "a7",
  },
  {
    id: "aws-sa-east-1",
    name: "AWS South America East 1 (São Paulo)",
    latitude: "-23.55",
    longitude: "-46.63",
    idCode: "ac",
  },
  {
    id: "azure-eastus2",
    name: "Azure East US 2 (Virginia)",
    latitude: "36.67",
    longitude: "-78.39",
    idCode: "a8",
  },
  {
    id: "azure-westus3",
    name: "Azure West US 3 (Arizona)",
    latitude: "33.45",
    longitude: "-112.07",
    idCode: "aa",
  },
  {
    id: "azure-gwc",
    name: "Azure Germany West Central (Frankfurt)",
    latitude: "50.11",
    longitude: "8.68",
    idCode: "a9",
  },
];

export function regionWithId(regionId: string): Region | undefined {
  return REGIONS.find((region) => region.id === regionId);
}

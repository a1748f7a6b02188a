import { expect, test } from "vitest";
import { createDouble } from "../../support/double/double.ts";

// D: the forms that the documentation of the IP allowlist shows.

const request = async (ips: readonly string[]) => {
  const double = await createDouble();
  return double.api("POST", "/projects", { project: { settings: { allowed_ips: { ips } } } });
};

test("IPv4 and IPv6 addresses, ranges and CIDR blocks are stored as given", async () => {
  const ips = [
    ...[
      "192.0.2.1",
      "0.0.0.0",
      "198.51.100.20-198.51.100.50",
      "198.51.100.9-198.51.100.10",
      "10.0.0.1-10.0.0.1",
    ],
    ...[
      "203.0.113.0/24",
      "0.0.0.0/0",
      "192.0.2.1/32",
      "2001:DB8:5432::/48",
      "::1",
      "::/0",
      "2001:db8::9-2001:db8::10",
      "::1/128",
    ],
  ];
  const { status, body } = await request(ips);
  expect([status, body.project.settings.allowed_ips.ips]).toEqual([201, ips]);
});

test.each([
  ["", "a", "localhost", "192.0.2", "192.0.2.256", "192.0.02.1", "192.0.2.1 ", "1.2.3.4,5.6.7.8"],
  [
    "203.0.113.0/33",
    "203.0.113.0/",
    "203.0.113.0/-1",
    "203.0.113.0/24/8",
    "::/129",
    "/24",
    "203.0.113.0/2.5",
  ],
  [
    "198.51.100.50-198.51.100.20",
    "2001:db8::2-2001:db8::1",
    "192.0.2.1-2001:db8::1",
    "192.0.2.1-",
    "-192.0.2.1",
    "1.1.1.1-1.1.1.2-1.1.1.3",
  ],
  ["192.0.2.0/24-192.0.3.0/24", "fe80::1%eth0", "2001:db8:::1", "[::1]"],
])(
  "invalid entries such as %j are rejected with their index, and no project is created",
  async (...wrong) => {
    for (const ip of wrong) {
      const { status, body } = await request(["192.0.2.1", ip]);
      expect([ip, status, body.message]).toEqual([
        ip,
        400,
        expect.stringMatching(/^project\.settings\.allowed_ips\.ips\.1: must be an IP address/),
      ]);
    }
  },
);

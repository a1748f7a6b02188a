import { BlockList, isIP, SocketAddress } from "node:net";

/** D: the forms that the documentation of the IP allowlist shows. */
export const IP_RANGE_RULE =
  "must be an IP address like 192.0.2.1, a range like 198.51.100.20-198.51.100.50 or a CIDR block like 203.0.113.0/24 or 2001:db8::/48";

/** An address, a range (both ends inclusive) or a CIDR block, IPv4 or IPv6. */
export function isIpRange(text: string): boolean {
  const [first = "", last, ...more] = text.split("-");
  if (more.length > 0) return false;
  if (last !== undefined) return isRange(first, last);
  const [address = "", prefix, ...rest] = text.split("/");
  if (rest.length > 0 || !isAddress(address)) return false;
  return (
    prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIP(address) === 4 ? 32 : 128))
  );
}

/** Excludes addresses with an interface (`fe80::1%eth0`), which have a meaning on one machine only. */
function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes("%");
}

function isRange(first: string, last: string): boolean {
  if (!isAddress(first) || !isAddress(last) || isIP(first) !== isIP(last)) return false;
  const family = isIP(first) === 4 ? "ipv4" : "ipv6";
  try {
    new BlockList().addRange(
      new SocketAddress({ address: first, family }),
      new SocketAddress({ address: last, family }),
    );
    return true;
  } catch {
    // `addRange` throws if the start is after the end.
    return false;
  }
}

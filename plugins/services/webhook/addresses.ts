/** Decides to which addresses webhooks may connect, when a connection is opened. A name that resolves to another
 *  address later is therefore checked again. */
import { lookup, type LookupAddress } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { allowedHostInvalid, webhookAddressRejected } from "./errors.ts";

/** The ranges of IPv4 that are not public: this network, private, shared, loopback, link-local, protocol assignments,
 *  documentation, former relays, benchmarks, multicast and reserved. */
const PRIVATE_IPV4: readonly (readonly [network: string, bits: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** The ranges of IPv6 that are not public: unspecified, loopback and embedded IPv4, translated IPv4, local translation,
 *  discard, Teredo, documentation, 6to4, segment routing, unique local, link-local, site-local and multicast. */
const PRIVATE_IPV6: readonly (readonly [network: string, bits: number])[] = [
  ["::", 96],
  ["::ffff:0:0:0", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 32],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
  ["5f00::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
];

/** The public prefix under which a network translates IPv4 addresses, and the length of the prefix. */
const TRANSLATED_PREFIX = "64:ff9b::";
const TRANSLATED_BITS = 96;

const buildPrivateRanges = (): BlockList => {
  const ranges = new BlockList();
  for (const [network, bits] of PRIVATE_IPV4) {
    ranges.addSubnet(network, bits, "ipv4");
    ranges.addSubnet(`${TRANSLATED_PREFIX}${network}`, TRANSLATED_BITS + bits, "ipv6");
  }
  for (const [network, bits] of PRIVATE_IPV6) ranges.addSubnet(network, bits, "ipv6");
  return ranges;
};

const privateRanges = buildPrivateRanges();

const includes = (ranges: BlockList, address: string): boolean =>
  ranges.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

/** The hosts that `webhookAllowedHosts` lists. */
interface AllowedHosts {
  readonly names: ReadonlySet<string>;
  readonly ranges: BlockList;
}

const HOST_NAME = /^[a-z0-9_](?:[a-z0-9_.-]{0,252})$/i; // `orders`, `orders.internal`

/** Returns the names and ranges of `WEBHOOK_ALLOWED_HOSTS`. @throws RelApiError `preset` */
const readAllowedHosts = (items: readonly string[]): AllowedHosts => {
  const names = new Set<string>();
  const ranges = new BlockList();
  for (const item of items) {
    const [network = "", bits, ...otherParts] = item.split("/");
    const version = isIP(network);
    const largest = version === 6 ? 128 : 32;
    if (version === 0) {
      if (bits !== undefined || !HOST_NAME.test(item)) throw allowedHostInvalid(item);
      names.add(item.toLowerCase());
    } else if (otherParts.length > 0 || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= largest)))
      throw allowedHostInvalid(item);
    else ranges.addSubnet(network, bits === undefined ? largest : Number(bits), version === 6 ? "ipv6" : "ipv4");
  }
  return { names, ranges };
};

/** The check of addresses for one client. */
interface AddressCheck {
  /** Checks a host that is an address, for which Node looks nothing up. @throws RelApiError `webhook-failed` */
  checkLiteral(host: string): void;
  /** Looks up the addresses of a name, without those that are rejected. */
  readonly lookup: LookupFunction;
}

/** Returns undefined if every address is allowed. @throws RelApiError `preset` @rule X-HTTP-4 */
export const createAddressCheck = (items: readonly string[]): AddressCheck | undefined => {
  if (items.includes("*")) return undefined;
  const allowedHosts = readAllowedHosts(items);
  const isAllowed = (address: string): boolean =>
    !includes(privateRanges, address) || includes(allowedHosts.ranges, address);
  return {
    checkLiteral: (host) => {
      if (isIP(host) !== 0 && !isAllowed(host)) throw webhookAddressRejected();
    },
    lookup: (host, options, callback) => {
      // `hints` and `family` come from the connection, and `all` lets it try several addresses.
      lookup(host, { ...options, all: true }, (error, foundAddresses: readonly LookupAddress[]) => {
        if (error !== null) return callback(error, []);
        const addresses = allowedHosts.names.has(host.toLowerCase())
          ? foundAddresses
          : foundAddresses.filter(({ address }) => isAllowed(address));
        const [first] = addresses;
        if (first === undefined) return callback(webhookAddressRejected(), []);
        if (options.all === true) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      });
    },
  };
};

import ipaddr from 'ipaddr.js';

/**
 * `public`: anybody's. `private`: this machine or a network of its owner's, where people do have servers.
 * `never`: where no server of anybody is: metadata services of clouds, link-local, what is translated into other addresses, reserved.
 */
export type AddressKind = 'public' | 'private' | 'never';

const PRIVATE = ['loopback', 'private', 'carrierGradeNat', 'uniqueLocal'];
/** Of IPv6 all that is given out to the public. */
const GIVEN_OUT = ipaddr.parseCIDR('2000::/3');
/** Metadata and key services of clouds at addresses that look like any other. */
const METADATA = ['100.100.100.200', '168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'].map((address) =>
  ipaddr.parse(address).toNormalizedString(),
);

/** Of an address as resolvers give it, without brackets. */
export function kindOfAddress(text: string): AddressKind {
  if (!ipaddr.isValid(text)) return 'never';
  // ::ffff:10.0.0.1 is 10.0.0.1.
  const address = ipaddr.process(text);
  if (METADATA.includes(address.toNormalizedString())) return 'never';
  const range = address.range();
  if (PRIVATE.includes(range)) return 'private';
  const isPublic = range === 'unicast' && (address.kind() === 'ipv4' || address.match(GIVEN_OUT));
  return isPublic ? 'public' : 'never';
}

const MAPPED_PREFIX = '::ffff:';
const IPV6_GROUPS = 8;

/**
 * The text Java gives a client's address: a slash, then IPv4 as usual, IPv6 as eight groups without leading zeros.
 *
 * @param address as Node tells it; undefined when the socket is gone already.
 *
 * Source: topology-and-admin 12.4 (ClientHost).
 */
export function clientHost(address: string | undefined): string {
  if (address === undefined) return '/';
  if (address.startsWith(MAPPED_PREFIX) && address.includes('.')) {
    return `/${address.slice(MAPPED_PREFIX.length)}`;
  }
  return address.includes(':') ? `/${expanded(address)}` : `/${address}`;
}

function expanded(address: string): string {
  const [front = '', back] = address.split('::');
  const head = front === '' ? [] : front.split(':');
  if (back === undefined) return head.join(':');
  const tail = back === '' ? [] : back.split(':');
  const zeros = new Array<string>(IPV6_GROUPS - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].join(':');
}

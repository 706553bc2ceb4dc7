/** Sender of a connection or request, as limits count it: an IPv4 address or an IPv6 network. */
import { isIPv6 } from 'node:net';

/**
 * Returns the IPv4 address, or the /64 network of an IPv6 address, because a program with one address of such a network
 * can use all of its addresses.
 */
export function senderOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  if (!isIPv6(plain)) return plain;
  const [front = '', back = ''] = plain.split('%')[0]!.split('::');
  const [first, last] = [front, back].map(part => part.split(':').filter(group => group !== ''));
  const zeros = Array.from({ length: Math.max(0, 8 - first!.length - last!.length) }, () => '0');
  return `${[...first!, ...zeros, ...last!]
    .slice(0, 4)
    .map(group => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

/** The sender behind an address of a connection, as limits count it. */
import { isIPv6 } from 'node:net';

/** The address, or its IPv6 network of 64 bits: a program that has one address of such a network has all of them. */
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

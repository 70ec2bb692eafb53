import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { metadataAddresses } from '../../../../src/core/net/blocked-targets.ts'
import { Policy } from '../../../../src/engine/egress/policy.ts'
import { HostResolver } from '../../../../src/engine/egress/host-resolver.ts'

const server = (...opened: string[]) => new Policy({ privateAllowed: false, opened })
const local = new Policy({ privateAllowed: true, opened: [] })

const allows = (policy: Policy, address: string) => policy.refusalOf(address) === undefined

const publicAddresses = [
  '93.184.216.34',
  '1.1.1.1',
  '8.8.8.8',
  '2606:2800:220:1:248:1893:25c8:1946',
  '2001:4860:4860::8888',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
  '2002:808:808::1',
]

const privateAddresses = [
  '0.0.0.0',
  '0.1.2.3',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.1.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:10.0.0.1',
  '::ffff:7f00:1',
  '::ffff:0:7f00:1',
  '64:ff9b::a00:1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::808:808',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2001:10::1',
  '2001:20::1',
  '2002:a00:1::1',
  '2002:7f00:1::',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
]

describe('a server', () => {
  test.each(publicAddresses)('reaches %s', (address) => expect(allows(server(), address)).toBe(true))
  test.each(privateAddresses)('does not reach %s', (address) => expect(allows(server(), address)).toBe(false))
  test.each(metadataAddresses)('does not reach %s, even where all ranges are opened', (address) => {
    expect(allows(server('0.0.0.0/0', '::/0'), address)).toBe(false)
  })

  test('reaches only the allowed private ranges, in any notation', () => {
    const policy = server('10.0.0.0/8', 'fd00::/16', '192.168.7.7')
    for (const address of [
      '10.0.0.1',
      '::ffff:10.9.9.9',
      '64:ff9b::a00:1',
      '2002:a00:1::1',
      'fd00::5',
      '192.168.7.7',
    ]) {
      expect(allows(policy, address), address).toBe(true)
    }
    for (const address of ['192.168.7.8', 'fd01::1', '127.0.0.1', '::1', '::a00:1']) {
      expect(allows(policy, address), address).toBe(false)
    }
  })

  test('reaches no invalid address', () => {
    for (const text of ['', 'localhost', '127.1', '0x7f.0.0.1', '1.2.3.4.5', '::g'])
      expect(allows(server(), text)).toBe(false)
  })
})

test('other engines reach all addresses except metadata services, also in IPv6 notation', () => {
  for (const address of [...publicAddresses, ...privateAddresses]) expect(allows(local, address), address).toBe(true)
  for (const address of [
    ...metadataAddresses,
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '::a9fe:a9fe',
    '::ffff:0:a9fe:a9fe',
    '2001:0:1:2:3:4:5601:5601',
    '2001:470::5efe:a9fe:a9fe',
    'FE80::A9FE:A9FE%eth0',
  ]) {
    expect(allows(local, address), address).toBe(false)
  }
})

test('treats an IPv4 address the same when it is embedded in IPv6', () => {
  const bytes = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))
  const policy = server('10.0.0.0/8')
  fc.assert(
    fc.property(bytes, (parts) => {
      const plain = parts.join('.')
      const hex = parts.map((part) => part.toString(16).padStart(2, '0')).join('')
      const [high, low] = [hex.slice(0, 4), hex.slice(4)]
      const verdict = allows(policy, plain)
      for (const written of [
        `::ffff:${plain}`,
        `::ffff:${high}:${low}`,
        `64:ff9b::${high}:${low}`,
        `2002:${high}:${low}::1`,
      ]) {
        expect(allows(policy, written), written).toBe(verdict)
      }
    }),
  )
})

describe('a target', () => {
  const refuses = (host: string, port = 80, policy = local) => {
    try {
      policy.checkTarget(host, port)
      return false
    } catch (error) {
      expect(error).toMatchObject({ code: 'url_blocked', message: 'URL blocked' })
      return true
    }
  }

  test('is blocked by the name of a metadata service, and by ports that browsers block', () => {
    for (const host of [
      'metadata.google.internal',
      'METADATA.google.internal.',
      'metadata',
      'instance-data.ec2.internal',
    ]) {
      expect(refuses(host), host).toBe(true)
    }
    for (const port of [22, 25, 6667]) expect(refuses('a.test', port)).toBe(true)
    for (const port of [80, 443, 8080, 3000]) expect(refuses('a.test', port)).toBe(false)
  })

  test('is blocked by its address', () => {
    expect(refuses('127.0.0.1', 80, server())).toBe(true)
    expect(refuses('8.8.8.8', 80, server())).toBe(false)
    expect(refuses('a.test', 80, server())).toBe(false)
  })
})

test('rejects an invalid range', () => {
  for (const text of ['10.0.0.0/33', '10.0.0/8', 'fd00::/129', 'everything', '10.0.0.0/-1', '', 'fe80::1%eth0/64']) {
    expect(() => server(text), text).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  }
})

test('counts blocked connections by reason', async () => {
  const policy = server()
  const names = new HostResolver(policy, async () => [{ address: '192.168.1.1', family: 4 }])
  const refused = { code: 'url_blocked', message: 'URL blocked' }
  expect(() => policy.checkTarget('10.0.0.1', 80)).toThrow(expect.objectContaining(refused))
  expect(() => policy.checkTarget('169.254.169.254', 80)).toThrow(expect.objectContaining(refused))
  expect(() => policy.checkTarget('metadata.google.internal', 80)).toThrow(expect.objectContaining(refused))
  expect(() => policy.checkTarget('example.com', 25)).toThrow(expect.objectContaining(refused))
  policy.checkTarget('1.1.1.1', 443)
  await expect(names.resolve('inside.example')).rejects.toMatchObject(refused)
  expect(policy.refused).toEqual({ private: 2, metadata: 2, port: 1, scheme: 0 })
})

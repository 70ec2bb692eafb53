import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HostLookup } from '../../../../src/core/config/config.ts'
import { dnsHostLookup } from '../../../../src/engine/egress/host-lookup.ts'
import { hostsIn, namesToAsk, searchRulesIn } from '../../../../src/engine/egress/resolver-files.ts'
import { type DnsServer, serveDns } from '../../../support/dns-server.ts'
import { waitUntil } from '../../../support/wait.ts'

const six = '2001:db8:0:0:0:0:0:6'
let server: DnsServer
let folder: string
let lookup: HostLookup

beforeAll(async () => {
  server = await serveDns({
    'a.test': ['192.0.2.1', six],
    'old.test': ['192.0.2.2'],
    'half.test': ['192.0.2.3'],
    'redis.inner.test': ['192.0.2.4'],
    'api.team.inner.test': ['192.0.2.5'],
    'broken.test': 'failed',
    'db.broken.test': 'failed',
    'db.inner.test': ['192.0.2.6'],
  })
  folder = await mkdtemp(join(tmpdir(), 'bax-test-names-'))
  await writeFile(join(folder, 'hosts'), '127.0.0.1 localhost\n192.0.2.7\tListed.test listed # a comment\n')
  await writeFile(join(folder, 'resolv.conf'), '# for tests\nsearch broken.test inner.test\noptions timeout:1\n')
  lookup = dnsHostLookup({
    hosts: join(folder, 'hosts'),
    resolvConf: join(folder, 'resolv.conf'),
    servers: [server.address],
  })
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const addressesOf = async (host: string) => (await lookup(host)).map(({ address }) => address)

describe('a look-up', () => {
  test('returns the addresses of both families', async () => {
    expect(await addressesOf('a.test')).toEqual(['192.0.2.1', '2001:db8::6'])
    expect(await addressesOf('A.Test.')).toEqual(['192.0.2.1', '2001:db8::6'])
    expect(await addressesOf('old.test')).toEqual(['192.0.2.2'])
  })

  test('does not wait for a server that never answers for IPv6', async () => {
    expect(await addressesOf('half.test')).toEqual(['192.0.2.3'])
  })

  test('reads the hosts file, also after it was replaced, and knows localhost', async () => {
    expect(await addressesOf('LISTED.test')).toEqual(['192.0.2.7'])
    expect(await addressesOf('localhost')).toEqual(['127.0.0.1'])
    expect(await addressesOf('app.localhost')).toEqual(['127.0.0.1', '::1'])
    await writeFile(join(folder, 'new'), '192.0.2.8 listed.test\n')
    await rename(join(folder, 'new'), join(folder, 'hosts'))
    expect(await addressesOf('listed.test')).toEqual(['192.0.2.8'])
  })

  test('asks with the search domains, and skips one whose server is broken', async () => {
    expect(await addressesOf('redis')).toEqual(['192.0.2.4'])
    expect(await addressesOf('api.team')).toEqual(['192.0.2.5'])
    expect(await addressesOf('db')).toEqual(['192.0.2.6'])
  })

  test('fails with the codes of getaddrinfo', async () => {
    await expect(lookup('missing.test.')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await expect(lookup('broken.test.')).rejects.toMatchObject({ code: 'EAI_AGAIN' })
    await expect(lookup(`${'x'.repeat(70)}.test.`)).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })

  test('ends when its signal is aborted', async () => {
    const leaving = new AbortController()
    const left = new Error('left')
    const ended = expect(lookup('a.silent.test', leaving.signal)).rejects.toBe(left)
    await waitUntil(() => server.questions.includes('a.silent.test A'))
    leaving.abort(left)
    await ended
  })
})

test('a hosts file may have several addresses for a name', () => {
  const found = hostsIn('192.0.2.1 a b\nnonsense a\n2001:db8::1 A # c\n\n')
  expect(found.get('a')?.map(({ address }) => address)).toEqual(['192.0.2.1', '2001:db8::1'])
  expect([...found.keys()]).toEqual(['a', 'b'])
})

test.each([
  ['search a.test b.test', 'x.y', ['x.y', 'x.y.a.test', 'x.y.b.test']],
  ['search a.test.\noptions ndots:5', 'x.y', ['x.y.a.test', 'x.y']],
  ['domain a.test\nsearch b.test .\n; search c.test', 'x', ['x.b.test', 'x']],
  ['search a.test', 'x.', ['x']],
  ['options ndots:99', 'x.y', ['x.y']],
  ['', 'x', ['x']],
])('%j asks for %s as %j', (conf, name, asked) => {
  expect(namesToAsk(name, searchRulesIn(conf))).toEqual(asked)
})

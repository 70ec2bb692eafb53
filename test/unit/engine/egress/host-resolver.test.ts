import { connect, createServer, type AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { HostResolver } from '../../../../src/engine/egress/host-resolver.ts'
import { Policy } from '../../../../src/engine/egress/policy.ts'

const policy = new Policy({ privateAllowed: false, opened: ['127.0.0.2'] })

/** Answers the nth request with the nth list, and further ones with the last. */
function answers(...lists: string[][]) {
  let requests = 0
  const lookup = async () => {
    const list = lists[Math.min(requests++, lists.length - 1)]!
    return list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  return { names: new HostResolver(policy, lookup), requests: () => requests }
}

const addressesOf = async (names: HostResolver, host = 'a.test') =>
  (await names.resolve(host)).map(({ address }) => address)

describe('names', () => {
  test('resolve only to allowed addresses', async () => {
    expect(await addressesOf(answers(['127.0.0.1', '8.8.8.8', '::1', '127.0.0.2']).names)).toEqual([
      '8.8.8.8',
      '127.0.0.2',
    ])
    await expect(addressesOf(answers(['127.0.0.1', 'fd00::1']).names)).rejects.toMatchObject({ code: 'url_blocked' })
    await expect(addressesOf(answers([]).names)).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })

  test('are looked up once for concurrent callers', async () => {
    const { names, requests } = answers(['8.8.8.8'], ['127.0.0.3'])
    const all = await Promise.all([addressesOf(names), addressesOf(names), addressesOf(names)])
    expect(all).toEqual([['8.8.8.8'], ['8.8.8.8'], ['8.8.8.8']])
    expect(requests()).toBe(1)
  })

  test('are looked up again after a failure', async () => {
    const { names } = answers(['127.0.0.3'], ['8.8.8.8'])
    await expect(addressesOf(names)).rejects.toMatchObject({ code: 'url_blocked' })
    expect(await addressesOf(names)).toEqual(['8.8.8.8'])
  })
})

describe('a socket', () => {
  test('connects to the checked address even if the name changes', async () => {
    const reached: string[] = []
    const serve = (address: string) =>
      createServer((socket) => {
        reached.push(address)
        socket.end()
      })
    const [good, bad] = [serve('127.0.0.2'), serve('127.0.0.3')]
    await new Promise<void>((resolve) => good.listen(0, '127.0.0.2', resolve))
    const { port } = good.address() as AddressInfo
    await new Promise<void>((resolve) => bad.listen(port, '127.0.0.3', resolve))
    // Every answer but the first one is the attacker's.
    const { names } = answers(['127.0.0.2'], ['127.0.0.3'])
    const end = (socket: ReturnType<typeof connect>) =>
      new Promise<string>((resolve) => {
        socket
          .on('error', (error: NodeJS.ErrnoException) => resolve(error.code!))
          .on('end', () => resolve('end'))
          .resume()
      })
    expect(await end(connect({ host: 'a.test', port, lookup: names.lookup }))).toBe('end')
    const later = answers(['127.0.0.3']).names
    expect(await end(connect({ host: 'a.test', port, lookup: later.lookup }))).toBe('url_blocked')
    expect(reached).toEqual(['127.0.0.2'])
    good.close()
    bad.close()
  })
})

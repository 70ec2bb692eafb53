import { setMaxListeners } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { HostResolver } from '../../../../src/engine/egress/host-resolver.ts'
import { limits } from '../../../../src/core/limits/limits.ts'
import { Policy } from '../../../../src/engine/egress/policy.ts'
import { waitUntil } from '../../../support/wait.ts'

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

describe('a look-up that nobody answers', () => {
  /** Looks names up without end, until the test answers or the caller leaves. */
  function unanswered() {
    const asked: string[] = []
    const abandoned: string[] = []
    const answer = new Map<string, (addresses: string[]) => void>()
    const names = new HostResolver(policy, (host, signal) => {
      asked.push(host)
      signal?.addEventListener('abort', () => abandoned.push(host))
      return new Promise((resolve) =>
        answer.set(host, (list) => resolve(list.map((address) => ({ address, family: 4 })))),
      )
    })
    return { names, asked, abandoned, answer }
  }
  const most = limits.egress.lookups
  const many = (count: number) => Array.from({ length: count }, (_, at) => `dead${at}.test`)

  test('does not delay the names of another key, nor those of the engine', async () => {
    const { names, asked, answer } = unanswered()
    const leaving = new AbortController()
    setMaxListeners(0, leaving.signal)
    const dead = many(most + 100).map((host) => names.resolve(host, { from: 'a', signal: leaving.signal }))
    // A name that waits in the queue of the one key is not held up for the other.
    const ours = [names.resolve(`dead${most + 50}.test`, { from: 'b' }), names.resolve('ours.test')]
    await waitUntil(() => asked.length >= most + 2)
    expect(asked.slice(most)).toEqual([`dead${most + 50}.test`, 'ours.test'])
    for (const host of asked.slice(most)) answer.get(host)!(['8.8.8.8'])
    expect(await Promise.all(ours)).toMatchObject([[{ address: '8.8.8.8' }], [{ address: '8.8.8.8' }]])
    const settled = Promise.allSettled(dead)
    leaving.abort(new Error('left'))
    expect((await settled).every(({ status }) => status === 'rejected')).toBe(true)
  })

  test('is cancelled when the last caller leaves, and repeated for the next one', async () => {
    const { names, asked, abandoned, answer } = unanswered()
    const [first, second] = [new AbortController(), new AbortController()]
    const waiting = [first, second].map(({ signal }) => names.resolve('dead.test', { signal }))
    await waitUntil(() => asked.length > 0)
    first.abort(new Error('first left'))
    await expect(waiting[0]).rejects.toThrow('first left')
    expect(abandoned).toEqual([])
    second.abort(new Error('second left'))
    await expect(waiting[1]).rejects.toThrow('second left')
    expect(abandoned).toEqual(['dead.test'])
    const again = names.resolve('dead.test')
    await waitUntil(() => asked.length === 2)
    answer.get('dead.test')!(['8.8.8.8'])
    expect(await again).toMatchObject([{ address: '8.8.8.8' }])
  })
})

test('names that cannot be resolved are not looked up again at once', async () => {
  let requests = 0
  const names = new HostResolver(policy, async () => {
    requests++
    throw Object.assign(new Error('none'), { code: 'ENOTFOUND' })
  })
  await expect(names.resolve('none.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  await expect(names.resolve('NONE.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  expect(requests).toBe(1)
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
    expect(await end(connect({ host: 'a.test', port, lookup: names.lookupFor({}) }))).toBe('end')
    const later = answers(['127.0.0.3']).names
    expect(await end(connect({ host: 'a.test', port, lookup: later.lookupFor({}) }))).toBe('url_blocked')
    expect(reached).toEqual(['127.0.0.2'])
    good.close()
    bad.close()
  })
})

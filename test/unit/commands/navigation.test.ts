import { EventEmitter, once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { navigate_to } from '../../../src/commands/navigation.ts'

/** A page whose first navigations fail with the given errors. */
function pageThat(...failures: string[]) {
  const asked: string[] = []
  const events = new EventEmitter()
  const page = Object.assign(events, {
    url: () => asked.at(-1)!,
    mainFrame: () => ({}),
    waitForEvent: (name: string, { signal }: { signal: AbortSignal }) => once(events, name, { signal }),
    async goto(url: string) {
      asked.push(url)
      const failure = failures.shift()
      if (failure !== undefined) throw new Error(`page.goto: ${failure} at ${url}`)
      return { status: () => 200 }
    },
  })
  const context = {
    signal: new AbortController().signal,
    checkUrl: (url: string) => url,
    leave: (work: (page: unknown) => unknown) => work(page),
  }
  const open = () => navigate_to.run(context as never, { url: 'https://example.com/' })
  return { open, asked }
}

describe('a navigation', () => {
  test('is retried after a network change', async () => {
    const { open, asked } = pageThat('net::ERR_NETWORK_CHANGED', 'net::ERR_NETWORK_CHANGED')
    expect(await open()).toMatchObject({ data: { status_code: 200 } })
    expect(asked).toHaveLength(3)
  })

  test('fails when the network keeps changing', async () => {
    const { open, asked } = pageThat(...Array<string>(5).fill('net::ERR_NETWORK_CHANGED'))
    await expect(open()).rejects.toThrow('ERR_NETWORK_CHANGED')
    expect(asked).toHaveLength(3)
  })

  test('is not retried after another error', async () => {
    const { open, asked } = pageThat('net::ERR_CONNECTION_REFUSED')
    await expect(open()).rejects.toThrow('ERR_CONNECTION_REFUSED')
    expect(asked).toHaveLength(1)
  })
})

import { describe, expect, test } from 'vitest'
import { BaxError } from '../../../../src/core/errors/errors.ts'
import { queryProviders, checkProvider, collect } from '../../../../src/engine/search/query-providers.ts'
import type { ProviderResult, ResultPage, SearchProvider } from '../../../../src/engine/search/provider.ts'

const found = (...names: string[]): ProviderResult[] =>
  names.map((name) => ({ url: `https://${name}.example/`, title: name, description: '' }))

/** Returns a provider with the given pages, whose tokens are page numbers. */
function provider(...pages: (ResultPage | BaxError | 'never')[]): SearchProvider & { asked: (string | undefined)[] } {
  const asked: (string | undefined)[] = []
  return {
    name: 'searxng',
    timeoutMs: 50,
    asked,
    page(_, signal, next) {
      asked.push(next)
      const page = pages[Number(next ?? 0)]!
      if (page instanceof BaxError) return Promise.reject(page)
      if (page !== 'never') return Promise.resolve(page)
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
      })
    },
  }
}

const signal = new AbortController().signal
const wanted = (limit: number) => ({ query: 'q', limit })
const urls = ({ results }: { results: readonly { url: string }[] }) =>
  results.map(({ url }) => new URL(url).host.split('.')[0])
const refusal = new BaxError('unauthorized', 'it rejected the key')

describe('results of one provider', () => {
  test('come from as few pages as the limit needs', async () => {
    const three = () =>
      provider(
        { results: found('a', 'b'), next: '1' },
        { results: found('c', 'd'), next: '2' },
        { results: found('e') },
      )
    const [one, two, all] = [three(), three(), three()]
    expect(urls(await collect(one, wanted(2), signal))).toEqual(['a', 'b'])
    expect(urls(await collect(two, wanted(3), signal))).toEqual(['a', 'b', 'c'])
    expect(urls(await collect(all, wanted(20), signal))).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect([one.asked, two.asked, all.asked]).toEqual([[undefined], [undefined, '1'], [undefined, '1', '2']])
  })

  test('have no duplicates, whatever their fragments', async () => {
    const twice = [...found('a', 'b'), { url: 'https://a.example/#part', title: 'again', description: '' }]
    expect(urls(await collect(provider({ results: twice }), wanted(5), signal))).toEqual(['a', 'b'])
  })

  test('end at a page without new results', async () => {
    const same = { results: found('a'), next: '0' }
    const repeating = provider(same)
    expect(urls(await collect(repeating, wanted(5), signal))).toEqual(['a'])
    expect(repeating.asked).toHaveLength(2)
  })

  test('skip invalid URLs', async () => {
    const odd = [
      ...found('a'),
      { url: '/relative', title: '', description: '' },
      { url: 'mailto:x@y.z', title: '', description: '' },
    ]
    expect(urls(await collect(provider({ results: odd }), wanted(5), signal))).toEqual(['a'])
  })

  test('of a failed later page are missing with a warning', async () => {
    const failing = provider(
      { results: found('a'), next: '1' },
      new BaxError('provider_blocked', 'it shows a challenge'),
    )
    const { results, warnings } = await collect(failing, wanted(5), signal)
    expect(results).toHaveLength(1)
    expect(warnings).toEqual(['searxng returned only 1 results: it shows a challenge'])
  })

  test('that time out are a timeout error', async () => {
    await expect(collect(provider('never'), wanted(5), signal)).rejects.toMatchObject({
      code: 'timeout',
      message: 'it did not respond within 0.05 s',
    })
  })
})

describe('several providers', () => {
  const never = new AbortController().signal
  const signals = { caller: never, clock: never }
  const named = (name: SearchProvider['name'], ...pages: Parameters<typeof provider>) => ({
    ...provider(...pages),
    name,
  })

  test('are queried in order until one responds, also without results', async () => {
    const last = named('bing', { results: found('x') })
    const answer = await queryProviders(
      [named('brave', refusal), named('serper', { results: [] }), last],
      wanted(5),
      signals,
    )
    expect(answer).toMatchObject({
      provider: 'serper',
      results: [],
      warnings: ['brave failed: it rejected the key'],
    })
    expect(last.asked).toEqual([])
  })

  test('are all listed if they all fail', async () => {
    const all = [named('brave', refusal), named('bing', 'never')]
    await expect(queryProviders(all, wanted(5), signals)).rejects.toMatchObject({
      code: 'search_unavailable',
      status: 503,
      details: [
        { provider: 'brave', error: 'it rejected the key', code: 'unauthorized' },
        { provider: 'bing', error: 'it did not respond within 0.05 s', code: 'timeout' },
      ],
    })
  })

  test('are not queried after the timeout', async () => {
    const clock = new AbortController()
    clock.abort(new BaxError('timeout', 'the search timed out after 5 ms'))
    const unasked = named('brave', { results: found('a') })
    await expect(queryProviders([unasked], wanted(5), { caller: never, clock: clock.signal })).rejects.toMatchObject({
      code: 'search_unavailable',
      details: [{ provider: 'brave', code: 'timeout' }],
    })
    expect(unasked.asked).toEqual([])
  })

  test('are not queried after the caller has disconnected', async () => {
    const gone = new AbortController()
    const leaving = named('brave', 'never')
    const second = named('bing', { results: found('a') })
    const asking = queryProviders([leaving, second], wanted(5), { caller: gone.signal, clock: never })
    gone.abort(new Error('gone'))
    await expect(asking).rejects.toThrow('gone')
    expect(second.asked).toEqual([])
  })

  test('do not hide internal errors', async () => {
    const broken: SearchProvider = { name: 'brave', timeoutMs: 50, page: () => Promise.reject(new TypeError('oops')) }
    await expect(queryProviders([broken, named('bing', { results: [] })], wanted(5), signals)).rejects.toThrow(
      TypeError,
    )
  })

  test('list the settings they need if requested by name', () => {
    expect(() => checkProvider('google', {})).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        hint: 'set BAX_GOOGLE_KEY and BAX_GOOGLE_CX where the engine is started',
      }),
    )
    expect(() => checkProvider('bing', {})).not.toThrow()
  })
})

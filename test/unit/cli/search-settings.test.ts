import { describe, expect, test } from 'vitest'
import { readSearch } from '../../../src/core/config/search-settings.ts'
import { isByPages, searchOrder, searchProviderNames } from '../../../src/core/config/search-providers.ts'

const byPages = searchProviderNames.filter(isByPages)

describe('search settings', () => {
  test('fall back to result pages without providers', () => {
    expect(readSearch({})).toBeUndefined()
    expect(searchOrder({})).toEqual(byPages)
  })

  test('put configured providers before result pages, in the order of the list', () => {
    const config = readSearch({ BAX_SERPER_KEY: 's', BAX_SEARXNG_URL: 'http://127.0.0.1:8080/' })!
    expect(config).toEqual({ providers: { serper: { key: 's' }, searxng: { url: 'http://127.0.0.1:8080' } } })
    expect(searchOrder(config)).toEqual(['searxng', 'serper', ...byPages])
  })

  test('use only the providers of a custom order', () => {
    const config = readSearch({ BAX_SERPER_KEY: 's', BAX_BRAVE_KEY: 'b', BAX_SEARCH_PROVIDERS: 'serper, bing' })!
    expect(searchOrder(config)).toEqual(['serper', 'bing'])
  })

  test('prefer the environment over the file', () => {
    const file = {
      providers: ['brave'],
      brave: { key: 'of-file', url: 'https://proxy.example/brave' },
      google: { key: 'g', cx: 'c' },
    }
    const config = readSearch({ BAX_BRAVE_KEY: 'of-env' }, file)!
    expect(config.providers).toEqual({
      brave: { key: 'of-env', url: 'https://proxy.example/brave' },
      google: { key: 'g', cx: 'c' },
    })
    expect(searchOrder(config)).toEqual(['brave'])
    expect(searchOrder(readSearch({ BAX_SEARCH_PROVIDERS: 'google' }, file)!)).toEqual(['google'])
  })

  test.each<[Record<string, string>, unknown, RegExp]>([
    [{ BAX_GOOGLE_KEY: 'k' }, {}, /google needs BAX_GOOGLE_KEY .* and BAX_GOOGLE_CX .*: its settings are incomplete/],
    [{ BAX_SEARCH_PROVIDERS: 'brave' }, {}, /brave needs BAX_BRAVE_KEY .*: BAX_SEARCH_PROVIDERS names it/],
    [{ BAX_SEARCH_PROVIDERS: 'brav' }, {}, /unknown provider "brav" \(did you mean "brave"\?\)/],
    [{ BAX_SEARCH_PROVIDERS: ',' }, {}, /must be a list of providers/],
    [{ BAX_SEARXNG_URL: 'searx.example' }, {}, /BAX_SEARXNG_URL .* must be an http or https URL/],
    [{ BAX_BRAVE_URL: 'file:///etc' }, {}, /BAX_BRAVE_URL .* must be an http or https URL/],
    [{}, { serpe: {} }, /unknown setting search.serpe \(did you mean "serper"\?\)/],
    [{}, { brave: 'key' }, /search.brave must be an object/],
    [{}, { brave: { token: 'x' } }, /unknown setting search.brave.token/],
    [{}, { brave: { key: 5 } }, /search.brave.key must be a string/],
    [{}, { providers: 'brave' }, /must be a list of providers/],
  ])('reject %j with %j', (env, file, message) => {
    expect(() => readSearch(env, file)).toThrow(message)
  })

  test('never include keys in error messages', () => {
    const secret = 'AIza-very-secret'
    expect(() => readSearch({ BAX_GOOGLE_KEY: secret })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining(secret) }),
    )
  })
})

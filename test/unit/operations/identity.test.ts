/** Which operations read with which identity. A field that one does not support is refused: it never reads without it. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { BaxError } from '../../../src/core/errors/errors.ts'
import { identityNames } from '../../../src/core/identity.ts'
import { unwrap, wireNameOf } from '../../../src/core/operation/input/schema-fields.ts'
import { validateInput } from '../../../src/core/operation/input/valid-input.ts'
import { operations } from '../../../src/operations/index.ts'

const names = [...identityNames, 'session_id'] as const

/** A value of each field; some are secrets. */
const values = {
  profile: 'work',
  save_profile: true,
  headers: { Authorization: 'secret-header' },
  cookies: 'a=secret-cookie',
  user_agent: 'Reader/1.0',
  locale: 'de-AT',
  timezone: 'Europe/Vienna',
  geolocation: { latitude: 48, longitude: 16 },
  location: { country: 'AT' },
  mobile: true,
  proxy: 'http://ann:secret-proxy@127.0.0.1:3128',
  sign: true,
  skip_tls_verification: true,
  session_id: 'ses_4cWm8rXbQ1kT9vZs',
} satisfies Record<(typeof names)[number], unknown>

const all = Object.values(operations).map((operation) => ({
  http: operation.http as string,
  input: operation.input as z.ZodObject,
  sample: (operation.sample ?? {}) as Record<string, unknown>,
}))

const fieldsOf = (schema: z.ZodType | undefined): Record<string, z.ZodType> => {
  const inner = schema && unwrap(schema)
  return inner instanceof z.ZodObject ? inner.shape : {}
}

/** Returns the fields of an operation, also those of its pages. */
function fieldsIn({ shape }: z.ZodObject): string[] {
  const own = names.filter((name) => Object.hasOwn(shape, name))
  const ofPages = names.filter((name) => Object.hasOwn(fieldsOf(shape['scrape_options']), name))
  return [...own, ...ofPages.map((name) => `scrape_options.${name}`)]
}

const within = (list: readonly string[]) => list.map((name) => `scrape_options.${name}`)

test('operations that read pages take the fields of an identity', () => {
  const found = all
    .map(({ http, input }) => [http, fieldsIn(input)] as const)
    .filter(([, fields]) => fields.some((name) => /headers|locale/.test(name)))
  const ofResults = identityNames.filter((name) => !['save_profile', 'headers', 'cookies'].includes(name))
  expect(Object.fromEntries(found)).toEqual({
    'POST /v1/scrape': names,
    'POST /v2/scrape': names,
    'POST /v1/map': names,
    'POST /v2/map': names,
    'POST /v1/crawl': [...identityNames, ...within(identityNames)],
    'POST /v2/crawl': within(identityNames),
    'POST /v1/batch/scrape': identityNames,
    'POST /v2/batch/scrape': identityNames,
    'POST /v1/extract': within(identityNames),
    'POST /v2/extract': within(identityNames),
    // There, the location of Firecrawl is a text.
    'POST /v1/search': [...ofResults.filter((name) => name !== 'location'), 'session_id', ...within(ofResults)],
    'POST /v2/search': within(ofResults),
    'POST /request': [
      'profile',
      'save_profile',
      'headers',
      'cookies',
      'user_agent',
      'sign',
      'skip_tls_verification',
      'session_id',
    ],
    'POST /sessions': ['save_profile', 'user_agent', 'locale', 'timezone', 'proxy', 'skip_tls_verification'],
  })
})

const camelCase = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

describe.each(all)('$http', ({ http, input, sample }) => {
  /** Returns the message of the refusal of a field in a place; undefined if it is accepted. */
  function refusal(place: readonly string[], name: string, value: unknown): string | undefined {
    const [outer, inner] = place
    const holder = (key: string) => (Object.hasOwn(sample, key) ? (sample[key] as object) : {})
    const given =
      outer === undefined
        ? { ...sample, [name]: value }
        : {
            ...sample,
            [outer]: inner === undefined ? { ...holder(outer), [name]: value } : [{ [inner]: { [name]: value } }],
          }
    try {
      validateInput(input, given, false)
      return undefined
    } catch (error) {
      return (error as BaxError).message
    }
  }

  const path = (place: readonly string[], name: string) =>
    [place[0], ...place.slice(1).map((part) => `[0].${part}`), name]
      .filter((part) => part !== undefined)
      .join('.')
      .replace('.[', '[')

  test.each([
    ['its fields', []],
    ['the options of its pages', ['scrape_options']],
    ['an unknown object', ['identity_of_page']],
    ['an object in an unknown list', ['identities_of_page', 'reader']],
  ] as const)('refuses a field of an identity that it does not have in %s', (_, place) => {
    const [outer] = place
    const known = outer === undefined ? input.shape : place.length === 1 ? fieldsOf(input.shape[outer]) : {}
    for (const name of names)
      for (const written of new Set([name, camelCase(name)]))
        if (!Object.hasOwn(known, wireNameOf(known, written, {}))) {
          const message = refusal(place, written, values[name])
          expect(message, `${http} ${path(place, written)}`).toContain(`${path(place, written)} is not a known field`)
          expect(message).not.toContain('secret-')
        }
  })
})

test.each([
  ['POST /v1/crawl', { session_id: null }],
  ['POST /v1/search', { location: 'Vienna', save_profile: false }],
  ['POST /v2/crawl', { mobile: false, sign: false, proxy: 'auto', profile: null }],
])('%s with %j asks for no identity', (http, fields) => {
  const { input, sample } = all.find((one) => one.http === http)!
  expect(validateInput(input, { ...sample, ...fields }, false).input).not.toHaveProperty('session_id')
})

const refused = (http: string, fields: Record<string, unknown>): string => {
  const { input, sample } = all.find((one) => one.http === http)!
  try {
    validateInput(input, { ...sample, ...fields }, false)
  } catch (error) {
    return (error as BaxError).message
  }
  throw new Error(`${http} accepts ${JSON.stringify(fields)}`)
}

test.each([
  ['POST /v1/crawl', { session_id: 'a' }, 'save the session as a profile, and use profile'],
  ['POST /v2/crawl', { sessionId: 'a' }, 'save the session as a profile, and use profile'],
  ['POST /v1/batch/scrape', { sessionID: 'a' }, 'save the session as a profile, and use profile'],
  ['POST /v2/extract', { scrapeOptions: { sessionId: 'a' } }, 'save the session as a profile, and use profile'],
  ['POST /v2/crawl', { profile: 'work' }, 'did you mean "scrape_options.profile"'],
  ['POST /v1/extract', { headers: { a: 'b' } }, 'did you mean "scrape_options.headers"'],
  ['POST /v1/scrape', { scrape_options: { profile: 'work' } }, 'did you mean "profile"'],
  ['POST /v1/scrape', { cookie: 'a=1' }, 'did you mean "cookies"'],
  ['POST /v1/scrape', { useragent: 'Reader/1.0' }, 'did you mean "user_agent"'],
  ['POST /v1/search', { header: { a: 'b' } }, 'headers is not supported here'],
])('%s with %j says what to do', (http, fields, hint) => {
  expect(refused(http, fields)).toContain(hint)
})

import { describe, expect, test } from 'vitest'
import { methodOf, placesOf } from '../../../src/library/places.ts'
import { comment, fields, typeOf } from '../../../src/library/declarations/schema-type.ts'
import { makeManifest } from '../../../src/operations/manifest.ts'

const { operations, commands } = makeManifest()
const placesOfName = (name: string) =>
  placesOf(operations.find((operation) => operation.name === name)!).map(({ owner, method }) => `${owner}.${method}`)

describe('methods of the library', () => {
  test.each([
    ['scrape', ['bax.scrape', 'session.scrape']],
    ['search', ['bax.search', 'session.search']],
    ['createSession', ['sessions.create']],
    ['getSessionLog', ['session.getLog']],
    ['sessionEvents', ['session.events']],
    ['runCommands', ['session.runCommands']],
    ['shellExecStream', ['shell.execStream']],
    ['signalShellExec', ['shells.signalExec']],
    ['listRelayTokens', ['relays.listTokens']],
    ['clearRelayEvents', ['relay.clearEvents']],
  ])('%s is %j', (name, places) => expect(placesOfName(name)).toEqual(places))

  test('have one meaning each', () => {
    const derived = operations.flatMap((operation) => placesOf(operation))
    const own = ['bax.sessions', 'bax.shells', 'bax.relays', 'bax.close', 'sessions.get', 'shells.get', 'relays.get']
    const names = [
      ...own,
      ...derived.map(({ owner, method }) => `${owner}.${method}`),
      ...commands.flatMap((entry) => ['session', 'relay'].map((owner) => `${owner}.${methodOf(entry).method}`)),
      ...['session', 'shell', 'relay'].flatMap((owner) => [`${owner}.id`, `${owner}.page`]),
    ]
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })
})

describe('types of schemas', () => {
  test.each([
    [{ type: 'integer' }, 'number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ enum: ['a', 2] }, '"a" | 2'],
    [{ const: false }, 'false'],
    [{}, 'unknown'],
    [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } }, 'Array<string | number>'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'Record<string, string>'],
    [{ $ref: '#/components/schemas/Session' }, 'SessionRecord'],
    [{ type: 'object', properties: {} }, '{}'],
  ])('%j is %s', (schema, type) => expect(typeOf(schema)).toBe(type))

  test('keep what fields need, their descriptions and their defaults', () => {
    const properties = { url: { type: 'string' }, 'a-b': { type: 'number', default: 1, description: 'Ends with */' } }
    expect(fields(properties, ['url'])).toBe(
      '{\n  url: string\n  /** Ends with *\\/. Default: `1` */\n  "a-b"?: number\n}',
    )
    expect(comment({})).toBe('')
  })
})

import { describe, expect, test } from 'vitest'
import { asBaxError, BaxError } from '../../../src/core/errors/errors.ts'
import { renameFields, withWrittenNames } from '../../../src/core/operation/input/given-fields.ts'
import { validateInput } from '../../../src/core/operation/input/valid-input.ts'
import { operations } from '../../../src/operations/index.ts'

const inputOf = (
  name: 'createSession' | 'runCommands' | 'scrape' | 'cdp' | 'crawlV2',
  fields: Record<string, unknown>,
) => validateInput(operations[name].input, fields, false)

function errorOf(work: () => unknown): BaxError {
  try {
    work()
  } catch (error) {
    return asBaxError(error)
  }
  throw new Error('the input is valid')
}

describe('the input of an operation', () => {
  test.each([
    ['createSession', { start_url: null, viewport: null, confirm: null, idleTimeoutSecs: null }, {}],
    ['scrape', { url: 'http://a.example', formats: null, actions: null }, { url: 'http://a.example' }],
    [
      'runCommands',
      { commands: [{ command: 'click', data: { selector: '#a', timeout_ms: null } }], context: null },
      { commands: [{ command: 'click', data: { selector: '#a' } }] },
    ],
  ] as const)('%s takes an optional field that is null for absent', (name, withNulls, without) => {
    expect(inputOf(name, withNulls)).toEqual(inputOf(name, without))
  })

  test.each([
    ['scrape', { url: 'a.example', waitFor: 5, wait_for: null }, { waitFor: 5 }],
    ['scrape', { url: 'a.example', waitFor: null, wait_for: 5 }, { wait_for: 5 }],
  ] as const)('%s with null in one spelling takes the other one', (name, given, { ...alone }) => {
    expect(inputOf(name, given)).toEqual(inputOf(name, { url: 'a.example', ...alone }))
    expect(inputOf(name, given).input).toMatchObject({ wait_for: 5 })
  })

  test('a gateway, which reads some fields before they are validated, sees no absent ones', () => {
    const given = { sessionId: null, commands: [{ command: 'get_title', data: null }], timeout_ms: null, colour: null }
    const { commands, colour } = given
    expect(renameFields(operations.runCommands.input, given)).toEqual({ commands, colour })
  })

  test.each([
    ['scrape', { url: 'a.example', waitFor: 'soon' }, 'waitFor'],
    ['scrape', { url: 'a.example', wait_for: 'soon' }, 'wait_for'],
    ['scrape', { url: 'a.example', jsonOptions: { prompt: 5 } }, 'jsonOptions.prompt'],
    ['scrape', { url: 'a.example', formats: [{ type: 'screenshot', fullPage: 5 }] }, 'formats[0].fullPage'],
    ['scrape', { url: 'a.example', formats: ['links', { type: 'json', prompt: 5 }] }, 'formats[1].prompt'],
    [
      'runCommands',
      { commands: [{ command: 'click', data: { selector: '#a', timeoutMs: 'x' } }] },
      'commands[0].data.timeoutMs',
    ],
    ['crawlV2', { url: 'a.example', scrapeOptions: { onlyMainContent: 'yes' } }, 'scrapeOptions.onlyMainContent'],
    ['crawlV2', { url: 'a.example', webhook: { url: 'https://a.example', events: [5] } }, 'webhook.events[0]'],
  ] as const)('an error of %s names the field as the caller wrote it: %j', (name, given, path) => {
    const error = errorOf(() => inputOf(name, given))
    expect(error.details).toMatchObject([{ path }])
    expect(error.message.split(' ')[0]).toBe(path)
  })

  test('unknown fields are named and suggested in the spelling of the caller', () => {
    const { warning } = inputOf('crawlV2', { url: 'a.example', scrapeOptions: { onlyMainContnt: true, wait_fr: 5 } })
    expect(warning).toBe(
      'ignored unknown fields: scrapeOptions.onlyMainContnt (did you mean "onlyMainContent"?), ' +
        'scrapeOptions.wait_fr (did you mean "wait_for"?)',
    )
  })

  test('errors of the operation name the field as the caller wrote it', async () => {
    const { input } = inputOf('scrape', {
      url: 'a.example',
      jsonOptions: { schema: {} },
      saveProfile: true,
      timeout: 5,
    })
    const fail = () => {
      throw new BaxError('invalid_request', 'save_profile needs profile, and json_options.schema a timeout', {
        details: [{ path: 'json_options.schema', message: 'needs timeout' }],
      })
    }
    await expect(withWrittenNames(input, fail)).rejects.toMatchObject({
      message: 'saveProfile needs profile, and jsonOptions.schema a timeout',
      details: [{ path: 'jsonOptions.schema', message: 'needs timeout' }],
    })
  })

  test('a required field is not null', () => {
    expect(() => inputOf('scrape', { url: null })).toThrow(/url/)
    expect(() => inputOf('runCommands', { commands: [{ command: 'click', data: { selector: null } }] })).toThrow(
      /commands\[0\]\.data\.selector/,
    )
  })

  test('the identity of a search is refused where it is of one host only', () => {
    const options = { cookies: 'a=1', headers: {}, save_profile: true, locale: 'de' }
    const { details } = errorOf(() =>
      validateInput(operations.searchV2.input, { query: 'a', scrape_options: options }, false),
    )
    const paths = ['cookies', 'headers', 'save_profile'].map((name) => ({ path: `scrape_options.${name}` }))
    expect(details).toMatchObject(paths)
  })

  test('null stays where it is a value', () => {
    const values = { value: null, list: [null] }
    expect(inputOf('cdp', { session_id: 'a', method: 'A.b', params: values }).input).toMatchObject({ params: values })
  })

  test('times with fractions are rounded up', () => {
    expect(inputOf('createSession', { timeout_secs: 60.4, idle_timeout_secs: 0.1 }).input).toMatchObject({
      timeout_secs: 61,
      idle_timeout_secs: 1,
    })
    const commands = [{ command: 'wait_for', data: { milliseconds: 12.5 } }]
    expect(inputOf('runCommands', { commands, timeout_ms: 1000.2 }).input).toMatchObject({
      commands: [{ command: 'wait_for', data: { milliseconds: 13 } }],
      timeout_ms: 1001,
    })
    expect(() => inputOf('createSession', { timeout_secs: 0.4 })).toThrow(/timeout_secs/)
  })
})

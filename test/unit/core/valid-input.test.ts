import { describe, expect, test } from 'vitest'
import { validateInput } from '../../../src/core/operation/valid-input.ts'
import { operations } from '../../../src/operations/index.ts'

const inputOf = (name: 'createSession' | 'runCommands' | 'scrape' | 'cdp', fields: Record<string, unknown>) =>
  validateInput(operations[name].input, fields, false)

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

  test('a required field is not null', () => {
    expect(() => inputOf('scrape', { url: null })).toThrow(/url/)
    expect(() => inputOf('runCommands', { commands: [{ command: 'click', data: { selector: null } }] })).toThrow(
      /commands\[0\]\.data\.selector/,
    )
  })

  test('the identity of a search is named as unknown where it is of one host only', () => {
    const { warning } = validateInput(
      operations.searchV2.input,
      { query: 'a', scrape_options: { cookies: 'a=1', headers: {}, save_profile: true, locale: 'de' } },
      false,
    )
    expect(warning).toMatch(/scrape_options\.cookies/)
    expect(warning).toMatch(/scrape_options\.headers/)
    expect(warning).toMatch(/scrape_options\.save_profile/)
    expect(warning).not.toMatch(/locale/)
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

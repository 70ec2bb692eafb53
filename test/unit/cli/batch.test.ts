import { describe, expect, test } from 'vitest'
import { parseBatch } from '../../../src/lines/parse-batch.ts'
import { BaxError } from '../../../src/core/errors/errors.ts'
import { makeManifest } from '../../../src/operations/manifest.ts'

const manifest = makeManifest()
const full = (line: string[]) => parseBatch(line, manifest, '/')

/** Examples of the catalogue, split into words. */
const examples = manifest.commands.flatMap(({ name, examples }) =>
  examples.map((example) => [
    name.replaceAll('_', '-'),
    ...[...example.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare!),
  ]),
)

describe('parseBatch', () => {
  test.each(examples.map((line) => [line.join(' '), line] as const))('parses the example: %s', (_, line) => {
    const { commands } = full(line)
    expect(commands).toHaveLength(1)
    expect(commands![0]!.command).toBe(line[0]!.replaceAll('-', '_'))
  })

  test('takes required fields as words in order and others as flags, with their types', () => {
    const { commands, flags } = full([
      'type_text',
      '#q',
      'hello',
      '--clear',
      'then',
      'click-at',
      '10',
      '-20.5',
      'then',
      'drag',
      '1,2',
      '3,4',
      'then',
      'select-option',
      '#c',
      'a',
      'b, c',
      'then',
      'wait-for-element',
      'h1',
      '--timeout-ms=5',
      '--visible-only',
      '--timeout-ms',
      '9',
    ])
    expect(commands).toMatchObject([
      { command: 'type_text', data: { selector: '#q', text: 'hello', clear: true } },
      { command: 'click_at', data: { x: 10, y: -20.5 } },
      { command: 'drag', data: { from: { x: 1, y: 2 }, to: { x: 3, y: 4 } } },
      { command: 'select_option', data: { selector: '#c', values: ['a', 'b, c'] } },
      { command: 'wait_for_element', data: { selector: 'h1', timeout_ms: 9, visible_only: true } },
    ])
    expect(flags).toEqual({})
  })

  test('applies --timeout-ms to the batch before the first command, and to the command after it', () => {
    const { commands, flags } = full(['--timeout-ms', '900', 'wait-for-element', 'h1', '--timeout-ms', '50'])
    expect(flags).toEqual({ timeoutMs: '900' })
    expect(commands![0]!.data).toMatchObject({ timeout_ms: 50 })
  })

  test('applies -o to the preceding command, or to the last one if it comes first', () => {
    const after = full(['screenshot', '-o', 'a.png', 'then', 'get-title', '--output', 'b.txt']).commands
    expect(after!.map(({ output }) => output)).toEqual(['a.png', 'b.txt'])
    const before = full(['-o', 'a.png', 'get-title', 'then', 'screenshot']).commands
    expect(before!.map(({ output }) => output)).toEqual([undefined, 'a.png'])
  })

  test('accepts words with a leading dash after --', () => {
    expect(full(['click', '--', '-x']).commands![0]!.data).toEqual({ selector: '-x' })
  })

  test.each([
    [['clck', '#a'], 'unknown command "clck" (did you mean "click"?)'],
    [['click'], '<selector> is missing'],
    [['click', 'a', 'b'], 'too many words: b'],
    [['click', 'a', '--timeout'], 'unknown flag --timeout (did you mean --timeout-ms?)'],
    [['click', 'a', '--timeout-ms'], '--timeout-ms needs a value'],
    [['click', 'a', '--timeout-ms', 'soon'], '--timeout-ms must be a number, not "soon"'],
    [['click-at', '1', 'x'], 'y must be a number, not "x"'],
    [['toggle-click-overlay', 'yes'], 'enabled must be true or false, not "yes"'],
    [['drag-to', 'a', '--source-position', '1;2'], '--source-position must be X,Y or JSON, not "1;2"'],
    [['get-content', '--kind', 'htm'], '--kind must be one of markdown, html, json, not "htm" (did you mean "html"?)'],
    [['get-title', 'then'], 'a browser command is missing beside `then`'],
    [['then', 'get-title'], 'no browser command was given'],
    [[], 'no browser command was given'],
  ])('rejects %j: %s', (line, sentence) => {
    let refusal: unknown
    try {
      full(line)
    } catch (error) {
      refusal = error
    }
    expect(refusal).toBeInstanceOf(BaxError)
    expect(refusal).toMatchObject({ code: 'invalid_request', message: sentence })
  })
})

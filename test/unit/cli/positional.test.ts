/** Positional forms and spellings of browser commands, on the command line and in scripts. */
import { describe, expect, test } from 'vitest'
import { formFor, formsOf } from '../../../src/core/operation/positional.ts'
import type { Param } from '../../../src/core/operation/params.ts'
import { findCommand, commandTable } from '../../../src/cli/parse/command-table.ts'
import { parseBatch } from '../../../src/lines/parse-batch.ts'
import { makeCliManifest } from '../../../src/cli/parse/make-manifest.ts'
import type { CliManifest } from '../../../src/cli/parse/table-entry.ts'
import type { CommandEntry } from '../../../src/operations/manifest.ts'

const text = (name: string, required = false): Param => ({ name, type: 'string', required })
const point = (name: string): Param => ({
  name,
  type: 'json',
  required: false,
  spelling: { form: 'X,Y', fields: ['x', 'y'], separator: ',' },
})

describe('the form of positional values', () => {
  const params: Param[] = [
    { name: 'milliseconds', type: 'integer', required: false },
    text('selector'),
    text('key'),
    { name: 'full_page', type: 'boolean', required: false },
    { name: 'direction', type: 'string', required: false, choices: ['up', 'down'] },
    { name: 'values', type: 'string[]', required: false },
    point('from'),
    point('to'),
  ]
  test.each([
    [[['milliseconds'], ['selector']], ['500'], 'milliseconds'],
    [[['milliseconds'], ['selector']], [500], 'milliseconds'],
    [[['milliseconds'], ['selector']], ['#spinner'], 'selector'],
    [[['milliseconds'], ['selector']], ['${x}'], 'milliseconds'],
    [[['selector', 'key'], ['key']], ['Enter'], 'key'],
    [[['selector', 'key'], ['key']], ['#q', 'Enter'], 'selector,key'],
    [[['full_page'], ['selector']], ['true'], 'selector'],
    [[['full_page'], ['selector']], [true], 'full_page'],
    [[['direction'], ['selector']], ['down'], 'direction'],
    [[['direction'], ['selector']], ['#a'], 'selector'],
    [
      [
        ['from', 'to'],
        ['selector', 'key'],
      ],
      ['10,20', '30,40'],
      'from,to',
    ],
    [
      [
        ['from', 'to'],
        ['selector', 'key'],
      ],
      ['#a', '#b'],
      'selector,key',
    ],
    [[['selector', 'values']], ['#a', 'x', 'y', 'z'], 'selector,values'],
    [[['direction']], ['sideways'], 'direction'],
    [[['selector']], ['a', 'b'], undefined],
  ])('%j given %j is %s', (forms, values, expected) => {
    expect(formFor(forms, values, params)?.join()).toBe(expected)
  })

  test('ends with the required fields', () => {
    expect(formsOf([text('selector', true), text('key')], [['key']])).toEqual([['key'], ['selector']])
    expect(formsOf([text('selector', true)], [['selector']])).toEqual([['selector']])
  })
})

const built = await makeCliManifest()

describe('a command line', () => {
  const entry = (name: string, params: Param[], more: Partial<CommandEntry> = {}): CommandEntry => ({
    name,
    family: 'x',
    kind: 'action',
    summary: 'Do',
    examples: [],
    params,
    ...more,
  })
  const manifest: CliManifest = {
    ...built,
    commands: [
      entry('drag', [
        { ...point('from'), required: true },
        { ...point('to'), required: true },
      ]),
      entry('drag_to', [text('selector', true), text('target')], {
        also: [{ words: 'drag' }],
        positional: [['selector', 'target']],
      }),
      entry('list_tabs', [], { also: [{ words: 'tab' }] }),
      entry('switch_tab', [text('tab', true)], { also: [{ words: 'tab' }] }),
      entry('close_tab', [text('tab')], { also: [{ words: 'tab close' }], positional: [['tab'], []] }),
      entry('get_state', [text('selector', true), text('state', true)], {
        also: [{ words: 'is visible', data: { state: 'visible' } }],
      }),
      entry('wait_for', [{ name: 'milliseconds', type: 'integer', required: false }, text('selector'), text('text')], {
        also: [{ words: 'wait' }],
        positional: [['milliseconds'], ['selector']],
      }),
    ],
  }
  const parsed = (line: string) => parseBatch(line.split(' '), manifest, '/').commands

  test.each([
    ['drag 1,2 3,4', 'drag', { from: { x: 1, y: 2 }, to: { x: 3, y: 4 } }],
    ['drag #a #b', 'drag_to', { selector: '#a', target: '#b' }],
    ['tab', 'list_tabs', {}],
    ['tab tab_1', 'switch_tab', { tab: 'tab_1' }],
    ['tab close tab_2', 'close_tab', { tab: 'tab_2' }],
    ['tab -s shop close', 'close_tab', {}],
    ['is visible #buy', 'get_state', { state: 'visible', selector: '#buy' }],
    ['wait 500', 'wait_for', { milliseconds: 500 }],
    ['wait #spinner', 'wait_for', { selector: '#spinner' }],
    ['wait --text Welcome', 'wait_for', { text: 'Welcome' }],
  ])('%s', (line, command, data) => {
    expect(parsed(line)).toEqual([{ command, data }])
    expect(findCommand(commandTable(manifest), manifest, line.split(' ')).entry?.words).toBe('do')
  })

  test.each([
    ['is', '"is" is incomplete', 'use "is" with one of visible'],
    ['is hidden #a', 'unknown command "is hidden"', 'use "is" with one of visible'],
    ['is visable #a', 'unknown command "is visable" (did you mean "visible"?)', ''],
    ['wait #a --selector #b', 'selector is given twice: as a word and as a flag', 'leave out --selector'],
    [
      'wait a b c',
      'wait-for cannot be called with 3 words',
      'use "wait-for <milliseconds>" or "wait-for <selector>" or "wait-for"',
    ],
    ['drag #a #b #c', 'too many words: #c', 'usage: bax drag <from> <to>'],
  ])('%s: %s', (line, message, hint) => {
    expect(() => parsed(line)).toThrow(expect.objectContaining({ message, hint: expect.stringContaining(hint) }))
  })
})

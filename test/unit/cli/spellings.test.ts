import { describe, expect, test } from 'vitest'
import { parseBatch } from '../../../src/cli/parse/parse-batch.ts'
import { commandTable, findCommand } from '../../../src/cli/parse/command-table.ts'
import { makeManifest } from '../../../src/operations/manifest.ts'

const manifest = makeManifest()
const entries = commandTable(manifest)
const found = (line: string) => findCommand(entries, manifest, line.split(' '))

describe('browser commands without `do`', () => {
  test.each([
    ["click '#buy'", 'click'],
    ['-s shop get-title', 'get_title'],
    ['goto http://localhost', 'navigate_to'],
    ["type '#q' tea then click '#go'", 'type_text'],
    ['press #q Enter', 'press_key'],
    ['eval document.title', 'evaluate'],
    ['select #size Large', 'select_option'],
    ['reload', 'refresh'],
  ])('bax %s', (line, command) => {
    const { entry, argv } = found(line)
    expect(entry?.words).toBe('do')
    expect(parseBatch(argv, manifest, '/').commands?.[0]?.command).toBe(command)
  })
})

test.each([
  ['snapshot', 'observe'],
  ['session ls', 'session list'],
  ['session new', 'session create'],
  ['session rm x', 'session close'],
  ['close x', 'session close'],
  ['ls', 'session list'],
  ['key rm x', 'key revoke'],
  ['shell ls', 'shell ls'],
  ['shell rm x', 'shell rm'],
])('bax %s is bax %s', (line, words) => {
  expect(found(line).entry?.words).toBe(words)
})

test('no spelling of a browser command is the name of another command', () => {
  const nouns = new Set(entries.map(({ words }) => words.split(' ')[0]))
  const names = manifest.commands.map(({ name }) => name)
  const spellings = manifest.commands.flatMap(({ also = [] }) => also)
  expect(spellings.filter((word) => nouns.has(word) || names.includes(word))).toEqual([])
  expect(names.filter((name) => nouns.has(name))).toEqual([])
  expect(new Set(spellings).size).toBe(spellings.length)
})

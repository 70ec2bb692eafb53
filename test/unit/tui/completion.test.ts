import { describe, expect, test } from 'vitest'
import { completeLine } from '../../../src/tui/complete.ts'
import { quoteWord, splitWords } from '../../../src/core/text/shell-words.ts'
import { makeManifest } from '../../../src/operations/manifest.ts'

const { commands } = makeManifest()
const page = [{ ref: 'e3', role: 'button', name: 'Buy' }]
const complete = (before: string) => completeLine(before, commands, page)

describe('a line of commands', () => {
  test.each([
    ["click '#buy now' then get-title", ['click', '#buy now', 'then', 'get-title']],
    ['type-text #q "a \\"b\\" c"', ['type-text', '#q', 'a "b" c']],
    ["a 'it'\\''s'", ['a', "it's"]],
    ["clear ''", ['clear', '']],
    ['  ', []],
  ])('%s is split as in a shell', (line, words) => {
    expect(splitWords(line).words).toEqual(words)
  })

  test('reports an unclosed quote', () => {
    expect(splitWords("click '#buy").open).toBe("'")
  })

  test.each(['#buy now', "it's", 'a"b', '', 'ref=e3'])('%j is unchanged after quoting and splitting', (word) => {
    expect(splitWords(quoteWord(word)).words).toEqual([word])
  })
})

describe('completion', () => {
  test('suggests commands, also after then', () => {
    expect(complete('navig').text).toBe('navigate-to ')
    expect(complete("click '#buy' then get-ti").text).toBe("click '#buy' then get-title ")
  })

  test('suggests and describes elements of the page for a selector', () => {
    const found = complete('click ref=')
    expect(found.text).toBe('click ref=e3 ')
    expect(found.hint).toContain('button "Buy"')
  })

  test('suggests the remaining flags of a command', () => {
    expect(complete('screenshot --full').text).toBe('screenshot --full-page ')
    expect(complete('screenshot --full-page --full').candidates).toEqual([])
  })

  test('suggests then after all required values', () => {
    expect(complete("click '#buy' ").candidates[0]).toBe('then')
  })

  test('shows the syntax of a command', () => {
    expect(complete('type-text ').hint).toContain('type-text <selector> <text> [--clear]')
  })

  test('has no suggestions for an unknown command', () => {
    expect(complete('juggle ')).toMatchObject({ text: null, candidates: [] })
  })
})

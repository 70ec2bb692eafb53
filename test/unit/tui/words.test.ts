import { describe, expect, test } from 'vitest'
import { completeLine } from '../../../src/tui/complete.ts'
import { quoted, splitWords } from '../../../src/tui/words.ts'
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
  ])('%s is split as a shell would', (line, words) => {
    expect(splitWords(line).words).toEqual(words)
  })

  test('a quote that is not closed is told', () => {
    expect(splitWords("click '#buy").open).toBe("'")
  })

  test.each(['#buy now', "it's", 'a"b', '', 'ref=e3'])('%j survives being quoted', (word) => {
    expect(splitWords(quoted(word)).words).toEqual([word])
  })
})

describe('completion', () => {
  test('names commands, also after then', () => {
    expect(complete('navig').text).toBe('navigate-to ')
    expect(complete("click '#buy' then get-ti").text).toBe("click '#buy' then get-title ")
  })

  test('names what is on the page where a selector is expected, and says what it is', () => {
    const found = complete('click ref=')
    expect(found.text).toBe('click ref=e3 ')
    expect(found.hint).toContain('button "Buy"')
  })

  test('names the flags of a command that were not given yet', () => {
    expect(complete('screenshot --f').text).toBe('screenshot --full-page ')
    expect(complete('screenshot --full-page --f').candidates).toEqual([])
  })

  test('joins commands when all that is required is there', () => {
    expect(complete("click '#buy' ").candidates[0]).toBe('then')
  })

  test('says how a command is typed', () => {
    expect(complete('type-text ').hint).toContain('type-text <selector> <text> [--clear]')
  })

  test('has nothing to add to a command that there is not', () => {
    expect(complete('juggle ')).toMatchObject({ text: null, candidates: [] })
  })
})

import { describe, expect, test } from 'vitest'
import { excerpts } from '../../../src/core/text/excerpts.ts'

const filler = 'Nothing about it. '.repeat(40)

describe('passages of a page', () => {
  test('contain all words, in upper or lower case', () => {
    const found = excerpts(`${filler}The default MaxSize is 128 entries. ${filler}`, 'maxsize 128')!
    expect(found.passages).toHaveLength(1)
    expect(found.passages[0]).toContain('The default MaxSize is 128 entries.')
    expect(found.passages[0]!.length).toBeLessThan(300)
  })

  test('are missing if a word is missing', () => {
    expect(excerpts('the default is 128', 'default maxsize')).toBeUndefined()
  })

  test('prefer the words as one phrase', () => {
    const found = excerpts(`green and black tea ${filler} black tea with milk`, 'tea with')!
    expect(found.passages).toEqual([expect.stringContaining('black tea with milk')])
  })

  test('are none where the words are far apart, but the page still counts', () => {
    expect(excerpts(`green ${filler} tea`, 'green tea')).toEqual({ passages: [], count: 0, score: 0 })
  })

  test('rank a page higher whose title has the words', () => {
    const text = 'how to brew green tea'
    const scoreOf = (title: string) => excerpts(text, 'green tea', { title })!.score
    expect(scoreOf('Green Tea')).toBeGreaterThan(scoreOf('Tea'))
  })

  test('do not split characters', () => {
    for (const before of ['', 'x']) {
      const text = `${before}${'😀'.repeat(300)} tea ${'😀'.repeat(300)}${before}`
      expect(excerpts(text, 'tea')!.passages[0]).not.toMatch(/\p{Cs}/u)
    }
  })

  test('are limited in number, also for a page that repeats them', () => {
    const text = `tea ${filler}`.repeat(50)
    expect(excerpts(text, 'tea')).toMatchObject({ passages: { length: 2 }, count: 50 })
    expect(excerpts(text, 'tea', { most: 5 })!.passages).toHaveLength(5)
  })
})

import { describe, expect, test } from 'vitest'
import {
  addTextScores,
  addWordScores,
  noScores,
  scoresOfWords,
} from '../../../src/engine/extract/main-content/features/lexicon.ts'

const scores = scoresOfWords(
  new Map([
    ['comment', -1.25],
    ['article', 0.8],
    ['read_more', -2.4],
    ['страница', 0.45],
  ]),
)

describe('scores of words', () => {
  test('adds up lowest and highest score, sum and count', () => {
    const leaning = noScores()
    addWordScores(leaning, ['comment', 'article', 'unheard', 'страница'], scores)
    expect(leaning).toEqual({ low: -1.25, high: 0.8, sum: expect.closeTo(0, 10) as number, known: 3 })
  })

  test('scores pairs of adjacent words', () => {
    const leaning = noScores()
    addTextScores(leaning, ['please', 'read', 'more'], scores)
    expect(leaning).toMatchObject({ low: -2.4, known: 1 })
    const other = noScores()
    addTextScores(other, ['more', 'read'], scores)
    expect(other).toEqual(noScores())
  })

  test('returns no scores for an empty table', () => {
    const leaning = noScores()
    addWordScores(leaning, ['comment'], scoresOfWords(new Map()))
    expect(leaning).toEqual(noScores())
  })
})

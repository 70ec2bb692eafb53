/** Widths and characters of the fonts in PDFs. */
import { describe, expect, test } from 'vitest'
import { fontFacts, plainText } from '../../../src/engine/scrape/documents/pdf/page/fonts.ts'
import { Interpreter } from '../../../src/engine/scrape/documents/pdf/page/glyphs.ts'

const operators = { setFont: 1, showText: 2 }

/** Returns the glyphs of a text that a font with the given facts shows in size 10. */
function drawn(font: object, glyphs: readonly object[]) {
  const interpreter = new Interpreter({
    operators,
    transform: [1, 0, 0, 1, 0, 0],
    fontOf: () => font,
    isVisible: () => true,
  })
  return interpreter.run({ fnArray: [1, 2], argsArray: [['F', 10], [glyphs]] }).glyphs
}

describe('the width of glyphs', () => {
  test('is in the units of the font', () => {
    const glyphs = [
      { unicode: 'a', width: 1000 },
      { unicode: 'b', width: 1000 },
    ]
    const half = drawn({ fontMatrix: [0.0005, 0, 0, 0.0005, 0, 0] }, glyphs)
    expect(half.map(({ x, width }) => [x, width])).toEqual([
      [0, 5],
      [5, 5],
    ])
    const usual = drawn({ fontMatrix: [0.001, 0, 0, 0.001, 0, 0] }, glyphs)
    expect(usual.map(({ x, width }) => [x, width])).toEqual([
      [0, 10],
      [10, 10],
    ])
  })
})

describe('codes without the name of a character', () => {
  const text = (name: string, ...codes: number[]) =>
    codes.map((code) => plainText(String.fromCharCode(code), fontFacts({ name }))).join(' ')

  test('are ligatures in fonts of text', () => {
    expect(text('ABCDEF+CMR10', 11, 12, 13, 14)).toBe('ff fi fl ffi')
  })

  test('are Greek letters in fonts of letters for formulas', () => {
    for (const name of ['CMMI10', 'LMMathItalic10', 'MathDesign-UT-Regular-Italic-MathItalic-10', 'rtxmi7'])
      expect(text(`ABCDEF+${name}`, 0, 11, 12, 24)).toBe('Γ α β ξ')
  })

  test('are symbols, or nothing, in other fonts for formulas', () => {
    expect(text('ABCDEF+CMSY10', 0, 2, 20)).toBe('− × ≤')
    expect(text('ABCDEF+CMEX10', 12)).toBe('')
    expect(text('ABCDEF+LASY10', 12)).toBe('')
  })
})

test('letters of formulas are beyond the first 65,536 characters, and Korean syllables are not', () => {
  expect(plainText('\uD44E', fontFacts({ name: 'STIXMath-Italic', composite: false }))).toBe('𝑎')
  expect(plainText('\uD44E', fontFacts({ name: 'Batang', composite: true }))).toBe('\uD44E')
})

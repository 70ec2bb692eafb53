/** Texts of pages in a test for Playwright: none of them is code. */
import type { Page } from 'playwright'
import { expect, test } from 'vitest'
import { testText } from '../../../../src/engine/browser/journal/playwright/test-text.ts'
import type { ScriptStep } from '../../../../src/engine/browser/journal/script-steps.ts'

/** None of these steps has a locator. */
const page = {} as Page
const textOf = (step: ScriptStep, remark?: string) => testText([step], { page, session: {}, remark }).script

/** Returns the lines of a script as JavaScript divides them. */
const linesOf = (script: string) => script.split(/\r\n|[\r\n\u2028\u2029]/)

test.each(['\n', '\r', '\r\n', '\u2028', '\u2029'])('%j ends no comment', (end) => {
  const text = `a${end}await hack()`
  const scripts = [
    textOf({ command: 'refresh', data: {}, comment: text }),
    textOf({ command: 'drag_to', data: { selector: text } }),
    textOf({ command: 'refresh', data: {} }, text),
  ]
  for (const script of scripts) expect(linesOf(script).filter((line) => /^\s*await hack/.test(line))).toEqual([])
})

test('line separators are escaped in literals', () => {
  const script = textOf({ command: 'insert_text', data: { text: 'a\u2028b\u2029\\c' } })
  expect(script).toContain(String.raw`insertText('a\u2028b\u2029\\c')`)
})

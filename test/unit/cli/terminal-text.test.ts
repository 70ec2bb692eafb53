import { expect, test } from 'vitest'
import { styleFor } from '../../../src/cli/output/style.ts'
import type { Io } from '../../../src/cli/io.ts'
import { withVisibleControls } from '../../../src/cli/output/terminal-text.ts'

/** Returns what an output gets when texts are written to it. */
function written(texts: readonly (string | Uint8Array)[], isTTY = true): string {
  const chunks: Buffer[] = []
  const output = withVisibleControls({ isTTY, write: (chunk) => chunks.push(Buffer.from(chunk as string)) })
  for (const text of texts) output.write(text)
  return Buffer.concat(chunks).toString()
}

test.each([
  ['sets the clipboard', 'a\u001B]52;c;ZXZpbA==\u0007b', 'a␛]52;c;ZXZpbA==␇b'],
  ['clears the screen', '\u001B[2J\u001B[H', '␛[2J␛[H'],
  ['moves back in its line', 'safe\rreal', 'safe␍real'],
  ['deletes characters', 'ab\b\b\u007F', 'ab␈␈␡'],
  ['hides text', '\u001B[8mhidden', '␛[8mhidden'],
  ['begins a sequence with one character', '\u009B2J', '\uFFFD2J'],
  ['links to another site', '\u001B]8;;https://evil.test\u001B\\x', '␛]8;;https://evil.test␛\\x'],
])('text that %s is shown', (_does, text, expected) => {
  expect(written([text])).toBe(expected)
})

test('colours and links of bax, tabs, line breaks and every language stay', async () => {
  const io = { env: {} } as unknown as Io
  const { red, bold, link, dim } = await styleFor(io, { isTTY: true, write: () => {} })
  const own = `${red('a')} ${bold('b')}${dim('c')} ${link('d', '/tmp/a b')}\tx\r\n\r\u001B[2Kשלום 👩‍👧 \u200F`
  expect(own).toMatch(/\u001B\[31ma.*\u001B\]8;;file:/)
  expect(written([own])).toBe(own)
})

test('bytes, files and pipes get everything', () => {
  expect(written([Buffer.from('\u001B[2J')])).toBe('\u001B[2J')
  expect(written(['\u001B[2J'], false)).toBe('\u001B[2J')
})

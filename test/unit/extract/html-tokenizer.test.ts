import fc from 'fast-check'
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { visibleText } from '../../../src/engine/extract/tree.ts'
import { HtmlTokenizer } from '../../../src/engine/extract/html-tokenizer.ts'

/** Returns the callbacks that a tokenizer makes, with their arguments. */
function callsOf(text: string, create: (callbacks: TokenizerCallbacks) => Pick<Tokenizer, 'write' | 'end'>): unknown[] {
  const calls: unknown[] = []
  const callbacks = new Proxy({} as TokenizerCallbacks, {
    get: (_, name) =>
      name === 'isInForeignContext' ? () => false : (...values: unknown[]) => void calls.push([name, ...values]),
  })
  const tokenizer = create(callbacks)
  tokenizer.write(text)
  tokenizer.end()
  return calls
}

const part = fc.constantFrom(
  '<p>', '</p>', '<a href="', "<a title='", '<a b=', '"', "'", '>', '<', '&', '&amp;', '&amp', '&notit;', '&#65;', '&#x', ';', ' ',
  'words of text', '<script>', '</script>', '<title>', '</title>', '<textarea>', '</textarea', '<style>', '-->', '--', '!',
  '<![CDATA[', ']]>', '<?', '/', '=', '<plaintext>', '<br/>', '</', 'é',
) // prettier-ignore

test('makes the same callbacks as the tokenizer of htmlparser2', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const text = parts.join('')
      expect(callsOf(text, (callbacks) => new HtmlTokenizer(callbacks))).toEqual(
        callsOf(text, (callbacks) => new Tokenizer({ xmlMode: false, decodeEntities: true }, callbacks)),
      )
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['<p>before</p><script><!-- write("<script src=a.js></script>"); var z; --></script><p>after</p>', 'before after'],
  ['<script><!-- <script> </script> hidden </script><p>after</p>', 'after'],
  ['<script>"<!-- x"; "<script>"; "</script>"; "-->"; y</script><p>after</p>', 'after'],
  ['<script><!-->x</script><p>after</p>', 'after'],
  ['<script></script><p>after</p>', 'after'],
])('ends the text of scripts where browsers end it: %s', (html, expected) => {
  expect(visibleText(treeFromHtml(html, '').root)).toBe(expected)
})

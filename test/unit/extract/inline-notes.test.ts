import { expect, test } from 'vitest'
import { markdownOf } from '../../support/markdown.ts'

test.each([
  [
    'LaTeXML',
    '<span id="footnote1" class="ltx_note ltx_role_footnote"><sup class="ltx_note_mark">1</sup><span class="ltx_note_outer"><span class="ltx_note_content"><sup class="ltx_note_mark">1</sup><span class="ltx_tag ltx_tag_note">1</span>By the <em>old</em> gauge.</span></span></span>',
  ],
  [
    'Tufte CSS',
    '<label for="n1" class="margin-toggle sidenote-number"></label><input type="checkbox" id="n1" class="margin-toggle"/><span class="sidenote">By the <em>old</em> gauge.</span>',
  ],
  ['Distill', '<d-footnote>By the <em>old</em> gauge.</d-footnote>'],
])('notes in sentences become footnotes: %s', (_, note) => {
  expect(markdownOf(`<p>It rose${note} by a metre.</p><p>Then it fell.</p>`)).toMatch(
    /^It rose ?\[\^1\] by a metre\.\n\nThen it fell\.\n\n\[\^1\]: By the \*old\* gauge\.\n$/,
  )
})

test('notes in sentences and notes below the text are numbered together', () => {
  const html = `<p>One<a href="#n" id="r">1</a>, two<d-footnote>Second.</d-footnote>, three<d-footnote>Third.</d-footnote>.</p>
    <ol class="footnotes"><li id="n">First. <a href="#r">↩</a></li></ol>`
  expect(markdownOf(html)).toBe('One[^1], two[^2], three[^3].\n\n[^1]: First.\n\n[^2]: Second.\n\n[^3]: Third.\n')
})

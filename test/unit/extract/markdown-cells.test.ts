import { describe, expect, test } from 'vitest'
import { markdownOf } from '../../support/markdown.ts'

const becomes = (html: string, markdown: string) => expect(markdownOf(html).trimEnd()).toBe(markdown)

/** Returns the text of a cell below a head. */
function cell(html: string): string {
  const lines = markdownOf(`<table><tr><th>Option</th><th>Value</th></tr><tr><td>a</td>${html}</tr></table>`).trimEnd().split('\n') // prettier-ignore
  expect(lines.slice(0, 2)).toEqual(['| Option | Value |', '| --- | --- |'])
  return lines.slice(2).join('\n').slice('| a | '.length, -' |'.length)
}

describe('cells', () => {
  test.each([
    ['<td><ol start=3><li>x<li>y</ol></td>', '3. x<br>4. y'],
    ['<td><ol reversed><li>x<li value=7>y<li></ol></td>', '3. x<br>7. y'],
    ['<td><ol type=i><li>x<ul><li>y</ul><li>z</ol></td>', 'i. x<br>- y<br>ii. z'],
    ['<td><p>one</p><blockquote>two</blockquote><pre>x\ny</pre></td>', 'one<br>two<br>`x`<br>`y`'],
    ['<td><code>x<br>y</code></td>', '`x`<br>`y`'],
  ])('keep the lines of %s', (html, text) => {
    expect(cell(html)).toBe(text)
  })

  test.each([
    ['<td><mat-icon role="img" aria-label="Yes" class="mat-icon">check_circle</mat-icon></td>', 'Yes'],
    ['<td><x-icon name="check" aria-label="Yes"></x-icon></td>', 'Yes'],
    ['<td><img alt="Yes" src="data:image/svg+xml,%3Csvg/%3E"></td>', 'Yes'],
    ['<td><button aria-label="Yes"><svg aria-hidden="true"><path/></svg></button></td>', 'Yes'],
    ['<td><a href="/y" aria-label="Yes"><span class="icon"></span></a></td>', 'Yes'],
    ['<td>5 GB <button aria-label="More"><svg></svg></button></td>', '5 GB'],
    ['<td><span role="img" aria-label="rocket">🚀</span></td>', '🚀'],
    ['<td><span hidden><i aria-label="No"></i></span><svg hidden aria-label="No"></svg></td>', ''],
    ['<td><img alt="No" width="1" height="1" src="/p.gif"></td>', ''],
  ])('show the label of %s', (html, text) => {
    expect(cell(html)).toBe(text)
  })
})

test('lines of inline code stay apart', () => {
  becomes('<p>Run <code>a<br>b</code> or <code><span>c </span><br><br/> d</code>.</p>', 'Run `a`\\\n`b` or `c`\\\n`d`.')
  becomes('<h2>Use <code>a<br>b</code></h2>', '## Use `a` `b`')
})

import { expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': `<!doctype html><html lang=en id=html><title>List</title><body id=body>
    <h1 id=h>Teas</h1><nav id=nav><a id=a1 class="item first" href="/1" data-price=4>One</a></nav>
    <ul id=ul><li id=l1 class=item>1<li id=l2 class="item sold"><b id=b1></b>2<li id=l3><a id=a2 href="/2?a=b#c">Two</a><p id=p1></p></ul>
    <form id=f><input id=i1 type=TEXT required><input id=i2 type=checkbox checked disabled><select id=s><option id=o1><option id=o2 selected></select></form>
    <div id=d1 class="x-y x"><div id=d2><p id=p2>text <em id=e1>in</em></p><p id=p3></p><span id=sp1></span><p id=p4 lang=en-GB></p></div></div>
    <template><a id=t class=item></a></template><svg id=svg><circle id=c1 r=1 /><a id=a3 href="/3"></a></svg>
    <table id=tab><tr id=r1><td id=c11><td id=c12><tr id=r2><td id=c21></table></body></html>`,
  '/next/': '<!doctype html><title>Next</title><h1>Next</h1><a class=item data-price=5 href="/next/more">More</a>',
  '/next/more': '<!doctype html><title>More</title><h1>More</h1><a class=item data-price=6>Six</a>',
}

const selectors = [
  '*',
  'a',
  'A.item',
  '#l2',
  '.item',
  '.item.sold',
  '[data-price]',
  '[href^="/2"]',
  '[href$="#c"]',
  '[href*="a=b"]',
  '[class~=item]',
  '[lang|=en]',
  '[class="ITEM" i]',
  '[type=text]',
  'ul > li',
  'ul li a, nav a',
  'body > div p',
  'div div > p + p',
  'p ~ p',
  'p + span ~ p',
  'li:first-child',
  'li:last-child',
  ':only-child',
  'p:first-of-type',
  'p:last-of-type',
  'p:only-of-type',
  'li:nth-child(2)',
  'li:nth-child(odd)',
  'li:nth-child(2n)',
  'li:nth-child(-n+2)',
  'li:nth-last-child(1)',
  'p:nth-of-type(2)',
  'p:nth-last-of-type(2)',
  ':empty',
  ':root',
  'li:not(.item)',
  'li:not(.item, :has(b))',
  ':not(div p)[id]',
  ':is(ul, ol) > :where(li, p):not(:first-child)',
  'li:has(a)',
  'li:has(> b)',
  'li:has(+ li)',
  'p:has(~ span)',
  'div:has(em, span)',
  ':has(:is(div em))',
  'input:required',
  ':checked',
  ':disabled',
  'input:enabled',
  ':any-link',
  'tr td:first-child',
  'html body #d1.x-y p',
  'div div div',
  'nav a, a, .item',
]

inUsualHomes(pages, (given) => {
  test('selectors match the same elements as in a browser', async () => {
    await given.open('/')
    const expression = `(${JSON.stringify(selectors)}).map((selector) => [...document.querySelectorAll(selector)].map(({ id }) => id).filter(Boolean))`
    const { result } = (await given.do('evaluate', { expression })) as { result: { value: string[][] } }
    const { data } = await given.client().scrape({
      url: given.url('/'),
      formats: [{ type: 'attributes', selectors: selectors.map((selector) => ({ selector, attribute: 'id' })) }],
    } as never)
    const found = data!.attributes!.map(({ selector, values }) => [selector, values])
    expect(found).toEqual(selectors.map((selector, at) => [selector, result.value[at]]))
  })

  test('are read by scrapes of both APIs, beside other formats', async () => {
    const attributes = { type: 'attributes', selectors: [{ selector: '.item', attribute: 'data-price' }] }
    const expected = [{ selector: '.item', attribute: 'data-price', values: ['4'] }]
    for (const path of ['/v1/scrape', '/v2/scrape']) {
      const response = await fetch(`${given.homes().baseUrl}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ url: given.url('/'), formats: ['links', attributes] }),
      })
      const { data } = (await response.json()) as { data: Record<string, unknown> }
      expect(data).toMatchObject({ attributes: expected, links: expect.any(Array) })
    }
  })

  test('a selector that is not valid is an error before the page is loaded', async () => {
    const scrape = (formats: unknown) => given.client().scrape({ url: 'http://127.0.0.1:1/', formats } as never)
    const invalid = [{ type: 'attributes', selectors: [{ selector: 'a:hover', attribute: 'href' }] }]
    await expect(scrape(invalid)).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'formats[0].selectors[0].selector' }],
    })
    await expect(scrape(['attributes'])).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'formats' }],
    })
  })

  test('bax scrape --attribute prints the values as JSON', async () => {
    const argv = ['scrape', given.url('/'), '--attribute', '.item@data-price', '--attribute', '[href*="@"], a@href']
    const { stdout, code } = await bax(argv)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual([
      { selector: '.item', attribute: 'data-price', values: ['4'] },
      { selector: '[href*="@"], a', attribute: 'href', values: ['/1', '/2?a=b#c', '/3'] },
    ])
    const wrong = await bax(['scrape', given.url('/'), '--attribute', 'href'])
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("write it as 'a.next@href'") })
  })

  test('bax crawl --attribute reads every page', async () => {
    const { stdout } = await bax(['crawl', given.url('/next/'), '--attribute', '.item@data-price', '--ndjson'])
    const values = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { attributes: { values: string[] }[] })
      .map(({ attributes }) => attributes[0]!.values)
    expect(values).toEqual([['5'], ['6']])
  })
})

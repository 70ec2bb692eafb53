import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'
import { treeFromHtml } from '../../src/engine/extract/html-tree.ts'
import { toMarkdown } from '../../src/engine/extract/markdown.ts'

const pages = {
  '/': `<!doctype html><html lang=en><head><title>Shop</title><meta name=description content="A shop"></head><body>
    <main><h1>Our <em>shop</em></h1><p>We sell <a href=/tea>tea</a> and <b>cups</b>.</p><img src=/cup.png alt=Cup>
    <ul><li>Green</li><li>Black</li></ul>
    <table><caption>Prices</caption><tr><th>Tea</th><th>Price</th></tr><tr><td>Green</td><td>4</td></tr></table>
    <form id=login action=/login method=post><label>Name <input name=user required></label><input name=pass type=password value=hush>
      <select name=kind><option value=a>Alpha</option></select></form></main>
    <p id=styled style="text-transform:uppercase">loud <span hidden>silent</span></p><input id=q value=typed>
    <div id=host></div><iframe id=inner srcdoc="<h2 title=t>Inside</h2>"></iframe>
    <script>document.querySelector('#host').attachShadow({mode:'open'}).innerHTML = '<h3 id=deep lang=de>In the shadow</h3>'</script>
    </body></html>`,
  '/marks': `<!doctype html><title>Marks</title><p>Plans</p>
    <table><tr><th rowspan=2><h3>Plan</h3></th><th colspan=2>Price</th></tr><tr><th>month</th><th>year</th></tr>
      <tr><td><svg role=img aria-label=Included></svg></td><td><svg><title>Yes</title><path d="M0 0"/></svg></td><td><ol start=3><li>a</li><li>b</li></ol></td></tr></table>
    <ol><li>one</li><li value=7>seven</li></ol><p>four</p>
    <img alt=grows src=/a.png width=0 height=0 sizes=100vw style="width:100%"><img alt=lazy src="data:image/gif;base64,R0lGOD" data-any=/b.png>
    <p>so <span class="math">\\(x_1\\)</span></p><math display=block><mi>y</mi></math><img src=/pixel.gif width=1 height=1>
    <mjx-container jax=SVG display=true><svg role=img></svg><mjx-assistive-mml><math display=block><mi>z</mi></math></mjx-assistive-mml></mjx-container>`,
}

inUsualHomes(pages, (given) => {
  const one = async (data?: Record<string, unknown>) => (await given.run([['get_content', data]])).results[0]!

  test('get_content returns the page as markdown, html or an outline', async () => {
    await given.open('/')
    const markdown = await one()
    expect(markdown).toMatchObject({ success: true, command_type: 'extraction', content_type: 'markdown' })
    expect(markdown.data!['content']).toMatch(/# Our (\*shop\*|_shop_|shop)/)
    expect(markdown.data!['content']).toContain('[tea](')
    const html = await one({ kind: 'html' })
    expect(html).toMatchObject({ content_type: 'html', data: { content: expect.stringContaining('<h1>Our <em>shop') } })
    const json = await one({ kind: 'json' })
    expect(json).toMatchObject({
      content_type: 'json',
      data: {
        content: {
          url: given.url('/'),
          title: 'Shop',
          language: 'en',
          description: 'A shop',
          headings: expect.arrayContaining([
            { level: 1, text: 'Our shop' },
            { level: 3, text: 'In the shadow' },
          ]),
          links: [{ text: 'tea', href: given.url('/tea') }],
          images: [{ src: given.url('/cup.png'), alt: 'Cup' }],
          tables: [
            {
              caption: 'Prices',
              rows: [
                ['Tea', 'Price'],
                ['Green', '4'],
              ],
            },
          ],
          text: expect.stringContaining('We sell tea and cups.'),
        },
      },
    })
    const { forms } = json.data!['content'] as { forms: unknown[] }
    expect(forms).toMatchObject([
      {
        action: given.url('/login'),
        method: 'post',
        fields: [
          { name: 'user', label: 'Name', required: true },
          { name: 'pass', type: 'password', value: null },
          { name: 'kind', options: [{ value: 'a', label: 'Alpha' }] },
        ],
      },
    ])
  })

  test('get_content returns the same Markdown as a page that is not rendered', async () => {
    await given.open('/marks')
    const { content } = (await one()).data! as { content: string }
    expect(content.trim()).toBe(toMarkdown(treeFromHtml(pages['/marks'], given.url('/marks'))).trim())
    for (const part of [
      '| Plan | Price month | Price year |',
      '| Included | Yes | 3. a<br>4. b |',
      '7) seven',
      '![grows](',
      '![lazy](',
      '$x_1$',
      '$$\ny\n$$',
      '$$\nz\n$$',
    ])
      expect(content).toContain(part)
    expect(content).not.toContain('pixel')
  })

  test('get_content returns one element in the same formats', async () => {
    await given.open('/')
    const list = await one({ selector: 'ul' })
    expect(list.data!['content']).toMatch(/^[-*] Green\n+[-*] Black\s*$/)
    expect((await one({ selector: 'ul', kind: 'html' })).data).toEqual({
      content: '<ul><li>Green</li><li>Black</li></ul>',
    })
    expect((await one({ selector: 'table', kind: 'json' })).data).toMatchObject({ content: { links: [] } })
    expect((await one({ selector: '#deep', kind: 'html' })).data!['content']).toContain('In the shadow')
    expect((await one({ selector: 'frame=#inner >> h2' })).data!['content']).toMatch(/## Inside/)
    expect((await given.fails('get_content', { selector: '#no', timeout_ms: 700 })).code).toBe('element_not_found')
  })

  test('get_text returns the rendered text, or the value of a field', async () => {
    await given.open('/')
    expect(await given.value('get_text', { selector: 'h1' })).toBe('Our shop')
    expect(await given.value('get_text', { selector: '#styled' })).toBe('LOUD')
    expect(await given.value('get_text', { selector: '#q' })).toBe('typed')
    expect(await given.value('get_text', { selector: '#deep' })).toBe('In the shadow')
    expect(await given.value('get_text', { selector: 'frame=#inner >> h2' })).toBe('Inside')
    const { error, code } = await given.fails('get_text', { selector: '#dep', timeout_ms: 700 })
    expect({ code, error }).toMatchObject({ code: 'element_not_found', error: expect.stringContaining('#deep') })
  })

  test('get_attribute returns the value of an attribute, or null', async () => {
    await given.open('/')
    expect(await given.do('get_attribute', { selector: 'main a', attribute: 'href' })).toEqual({
      result: { type: 'string', value: '/tea' },
    })
    expect(await given.do('get_attribute', { selector: 'main a', attribute: 'rel' })).toEqual({
      result: { type: 'null', value: null },
    })
    expect(await given.value('get_attribute', { selector: '#deep', attribute: 'lang' })).toBe('de')
    expect(await given.value('get_attribute', { selector: 'frame=#inner >> h2', attribute: 'title' })).toBe('t')
  })

  test('get_title returns the title of the page', async () => {
    await given.open('/')
    const { results } = await given.run([['get_title']])
    expect(results[0]).toMatchObject({
      success: true,
      command_type: 'extraction',
      command: 'get_title',
      index: 0,
      content_type: 'data',
      data: { result: { type: 'string', value: 'Shop' } },
    })
  })
})

import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Observation } from '../../src/core/shapes/observe.ts'
import { inUsualHomes } from '../support/commands.ts'

/** Texts that observations of real applications once omitted. */
const pages = {
  '/basket': `<!doctype html><main><div style="cursor:pointer" onclick=""><b>Basket</b><table><tr><th>Tea</th><th>Sum</th></tr>
    <tr><td>Assam</td><td>12 EUR</td></tr></table></div>
    <button aria-label="Checkout 12 EUR"><div>12 EUR</div><div>2 items</div></button>
    <fieldset><legend>Delivery</legend><label><input type=radio name=d checked> Post</label></fieldset>
    <label>Code <input placeholder="8 digits" value=42></label></main>`,
  '/editors': `<!doctype html><div role=textbox contenteditable aria-label=Message>Dear all<p>Second</p></div>
    <div contenteditable>No role, <b>bold</b></div>
    <div id=code style="width:300px;height:60px"><div id=host role=textbox aria-label="Editor content" tabindex=0 style="width:0;height:19px"></div>
    <textarea readonly tabindex=-1 aria-hidden=true style="width:100px"></textarea><div aria-hidden=true>let answer = 42</div></div>
    <script>host.editContext = new EditContext()</script>`,
  '/grid': `<!doctype html><div role=grid aria-label=Cars><div role=row tabindex=0><div role=columnheader>Make</div><div role=columnheader>Price</div></div>
    <div role=row tabindex=0><div role=gridcell>Ford</div><div role=gridcell>20 000</div></div></div>`,
  '/modal': `<!doctype html><div role=dialog aria-modal=true aria-label=Waiting style="display:none"><button>Later</button></div>
    <h1>Page</h1><button>Behind</button><div style="position:fixed;inset:0"></div>
    <div role=dialog aria-modal=true aria-label=Cookies style="position:fixed"><p>We use cookies</p><button>Accept</button></div>
    <div inert><button>Switched off</button></div>`,
  '/panel': `<!doctype html><div role=dialog aria-modal=true aria-label=Colors><button>Red</button></div><button>Beside</button>
    <p style="height:3000px"></p><button>Below</button>`,
  '/secret': `<!doctype html><table><tr tabindex=0><td>Key <input type=password aria-label=Key value=hunter2></td></tr></table>
    <h2>Key <input type=password value=hunter2></h2><div style="cursor:pointer">Card <input type=password value=hunter2></div>`,
  '/footer': `<!doctype html><style>p{height:200px}</style><main>${Array.from({ length: 60 }, (_, at) => `<p>Paragraph ${at} of the page</p>`).join('')}</main>
    <footer><div>Imprint and terms</div></footer>`,
  '/opens': `<!doctype html><title>Opens</title><details><summary>More about us</summary><p>We sell tea</p></details>
    <label><b>Upload</b> a file <input type=file style="display:none" onchange="document.title = this.files[0].name"></label>
    <label><b>Name</b> of you <input hidden></label>`,
  '/outside': `<!doctype html><title>Outside</title><p>Inside</p><script>document.documentElement.append(Object.assign(document.createElement('aside'), { innerHTML: 'Beside <button onclick="this.textContent = &quot;Done&quot;">Accept</button>' }), 'Loose')</script>`,
  '/notes': `<!doctype html><p>Short</p><p>${'long '.repeat(400)}</p><select aria-label=Country>${Array.from({ length: 30 }, (_, at) => `<option>C${at}`).join('')}</select>`,
}

inUsualHomes(pages, (given) => {
  const observe = (input: object = {}): Promise<Observation> =>
    given.client().observe({ session_id: given.sessionId(), ...input } as never)
  const snapshot = async (path: string, input: object = {}) => {
    await given.open(path)
    return (await observe(input)).snapshot!.replaceAll(/ \[ref=e\d+\]/g, '')
  }

  test('includes what is beside the body', async () => {
    await given.open('/outside')
    const { snapshot, text } = await observe({ include: ['snapshot', 'text'] })
    for (const part of ['Inside', 'Beside', 'Accept', 'Loose']) {
      expect(snapshot).toContain(part)
      expect(text).toContain(part)
    }
    const [, ref] = /button "Accept" \[ref=(e\d+)\]/.exec(snapshot!)!
    await given.do('click', { selector: `ref=${ref}` })
    expect((await observe()).snapshot).toMatch(/button "Done"/)
  })

  test('has references for summaries, and for labels that stand for a hidden file field', async () => {
    await given.open('/opens')
    const { snapshot } = await observe()
    const refOf = (name: string) => `ref=${new RegExp(`${name}.* \\[ref=(e\\d+)\\]`).exec(snapshot!)![1]}`
    expect(snapshot).not.toMatch(/of you.*ref=/)
    await given.do('click', { selector: refOf('More about us') })
    expect((await observe()).snapshot).toContain('We sell tea')
    await given.do('upload_files', { selector: refOf('Upload'), files: [fileURLToPath(import.meta.url)] })
    expect(await given.value('get_title')).toBe('observe-text.test.ts')
  })

  test('includes totals, tables, legends and placeholders', async () => {
    expect(await snapshot('/basket')).toBe(`- main:
  - generic:
    - text: Basket
    - table:
      - row: Tea | Sum
      - row: Assam | 12 EUR
  - button "Checkout 12 EUR": 2 items
  - group "Delivery":
    - radio "Post" [checked]
  - textbox "Code" [placeholder="8 digits"]: "42"`)
  })

  test('shows the content of editors with role and reference, but not their hidden fields', async () => {
    expect(await snapshot('/editors')).toBe(`- textbox "Message": Dear all Second
- textbox: No role, bold
- textbox "Editor content": let answer = 42`)
    const { snapshot: named } = await observe({ interactive_only: true })
    const [, ref] = /textbox "Editor content" \[ref=(e\d+)\]/.exec(named!)!
    await given.do('click', { selector: `ref=${ref}` })
    expect(named).not.toContain('aria-hidden')
  })

  test('includes the cells of focusable rows', async () => {
    expect(await snapshot('/grid')).toBe(`- grid "Cars":
  - row "Make | Price"
  - row "Ford | 20 000"`)
  })

  test('lists content behind an open dialog last, and ignores hidden dialogs', async () => {
    expect(await snapshot('/modal')).toBe(`- dialog "Cookies":
  - text: We use cookies
  - button "Accept"
# out of reach, behind an open dialog or inert:
- heading "Page" [level=1]
- button "Behind"
- button "Switched off"`)
    const { elements } = await observe({ interactive_only: true })
    expect(elements!.map(({ name, inert }) => [name, inert])).toEqual([
      ['Accept', undefined],
      ['Behind', true],
      ['Switched off', true],
    ])
  })

  test('lists what is beside a panel that the page calls modal, and that people can reach', async () => {
    expect(await snapshot('/panel')).toBe(`- dialog "Colors":
  - button "Red"
- button "Beside"
- button "Below"`)
  })

  test('omits the value of a password field from all names', async () => {
    await given.open('/secret')
    for (const interactive_only of [false, true])
      expect(JSON.stringify(await observe({ interactive_only }))).not.toContain('hunter2')
  })

  test('ranks a footer after everything in view', async () => {
    const above = await snapshot('/footer', { max_chars: 500 })
    expect(above).toContain('Paragraph 0 of')
    expect(above).not.toContain('Imprint')
    await given.do('scroll_to', { y: 100_000 })
    const below = (await observe({ max_chars: 500 })).snapshot!
    expect(below).toContain('Imprint')
    expect(below).not.toContain('Paragraph 0 of')
  })

  test('reports how much of long texts and option lists is omitted', async () => {
    await given.open('/notes')
    const { snapshot: short, omitted, truncated } = await observe({ max_chars: 700 })
    expect(short).toMatch(/- text: Short\n- text: (?:long ){20,}.*… \(\d+ more characters\)\n- combobox "Country"/)
    expect(omitted).toEqual({ texts: 1, options: 20 })
    expect(truncated).toBe(true)
    const whole = await observe()
    expect(whole).toMatchObject({ truncated: false, omitted: { options: 20 } })
    expect(whole.snapshot).toContain('| C9 | 20 more]')
  })
})

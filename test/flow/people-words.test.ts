/** Names with icons, names in place of selectors, dates typed by their parts, and forms after a navigation. */
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const icon = '\uE900'
const pages = {
  '/icons': `<!doctype html><style>.a::before { content: "${icon}" } .b::after { content: " ${icon}" }</style>
    <a id=one class=a role=button href=#one>Compose</a><button id=two class=b>Send all</button>
    <button id=three>Inbox <i>${icon}</i> 3</button><button id=four>Composed</button>
    <button id=five>Next >> all</button><button id=six>Don't "ask"</button><button id=seven><b>C:\\a/b|[c]</b></button>`,
  '/tooltips': `<!doctype html><style>.a::before { content: "${icon}" } .b::before { content: "\u{F01C9}" }</style>
    <a class=a role=button href=#one title="Add contact"><span hidden>Add</span></a><p>${icon}</p><b>Mail ${icon}</b>
    <button class=b title="" data-original-title=Options></button><button class=b></button><input aria-label=Note value="${icon}">
    <button class=a title="Add contact" aria-expanded=true></button>`,
  '/drawn': `<!doctype html><style>.r::after { content: " *" } .s::before { content: "★ " }</style>
    <label class=r for=a>E-mail</label><input id=a><label>E-mail: <input id=b></label><label class=s for=c>Gift</label><input id=c type=checkbox>`,
  '/recipients': `<!doctype html><label>To <textarea role=combobox aria-autocomplete=list aria-expanded=false
    style="position: absolute; left: -5000px; opacity: 0" onchange="value += ','"></textarea></label><input role=combobox>`,
  '/words': `<!doctype html><button>Send</button><nav>Menu</nav><button>Größe ändern…</button><a href=#x>Sign-in</a>
    <button aria-label=Search></button><a href=#x>Main Menu</a><button>Save &amp; close</button><button>Yes, delete</button>
    <a href=#x>Don't ask again</a><button>#1 pick</button><button>.NET</button><label>Terms (2026)</label>`,
  '/menu': `<!doctype html><ul><li><a href=#x><img alt=Browse>Browse <b>(current)</b></a></li></ul><button>Browse all</button>
    <a href=#y><img alt=Sales>&nbsp;Sales</a><button>Sales tax</button>`,
  '/dates': `<!doctype html><input id=date type=date><input id=time type=time><input id=week type=week value=2024-W09><input id=colour type=color value=#ff0000>`,
  '/first': `<!doctype html><label>Subject <input type=checkbox></label>
    <a id=go href=# onclick="setTimeout(() => location.href = '/second', 150); return false">Compose</a>`,
  '/second': '<!doctype html><title>Second</title><label>Subject <input id=subject></label>',
}

inUsualHomes(pages, (given) => {
  test('a name matches as observations show it, without the icons of fonts', async () => {
    await given.open('/icons')
    const idOf = (selector: string) => given.value('evaluate_on_element', { selector, expression: 'this.id' })
    expect(await idOf('role=button[name="Compose"]')).toBe('one')
    expect(await idOf("role=button[name='Send all']")).toBe('two')
    expect(await idOf('role=button[name="inbox 3" i]')).toBe('three')
    expect(await given.fails('click', { selector: 'role=button[name="Comp"]', timeout_ms: 700 })).toMatchObject({
      code: 'element_not_found',
    })
  })

  test('observations have no icons, and name an icon by its tooltip, which selectors match', async () => {
    await given.open('/tooltips')
    const observed = await given.client().observe({ session_id: given.sessionId() })
    expect(observed.snapshot!.replaceAll(/ \[ref=e\d+\]/g, '').split('\n')).toEqual([
      '- button "Add contact"',
      '- text: Mail',
      '- button "Options"',
      '- button',
      `- textbox "Note": ${icon}`,
      '- button "Add contact" [expanded]',
    ])
    expect(await given.value('count_elements', { selector: 'role=button[name="Add contact"]' })).toBe(2)
    expect(await given.value('count_elements', { selector: 'role=button[name="add contact" i][expanded]' })).toBe(1)
    expect(await given.value('count_elements', { selector: 'role=button[name="Options"]' })).toBe(1)
    expect(await given.value('count_elements', { selector: 'role=button[name="Add"]' })).toBe(0)
  })

  test('labels match with the symbols that styles draw', async () => {
    await given.open('/drawn')
    const { snapshot } = await given.client().observe({ session_id: given.sessionId() })
    for (const name of ['E-mail *', '★ Gift']) expect(snapshot).toContain(JSON.stringify(name))
    expect(await given.value('count_elements', { selector: 'label="E-mail *"' })).toBe(1)
    expect(await given.value('count_elements', { selector: 'label="E-mail +"' })).toBe(0)
    await given.do('fill_form', { fields: { 'E-mail *': 'a', 'E-mail:': 'b', '★ Gift': true } })
    expect(await given.value('get_value', { selector: '#a' })).toBe('a')
    expect(await given.value('get_value', { selector: '#b' })).toBe('b')
    expect(await given.value('count_elements', { selector: '#c:checked' })).toBe(1)
  })

  test('a form fills a combobox of several lines, which people reach by another field, as text', async () => {
    await given.open('/recipients')
    await given.do('fill_form', { fields: { To: 'anna@example.com' } })
    expect(await given.value('get_value', { selector: 'textarea' })).toBe('anna@example.com,')
  })

  test.each([
    ['Next >> all', 'five'],
    ['Don\'t \\"ask\\"', 'six'],
    ['C:\\\\a/b|[c]', 'seven'],
  ])('a name may contain characters with a meaning in selectors: %s', async (name, id) => {
    await given.open('/icons')
    const expression = 'this.closest("button").id'
    expect(await given.value('evaluate_on_element', { selector: `role=button[name="${name}"]`, expression })).toBe(id)
    const inner = `role=button[name="${name}"] >> xpath=.`
    expect(await given.value('evaluate_on_element', { selector: inner, expression })).toBe(id)
  })

  test('a name in place of a selector fails at once, with the selector for it', async () => {
    await given.open('/words')
    const failure = await given.fails('click', { selector: 'Send', timeout_ms: 60_000 })
    expect(failure).toMatchObject({ code: 'element_not_found', hint: 'did you mean text="Send"?' })
    await given.fails('click', { selector: 'Page 5', timeout_ms: 60_000 })
    await given.do('get_text', { selector: 'nav' })
  })

  test.each([
    ['Search', 'role=button[name="Search"]'],
    ['Größe ändern…', 'text="Größe ändern…"'],
    ['Größe', 'text="Größe ändern…"'],
    ['Sign-in', 'text="Sign-in"'],
    ['Main Menu', 'text="Main Menu"'],
  ])('%s is a name, although an element could have it', async (selector, found) => {
    await given.open('/words')
    const { hint } = await given.fails('click', { selector, timeout_ms: 60_000 })
    expect(hint).toBe(`did you mean ${found}?`)
    await given.do('click', { selector: found })
  })

  test.each([
    ['Save & close', 'invalid_selector', 'Save & close'],
    ['save & clos', 'invalid_selector', 'Save & close'],
    ["Don't ask again", 'invalid_selector', "Don't ask again"],
    ['Terms (2026)', 'invalid_selector', 'Terms (2026)'],
    // These are selectors, too.
    ['Yes, delete', 'element_not_found', 'Yes, delete'],
    ['#1 pick', 'element_not_found', '#1 pick'],
    ['.net', 'element_not_found', '.NET'],
  ])('a text with punctuation leads to the control that shows it: %s', async (selector, code, text) => {
    await given.open('/words')
    const failure = await given.fails('click', { selector, timeout_ms: 60_000 })
    expect(failure).toMatchObject({ code, hint: `did you mean text=${JSON.stringify(text)}?` })
    expect(failure.details).toMatchObject({ candidates: [{ selector: `text=${JSON.stringify(text)}` }] })
    await given.do('get_text', { selector: `text=${JSON.stringify(text)}` })
  })

  test('a selector of an element that appears later is waited for', async () => {
    await given.open('/words')
    await given.evaluate('setTimeout(() => document.body.append(document.createElement("my-dialog")), 300)')
    await given.do('get_text', { selector: 'my-dialog' })
  })

  test('an error suggests only selectors that match', async () => {
    await given.open('/menu')
    for (const selector of ['role=link[name="Browse (current)"]', 'role=listitem[name="Browse (current)"]']) {
      const { details } = await given.fails('click', { selector, timeout_ms: 700 })
      const { candidates } = details as { candidates: { selector: string }[] }
      expect(candidates.length).toBeGreaterThan(0)
      for (const one of candidates) expect(await given.value('count_elements', { selector: one.selector })).not.toBe(0)
    }
  })

  test('an error suggests the name of a link with an icon, which has the texts of both', async () => {
    await given.open('/menu')
    const { hint } = await given.fails('click', { selector: 'role=link[name="Sales"]', timeout_ms: 700 })
    expect(hint).toBe('did you mean role=link[name="Sales Sales"]?')
    await given.do('click', { selector: 'role=link[name="Sales Sales"]' })
  })

  test('a date or time is typed by its parts, and text that gives none leaves the field as it was', async () => {
    await given.open('/dates')
    const value = (id: string) => given.evaluate(`document.querySelector('#${id}').value`)
    await given.do('type_text', { selector: '#date', text: '03092026' })
    await given.do('type_text', { selector: '#time', text: '0930PM' })
    expect([await value('date'), await value('time')]).toEqual(['2026-03-09', '21:30'])
    for (const [id, kept] of Object.entries({ date: '2026-03-09', week: '2024-W09', colour: '#ff0000' })) {
      for (const text of ['tomorrow', '1']) {
        const failure = await given.fails('type_text', { selector: `#${id}`, text })
        expect(failure).toMatchObject({ code: 'invalid_data', error: `#${id} does not take "${text}"` })
        expect(await value(id)).toBe(kept)
      }
    }
    await given.do('type_text', { selector: '#date', text: '2024-02-29' })
    expect(await value('date')).toBe('2024-02-29')
  })

  test('a form is filled on the page that a click leads to by a script', async () => {
    await given.open('/first')
    await given.do('click', { selector: '#go' })
    await given.do('fill_form', { fields: { Subject: 'Hello' } })
    expect(await given.evaluate('document.title + subject.value')).toBe('SecondHello')
  })
})

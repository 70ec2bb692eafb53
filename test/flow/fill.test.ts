import { expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { inUsualHomes } from '../support/commands.ts'

const fields = `<input id=q value=old><textarea id=area></textarea><div id=rich contenteditable>Hi</div>
  <input id=date type=date><input id=num type=number><input id=short maxlength=5><input id=off disabled>
  <input id=fixed readonly value=same><input id=file type=file><input type=checkbox id=box><select id=size><option>small</select>
  <button id=b>Button</button><input id=hidden hidden><label id=label>Name <input id=name></label>`
const pages = {
  '/': `<!doctype html>${fields}<div id=host></div><iframe id=inner srcdoc="<input id=in>"></iframe><script>
    document.querySelector('#host').attachShadow({mode:'open'}).innerHTML = '<input id=shadow>'
    window.events = []
    for (const type of ['input', 'change']) document.addEventListener(type, (event) => events.push(type + ' ' + event.target.id))
  </script>`,
  '/framework': `<!doctype html><input id=q><script>
    // Like React, which replaces the property to notice changes by scripts.
    const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')
    let known = ''
    Object.defineProperty(q, 'value', { get() { return own.get.call(this) }, set(value) { known = value; own.set.call(this, value) } })
    q.addEventListener('input', () => { if (q.value !== known) { known = q.value; document.title = known } })
  </script>`,
  '/emptied': `<!doctype html><input id=q oninput="this.value = ''"><input id=short oninput="this.value = this.value.slice(0, 2)"><input id=async oninput="Promise.resolve().then(() => this.value = '')"><input id=soon oninput="setTimeout(() => this.value = '')"><div id=rich contenteditable oninput="this.textContent = ''"></div><textarea id=area oninput="this.value = ''"></textarea>
    <input id=back value=old oninput="this.value = 'old'"><input id=later oninput="setTimeout(() => this.value = 'old')">
    <div id=other contenteditable oninput="this.textContent = 'other'"></div>
    <input id=upper oninput="this.value = this.value.toUpperCase()"><input id=mask oninput="this.value = this.value.replace(/(...)(?=.)/g, '$1 ')"><input id=money oninput="this.value = '$' + this.value + '.00'">
    <input id=tags onchange="document.title = this.value; this.value = ''">`,
  '/number': `<!doctype html><title>0</title><input id=keys role=spinbutton><input id=most role=spinbutton><input id=least inputmode=decimal onblur="this.value = this.value && String(Math.max(10, this.value))">
    <input id=range type=number onchange="this.value = Math.min(100, this.value)"><input id=list type=number onchange="document.title = this.value; this.value = ''"><script>
    // Like libraries that take single keys, and those that change a number when it is left.
    let known = ''
    keys.onkeydown = ({ key }) => { known = /\\d/.test(key) ? (keys.selectionEnd > keys.selectionStart ? '' : known) + key : key === 'Delete' ? '' : known }
    keys.oninput = () => { keys.value = known }
    keys.onblur = () => { document.title = known }
    most.onblur = () => { most.value = most.value && String(Math.min(100, Number(most.value))) }</script>`,
  '/filter': `<!doctype html><input id=q><input id=code onkeyup="this.value = this.value.slice(0, 2)"><p>Assam</p><p>Sencha</p><script>
    q.onkeyup = () => { for (const at of document.querySelectorAll('p')) at.hidden = !at.textContent.includes(q.value) }</script>`,
  '/late': `<!doctype html><script>setTimeout(() => { document.body.innerHTML = '<input id=q disabled>'; setTimeout(() => (q.disabled = false), 100) }, 100)</script><body>`,
  '/hang': `<!doctype html><input id=q oninput="const request = new XMLHttpRequest(); request.open('GET', '/wait', false); request.send()">`,
  '/stuck': `<!doctype html><input id=q><input hidden><script>Object.defineProperty(HTMLInputElement.prototype, 'readOnly', { get() {
    const request = new XMLHttpRequest(); request.open('GET', '/wait', false); request.send() } })</script>`,
  '/wait': (_: unknown, response: import('node:http').ServerResponse) => void setTimeout(() => response.end(), 3000),
  '/form': `<!doctype html><form><label>Email <input type=email id=email></label><label for=full>Full name *</label><input id=full>
    <label><input type=checkbox id=terms> I agree</label><label><input type=checkbox id=news checked> Newsletter</label>
    <label><input type=radio name=pay id=card> Card</label><label><input type=radio name=pay id=cash> Cash</label>
    <label>Country <select id=country><option value=de>Germany<option value=fr>France</select></label>
    <label>Colours <select id=colours multiple><option>red<option>green<option>blue</select></label>
    <label>Birthday <input type=date id=birthday></label><input id=city placeholder="Your city">
    <label>Photo <input type=file id=photo></label><address>Address</address><label>Address <textarea id=address></textarea></label>
    <label>Fixed <input id=fixed readonly></label><label>Twin <input id=t1></label><label>Twin <input id=t2></label></form>`,
}

inUsualHomes(pages, (given) => {
  const held = (selector: string) => given.value('get_value', { selector })

  test('fill ends after its timeout when the page does not answer', async () => {
    await given.open('/stuck')
    // One of several matches, which Playwright fills: direct actions do not run the page's code.
    const failed = await given.fails('fill', { selector: 'xpath=//input', text: 'x', timeout_ms: 2000 })
    expect(failed).toMatchObject({ code: 'timeout', error: 'the page did not answer in time' })
  })

  test('fill sets numbers in fields that take only keys, and reports those that the page replaces', async () => {
    await given.open('/number')
    for (const text of ['47', '5', '']) {
      await given.do('fill', { selector: '#keys', text })
      expect([await held('#keys'), await given.value('get_title')]).toEqual([text, text])
    }
    await given.do('fill_form', { fields: { '#keys': 12, '#most': 99 } })
    expect([await held('#keys'), await held('#most')]).toEqual(['12', '99'])
    const failed = await given.fails('fill', { selector: '#most', text: '250' })
    expect(failed).toMatchObject({ code: 'not_editable', error: expect.stringContaining('has another text, "100"') })
    await given.do('fill', { selector: '#least', text: '12.5' })
    expect(await given.evaluate('document.activeElement.id')).toBe('least')
    expect(await given.fails('fill', { selector: '#least', text: '2' })).toMatchObject({ code: 'not_editable' })
    await given.do('fill', { selector: '#range', text: '99' })
    expect(await given.fails('fill', { selector: '#range', text: '250' })).toMatchObject({ code: 'not_editable' })
    // The page takes the number, and empties the field for the next one.
    await given.do('fill', { selector: '#list', text: '7' })
    expect(await given.value('get_title')).toBe('7')
  })

  test('fill replaces the text of a field, and fires input and change once', async () => {
    await given.open('/')
    await given.do('fill', { selector: '#q', text: 'new "text" 😀' })
    expect(await held('#q')).toBe('new "text" 😀')
    await given.do('fill', { selector: '#area', text: 'one\ntwo' })
    expect(await held('#area')).toBe('one\ntwo')
    await given.do('fill', { selector: '#q', text: '' })
    expect(await held('#q')).toBe('')
    await given.do('focus', { selector: '#b' })
    expect(await given.evaluate('events')).toEqual(['q', 'area', 'q'].flatMap((id) => [`input ${id}`, `change ${id}`]))
  })

  test('fill and fill_form change what a page does when a key is released', async () => {
    await given.open('/filter')
    const shown = () => given.evaluate(`[...document.querySelectorAll('p:not([hidden])')].map((at) => at.textContent)`)
    await given.do('fill', { selector: '#q', text: 'Sen' })
    expect(await shown()).toEqual(['Sencha'])
    await given.do('clear', { selector: '#q' })
    expect(await shown()).toEqual(['Assam', 'Sencha'])
    await given.do('fill_form', { fields: { '#q': 'Ass' } })
    expect(await shown()).toEqual(['Assam'])
    expect(await given.fails('fill', { selector: '#code', text: '1234' })).toMatchObject({ code: 'not_editable' })
  })

  test('fill fails when the page does not keep the text', async () => {
    await given.open('/emptied')
    for (const selector of ['#q', '#q >> nth=0', '#async', '#soon', '#rich', '#area'])
      expect(await given.fails('fill', { selector, text: 'tea' })).toMatchObject({
        code: 'not_editable',
        error: `${selector} is empty again: the page has removed the text`,
        details: { delivered: true },
      })
    await given.do('fill', { selector: '#q', text: '' })
    for (const [selector, kept] of Object.entries({
      '#short': 'te',
      '#back': 'old',
      '#later': 'old',
      '#other': 'other',
    }))
      expect(await given.fails('fill', { selector, text: 'tea' })).toMatchObject({
        code: 'not_editable',
        error: `${selector} has another text, "${kept}": the page has changed it`,
        details: { delivered: true },
      })
    // A field that is cleared after its value was accepted.
    await given.do('fill', { selector: '#tags', text: 'green' })
    expect(await given.value('get_title')).toBe('green')
  })

  test.each([
    ['#upper', 'tea', 'TEA'],
    ['#mask', '123456', '123 456'],
    ['#money', '12', '$12.00'],
  ])('fill accepts that the page formats the text of %s', async (selector, text, kept) => {
    await given.open('/emptied')
    await given.do('fill', { selector, text })
    expect(await held(selector)).toBe(kept)
  })

  test('fill reaches editors, labels, dates, shadow roots and frames', async () => {
    await given.open('/')
    await given.do('fill', { selector: '#rich', text: 'Hello\nthere' })
    expect(await given.value('get_text', { selector: '#rich' })).toMatch(/^Hello\n+there$/)
    for (const [selector, text] of [
      ['#date', '2024-02-29'],
      ['#num', '12.5'],
      ['#shadow', 'deep'],
      ['frame=#inner >> #in', 'inside'],
    ] as const) {
      await given.do('fill', { selector, text })
      expect(await held(selector)).toBe(text)
    }
    await given.do('fill', { selector: '#label', text: 'Ada' })
    expect(await held('#name')).toBe('Ada')
  })

  test('fill is noticed by frameworks that replace the value property', async () => {
    await given.open('/framework')
    await given.do('fill', { selector: '#q', text: 'tea' })
    expect(await given.value('get_title')).toBe('tea')
  })

  test.each(['#q', '#area', '#rich'])('fill sets 100 000 characters in %s at once', async (selector) => {
    await given.open('/')
    const line = 'lorem ipsum dolor sit amet, consectetur adipiscing'
    const text = Array.from({ length: 1961 }, () => line)
      .join(selector === '#q' ? ' ' : '\n')
      .slice(0, 100_000)
    const { results } = await given.run([['fill', { selector, text }]])
    expect(results[0]).toMatchObject({ success: true })
    expect(results[0]!.duration_ms).toBeLessThan(limits.command.elementMs)
    // The text of an editor is first removed.
    expect(await given.evaluate('events.filter((event) => event.startsWith("input"))')).toHaveLength(
      selector === '#rich' ? 2 : 1,
    )
    const shown = (await given.value('get_text', { selector })) as string
    expect(shown.replaceAll(/\n+/g, '\n').trim()).toBe(text.trim())
  })

  test('fill waits until a field exists and is enabled', async () => {
    await given.open('/late')
    await given.do('fill', { selector: '#q', text: 'now' })
    expect(await held('#q')).toBe('now')
  })

  test.each([
    ['#none', 'element_not_found', 'no element matches #none'],
    ['#off', 'not_editable', '#off is disabled (input#off)'],
    ['#fixed', 'not_editable', '#fixed is read-only (input#fixed)'],
    ['#hidden', 'element_not_visible', '#hidden is not visible'],
    ['#b', 'not_editable', '#b does not take text'],
    ['#box', 'not_editable', '#box is a checkbox: use check'],
    ['#size', 'not_editable', '#size is a select element: use select_option'],
    ['#file', 'not_editable', '#file is a file field: use upload_files'],
    ['#short', 'not_editable', '#short takes at most 5 characters, and the text has 6'],
    ['#num', 'not_editable', '#num does not take "abcdef": it is of type number'],
    ['#date', 'not_editable', '#date does not take "abcdef": it is of type date'],
    ['ref=e9999', 'stale_ref', 'no element has the reference e9999'],
  ])('fill of %s fails with %s', async (selector, code, error) => {
    await given.open('/')
    // Others fail at once, and get the time that a busy machine needs.
    const isAwaited = ['#none', '#off', '#fixed', '#hidden'].includes(selector)
    const failed = await given.fails('fill', { selector, text: 'abcdef', ...(isAwaited && { timeout_ms: 700 }) })
    expect(failed).toMatchObject({ code, error: expect.stringContaining(error), details: { delivered: false } })
    expect(await given.evaluate('events')).toEqual([])
  })

  test('fill reports the delivery of a text when the page does not settle', async () => {
    await given.open('/hang')
    expect(await given.fails('fill', { selector: '#q', text: 'x', timeout_ms: 2900 })).toMatchObject({
      code: 'timeout',
      details: { delivered: true },
    })
  })

  test('fill_form sets fields by label, placeholder or selector', async () => {
    await given.open('/form')
    const { fields } = await given.do('fill_form', {
      fields: {
        Email: 'me@example.com',
        'Full name *': 'Ada Lovelace',
        'I agree': true,
        '#news': false,
        Card: true,
        Country: 'France',
        Colours: ['red', 'blue'],
        Birthday: '1815-12-10',
        'Your city': 'London',
        Address: '12 St James',
      },
    })
    expect(fields).toHaveLength(10)
    expect(fields).toEqual(
      expect.arrayContaining([
        { field: '#news', kind: 'checkbox', selector: '#news' },
        { field: 'Country', kind: 'select', selector: expect.any(String) },
      ]),
    )
    expect(
      await given.evaluate(`[...document.forms[0].elements].filter(({ type }) => type !== 'file').map((field) =>
      field.multiple ? [...field.selectedOptions].map(({ value }) => value).join() : /check|radio/.test(field.type) ? field.checked : field.value)`),
    ).toEqual([
      'me@example.com',
      'Ada Lovelace',
      true,
      false,
      true,
      false,
      'fr',
      'red,blue',
      '1815-12-10',
      'London',
      '12 St James',
      '',
      '',
      '',
    ])
  })

  test('fill_form sets nothing when one field is not possible, and reports each', async () => {
    await given.open('/form')
    const failed = await given.fails('fill_form', {
      fields: {
        Email: 'me@example.com',
        Country: 'Italy',
        Birthday: 'soon',
        Photo: 'a.png',
        Twin: 'x',
        Fixed: 'x',
        Nowhere: 'x',
      },
      timeout_ms: 700,
    })
    expect(failed.error).toBe(
      'no field was set: Country has no option Italy; it has: Germany, France; Birthday does not take "soon": it is of type date; ' +
        'Photo is a file field: use upload_files; Twin matches 2 visible fields; Fixed is read-only; no field matches Nowhere',
    )
    expect(failed).toMatchObject({ code: 'invalid_data', details: { delivered: false } })
    expect(await held('#email')).toBe('')
    const started = performance.now()
    expect(await given.fails('fill_form', { fields: { Fixed: ['2026-05-14', '2026-05-20'] } })).toMatchObject({
      code: 'not_editable',
      error: 'no field was set: Fixed is read-only',
      hint: 'if a click on a read-only field opens something, such as a calendar, choose there',
    })
    expect(performance.now() - started).toBeLessThan(limits.command.elementMs - 3000)
    expect(await given.fails('fill_form', { fields: { Email: true } })).toMatchObject({
      code: 'invalid_data',
      error: 'no field was set: Email needs a text, not true',
    })
  })
})

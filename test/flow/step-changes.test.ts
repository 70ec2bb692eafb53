import { expect, test } from 'vitest'
import type { Observation, StepResult } from '../../src/core/shapes/observe.ts'
import { inUsualHomes } from '../support/commands.ts'

const shop = `<!doctype html><title>Shop</title><main><section aria-label=Basket><h2>Basket</h2><p id=count>0 items</p></section>
  <button id=buy onclick="count.textContent = '1 item'; setTimeout(() => note.textContent = '', 80); note.textContent = 'Saved'">Buy</button>
  <p id=note role=status></p>
  <button id=toast onclick="const t = Object.assign(document.createElement('div'), {className: 'toast', textContent: 'Copied'}); document.body.append(t); setTimeout(() => t.remove(), 80)">Copy</button>
  <button id=list onclick="items.innerHTML = '<li>Tea <button>Remove</button>'; gone.remove()">List</button><ul id=items></ul><p id=gone>The basket is empty</p>
  <label>Name <input id=name></label><label>Password <input id=pass type=password></label>
  <label><input id=gift type=checkbox onchange="order.disabled = !this.checked"> Gift</label><button id=order disabled>Order</button>
  <button id=sure onclick="dialog.showModal()">Ask</button><dialog id=dialog aria-label="Sure?"><button>Yes</button></dialog>
  <button id=confirm onclick="confirm('Really?')">Confirm</button>
  <button id=none>Nothing</button>
  <p style="margin-top:3000px"><a id=next href=/next>Next</a></p></main>`

const many = `<!doctype html><title>Many</title><button onclick="document.querySelectorAll('b')[400].textContent = 'sold'">Sell</button><main>${Array.from(
  { length: 700 },
  (_, at) =>
    `<article><h3>Tea ${at}</h3><p>A tea from garden number ${at}, mild and fresh, <b>fresh</b>, and so on for a while, as descriptions do.</p><i>${at} EUR</i><a href=/${at}>Details</a></article>`,
).join('')}</main>`

const forms = `<!doctype html><title>Form</title><form action=/next>
  <label>Email <input id=email type=email required></label><input name=city placeholder="Your city" required>
  <button id=send>Send</button></form>
  <form action=/next novalidate><input required><button id=any>Send without checks</button></form>
  <form action=/next><input id=own name=code required oninvalid="event.preventDefault(); hint.textContent = 'Enter the code'">
  <button id=custom>Send with own message</button></form><p id=hint role=alert></p>
  <input id=quiet required oninput="this.checkValidity()">`

const pages = { '/form': forms, '/': shop, '/many': many, '/next': '<!doctype html><title>Next</title><h1>Next</h1>' }

inUsualHomes(pages, (given) => {
  // The default wait for effects is too short for a busy machine.
  const step = (command: string, data: object, more: object = {}): Promise<StepResult> =>
    given
      .client()
      .browserStep({ session_id: given.sessionId(), command: { command, data }, settle_ms: 10_000, ...more } as never)
  const click = (selector: string, more: object = {}) => step('click', { selector }, { observe: {}, ...more })
  const observe = (more: object = {}): Promise<Observation> =>
    given.client().observe({ session_id: given.sessionId(), ...more } as never)

  test('reports replaced, added and removed texts with their location', async () => {
    await given.open('/')
    const { texts } = (await click('#buy')).changes
    expect(texts).toEqual({
      added: [],
      removed: [],
      replaced: [['0 items', '1 item']],
      where: { added: [], removed: [], replaced: ['main > region "Basket" > "Basket"'] },
    })
    const { changes } = await click('#list')
    expect(changes.texts).toMatchObject({ added: ['Tea'], removed: ['The basket is empty'], replaced: [] })
    expect(changes.controls).toEqual({
      added: [expect.stringMatching(/^button "Remove" \[ref=e\d+\]$/)],
      removed: [],
    })
    expect(changes).toMatchObject({ elements_added: 1, elements_removed: 0, url: null, title: null, new_page: false })
  })

  test('reports messages that disappear during the step', async () => {
    await given.open('/')
    expect((await click('#buy')).changes.alerts).toEqual([{ role: 'status', text: 'Saved', gone: true }])
    expect((await click('#toast')).changes.alerts).toEqual([{ role: 'toast', text: 'Copied', gone: true }])
    expect((await click('#none')).changes.alerts).toEqual([])
  })

  test('reports what the browser says about invalid fields, but not what scripts ask', async () => {
    await given.open('/form')
    const { changes } = await click('#send')
    expect(changes.alerts).toEqual([
      { role: 'validation', text: expect.stringMatching(/^Email: .+/), gone: false },
      { role: 'validation', text: expect.stringMatching(/^Your city: .+/), gone: false },
    ])
    expect(changes.url_changed).toBe(false)
    await step('fill', { selector: '#email', text: 'nobody' })
    expect((await click('#send')).changes.alerts).toContainEqual({
      role: 'validation',
      text: expect.stringMatching(/^Email: .*@/),
      gone: false,
    })
    expect((await click('#custom')).changes.alerts).toEqual([{ role: 'alert', text: 'Enter the code', gone: false }])
    await step('type_text', { selector: '#quiet', text: 'x' })
    expect((await step('fill', { selector: '#quiet', text: '' }, { observe: {} })).changes.alerts).toEqual([])
    expect((await click('#any')).changes).toMatchObject({ url_changed: true, alerts: [] })
  })

  test('reports values, states, focus, scroll position and dialogs, but no passwords', async () => {
    await given.open('/')
    const typed = await step('type_text', { selector: '#name', text: 'Ann' })
    expect(typed.changes.values).toMatchObject([{ role: 'textbox', name: 'Name', from: '', to: 'Ann' }])
    expect(typed.changes.focus).toMatchObject({ role: 'textbox', name: 'Name' })
    const secret = await step('type_text', { selector: '#pass', text: 'hunter2' })
    expect(secret.changes.values).toMatchObject([{ name: 'Password', from: '', to: '••••••••' }])
    expect(JSON.stringify(secret)).not.toContain('hunter2')
    const checked = await click('#gift')
    expect(checked.changes.states).toMatchObject([
      { role: 'checkbox', name: 'Gift', state: 'checked', on: true },
      { role: 'button', name: 'Order', state: 'disabled', on: false },
    ])
    const scrolled = await step('scroll_to', { y: 500 })
    expect(scrolled.changes).toMatchObject({ scroll: { x: 0, y: 500 }, focus: null, values: [] })
    expect((await click('#confirm')).changes.dialogs).toEqual([
      { type: 'confirm', kind: 'confirm', message: 'Really?', open: false, accepted: false },
    ])
    const confirmed = await click('#sure')
    expect(confirmed.changes.dialogs).toEqual([{ type: 'dialog', kind: 'dialog', message: 'Sure?', open: true }])
    expect(confirmed.observation!.snapshot).toMatch(/dialog "Sure\?":\n\s+- button "Yes".*\n# out of reach/)
  })

  test('diff returns the whole page first, then changes since the last observation', async () => {
    await given.open('/')
    const { session_id: fresh } = await given.client().createSession({ headless: true })
    expect(await observe({ session_id: fresh, diff: true })).toMatchObject({ full: 'no_earlier_observation' })
    await given.client().closeSession({ session_id: fresh! })
    expect(await observe({ diff: true })).toMatchObject({
      full: expect.any(String),
      snapshot: expect.stringContaining('Basket'),
    })
    await given.evaluate("document.querySelector('#count').textContent = '2 items'")
    const seen = await observe({ diff: true })
    expect(seen.changes).toMatchObject({ texts: { replaced: [['0 items', '2 items']] }, url: null })
    for (const part of ['snapshot', 'elements', 'tabs', 'full']) expect(seen).not.toHaveProperty(part)
    await given.evaluate("document.querySelector('#count').textContent = '3 items'")
    const done = await click('#none', { diff: true })
    expect(done.changes.texts!.replaced).toEqual([['2 items', '3 items']])
    expect(done).not.toHaveProperty('observation')
    expect((await observe({ diff: true })).changes!.texts!.replaced).toEqual([])
    expect(await observe({ diff: true, selector: 'main' })).toMatchObject({ full: 'other_part' })
    await observe()
    const moved = await click('#next', { diff: true })
    expect(moved).toMatchObject({ full: 'new_page', observation: { title: 'Next' }, changes: { title: 'Next' } })
    expect(moved.changes.texts).toEqual({ added: [], removed: [], replaced: [] })
  })

  test('reports one changed word of 5000 elements in less than 400 characters', async () => {
    await given.open('/many')
    await observe()
    const { changes } = await click('button', { diff: true })
    expect(changes.texts!.replaced).toEqual([[expect.stringContaining('fresh'), expect.stringContaining('sold')]])
    expect(JSON.stringify(changes.texts).length).toBeLessThan(400)
  })

  test('limits changes to max_chars and counts the omitted', async () => {
    await given.open('/many')
    await observe()
    await given.evaluate(
      "for (const price of [...document.querySelectorAll('i')].slice(0, 300)) price.textContent = 'sold out'",
    )
    const { changes } = await observe({ diff: true, max_chars: 500 })
    const { replaced } = changes!.texts!
    expect(JSON.stringify(replaced).length).toBeLessThan(500)
    expect(replaced.length + changes!.omitted!['texts']!).toBe(300)
  })

  test('rejects diff with observe false', async () => {
    await expect(step('get_title', {}, { diff: true, observe: false })).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'diff' }],
    })
  })
})

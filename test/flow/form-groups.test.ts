/** Fields that share a label, lists of tags, and dates that a page takes with the Enter key. */
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const slider = (now: number, more = '') =>
  `<div role=slider tabindex=0 aria-valuemin=0 aria-valuemax=100 aria-valuenow=${now} ${more} style="width:9px; height:9px"
    onkeydown="ariaValueNow = Number(ariaValueNow) + ({ ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0)"></div>`
const item = (label: string, control: string) =>
  `<div class=item><div class=item-label><label for=${label}>${label}:</label></div><div id=${label}>${control}</div></div>`
const checks = (...names: string[]) => names.map((name) => `<label><input type=checkbox>${name}</label>`).join('')

const page = `<!doctype html><title>Form</title><form onsubmit="document.title = 'sent'; return false">
  ${item('Volume', slider(30))} ${item('Price', slider(3) + slider(6))}
  ${item('Days', checks('Monday', 'Tuesday', 'Friday'))} ${item('Rights', `${checks('Read', 'Write')}<button type=button>Move</button>`)}
  ${item('Colour', '<label><input type=radio name=c>Red</label><label><input type=radio name=c>Blue</label>')}
  ${item('Stars', [1, 2, 3].map((at) => `<div role=radio aria-checked=false aria-posinset=${at} onclick="ariaChecked = 'true'" style="width:9px; height:9px"></div>`).join(''))}
  ${item('View', ['List', 'Grid'].map((name) => `<button type=button aria-pressed=false onclick="ariaPressed = 'true'">${name}</button>`).join(''))}
  ${item('Code', '<input size=1 maxlength=1>'.repeat(4))} ${item('Accent', '<button type=button>Choose</button>')}
  <label>Name <input id=name></label> <label for=tags>Tags</label> <span><input id=tags><span id=list></span></span>
  <label for=path>Region</label> <input id=path readonly> <ul id=levels></ul>
  <div class=date-picker><label for=date>Date</label> <input id=date placeholder=MM/DD/YYYY></div>
  <div class=date-picker><label for=keyed>Keyed</label> <input id=keyed></div>
  <div class=date-picker><label for=stubborn>Stubborn</label> <input id=stubborn></div>
  <div class=date-picker><label for=hovered>Hovered</label> <input id=hovered></div>
  <div class=date-picker><label for=clock>Clock</label> <input id=clock></div>
  <div class=date-picker><label for=short>Short</label> <input id=short placeholder="MM/DD/YY"></div>
  <div class=date-picker><label for=written>Written</label> <input id=written placeholder="MMM D, YYYY"></div>
  <div class=date-picker><label for=named>Named</label> <input id=named></div>
  <div class=date-picker><label for=title>Title</label> <input id=title> <label for=cost>Cost</label> <input id=cost onchange="value = Number(value).toFixed(2)"></div>
  <div class=date-picker><label for=from>Period</label> <input id=from> <input id=to></div><button>Send</button></form>
  <script>
    const shown = (selector) => [...document.querySelectorAll(selector)].map((one) => one.ariaValueNow ?? (one.labels?.[0] ?? one).textContent).join(' ')
    for (const one of document.querySelectorAll('#Code input'))
      one.oninput = () => one.nextElementSibling?.focus()
    tags.onkeydown = ({ key }) => { if (key === 'Enter') { list.append(tags.value + ' '); tags.value = '' } }
    const tree = { Europe: { Italy: ['Rome'] }, Asia: {} }
    const draw = (level, path) => {
      const items = Object.entries(level).map(([key, next]) => {
        const name = Array.isArray(level) ? next : key
        const item = Object.assign(document.createElement('li'), { role: 'menuitem', textContent: name })
        item.onclick = () => Array.isArray(level) ? (levels.replaceChildren(), document.querySelector('#path').value = [...path, name].join(' / ')) : draw(next, [...path, name])
        return item
      })
      if (path.length === 0) levels.replaceChildren()
      levels.append(...items)
    }
    document.querySelector('#path').onclick = () => draw(tree, [])
    // Taken with the Enter key; without it, the field gets its old value back.
    const kept = new Map()
    for (const one of [date, keyed, from, to]) {
      one.onkeydown = ({ key }) => { if (key === 'Enter') kept.set(one, one.value) }
      one.onblur = () => { one.value = kept.get(one) ?? '' }
    }
    keyed.oninput = ({ isTrusted }) => { if (!isTrusted) keyed.value = '' }
    let openings = 3
    clock.onblur = () => { if (openings-- > 0) clock.value = '20:57' }
    named.onkeydown = ({ key }) => { if (key === 'Enter') named.value = 'Thursday, May 14, 2026' }
    short.onblur = () => { if (!/^\\d\\d.\\d\\d.\\d\\d$/.test(short.value)) short.value = '' }
    document.querySelector('#title').onkeydown = ({ key }) => { if (key === 'Enter') document.title = 'entered' }
    // Shows another day until its calendar has closed.
    let closing
    hovered.onfocus = () => clearTimeout(closing)
    hovered.onblur = () => {
      const { value } = hovered
      closing = setTimeout(() => { hovered.value = value }, 100)
      hovered.value = '2026-05-25'
    }
    stubborn.onblur = () => { stubborn.value = '2020-01-01' }
  </script>`

inUsualHomes({ '/': page }, (given) => {
  const fill = (fields: Record<string, unknown>) => given.do('fill_form', { fields })
  const fails = (fields: Record<string, unknown>) => given.fails('fill_form', { fields })

  test('fill_form sets fields that share the label of their form item', async () => {
    await given.open('/')
    const fields = {
      Volume: 33,
      Price: [8, 9],
      Days: ['Monday', 'Friday'],
      Colour: 'Blue',
      Stars: 2,
      View: 'Grid',
      Code: '1234',
    }
    const { fields: set } = await fill(fields)
    expect(set).toContainEqual({ field: 'Volume', kind: 'slider', selector: 'label="Volume"' })
    expect(await given.evaluate(`shown('[role=slider]')`)).toBe('33 8 9')
    expect(await given.evaluate(`shown('input:checked')`)).toBe('Monday Friday Blue')
    expect(await given.evaluate(`document.querySelector('[aria-checked=true]').ariaPosInSet`)).toBe('2')
    expect(await given.evaluate(`shown('[aria-pressed=true]')`)).toBe('Grid')
    expect(await given.evaluate(`[...Code.children].map(({ value }) => value).join('')`)).toBe('1234')
    await fill({ Days: ['Tuesday'], Price: [2, 7] })
    expect(await given.evaluate(`shown('#Days input:checked')`)).toBe('Tuesday')
    expect(await given.evaluate(`shown('#Price *')`)).toBe('2 7')
  })

  test('label= finds these fields for single commands', async () => {
    await given.open('/')
    await given.do('fill', { selector: 'label="Volume"', text: '31' })
    await given.do('select_option', { selector: 'label="Colour"', values: ['Red'] })
    await given.do('fill', { selector: 'label="Name"', text: 'Ann' })
    expect(await given.evaluate(`shown('#Volume *')`)).toBe('31')
    expect(await given.evaluate(`shown('input:checked') + document.querySelector('#name').value`)).toBe('RedAnn')
  })

  test('fill_form says what a group takes, and sets nothing else', async () => {
    await given.open('/')
    for (const [fields, error] of [
      [{ Days: ['Sunday'] }, 'Days has no checkbox Sunday; it has: Monday, Tuesday, Friday'],
      [{ Price: 5 }, 'Price needs 2 numbers, not 5'],
      [{ Code: '12' }, 'Code needs 4 values, or as many characters, not "12"'],
      [
        { Rights: ['Read'] },
        'Rights contains several fields (Read, Write, Move): set each by its own label or selector',
      ],
      [{ Accent: '#f00' }, 'Accent is the button Choose: use click, or select_option for a menu'],
    ] as const)
      expect(await fails({ Name: 'Ann', ...fields })).toMatchObject({ error: `no field was set: ${error}` })
    expect(await given.evaluate(`document.querySelector('#name').value`)).toBe('')
  })

  test('tags are added one by one, and refused by a field that keeps one text', async () => {
    await given.open('/')
    await fill({ Tags: ['one', 'two'] })
    expect(await given.evaluate('list.textContent')).toBe('one two ')
    expect(await fails({ Name: ['one', 'two'] })).toMatchObject({
      code: 'action_failed',
      error: 'Name does not add "one" to a list: set one text',
    })
  })

  test('a list is the path to an option in levels', async () => {
    await given.open('/')
    await fill({ Region: ['Europe', 'Italy', 'Rome'] })
    expect(await given.evaluate(`document.querySelector('#path').value`)).toBe('Europe / Italy / Rome')
  })

  test('dates are written in the format of a field, and entered without sending the form', async () => {
    await given.open('/')
    await fill({ Date: '2026-05-14', Period: ['2026-05-10', '2026-05-14'], Keyed: '2026-05-14', Hovered: '2026-05-14' })
    expect(await given.evaluate(`[date, from, to, keyed].map(({ value }) => value).join(' ')`)).toBe(
      '05/14/2026 2026-05-10 2026-05-14 2026-05-14',
    )
    expect(await given.evaluate('document.title')).toBe('Form')
    await given.do('fill', { selector: '#date', text: '2026-06-01' })
    expect(await given.evaluate('date.value')).toBe('06/01/2026')
    expect(await fails({ Stubborn: '2026-05-14' })).toMatchObject({
      code: 'action_failed',
      error: 'Stubborn shows "2020-01-01" after "2026-05-14" was entered',
      details: { delivered: true },
    })
  })

  test('a clock that sets the current time over the typed one gets its time again', async () => {
    await given.open('/')
    await fill({ Clock: '09:30' })
    expect(await given.evaluate('clock.value')).toBe('09:30')
  })

  test('dates are compared with short years and names of months', async () => {
    await given.open('/')
    await fill({ Short: '2026-05-14', Written: '2026-05-14', Named: '2026-05-14' })
    expect(await given.evaluate(`[short, written, named].map(({ value }) => value).join('; ')`)).toBe(
      '05/14/26; May 14, 2026; Thursday, May 14, 2026',
    )
  })

  test('texts and prices beside a calendar are no dates, and not entered', async () => {
    await given.open('/')
    await fill({ Title: '12-14 Lunch', Cost: '1.5' })
    expect(await given.evaluate(`document.querySelector('#title').value + cost.value + document.title`)).toBe(
      '12-14 Lunch1.50Form',
    )
  })

  test.each([
    ['<div>Custom</div><label for=zip>Zip</label><input id=zip>', 'Rome'],
    ['<input><span class=label>Zip</span><input>', 'Ro'],
    ['<div>Custom</div><span class=label>Zip</span><div contenteditable></div>', 'Rome'],
    ['<div contenteditable></div><span class=label>Zip</span><input>', 'Rome'],
  ])('a label has no field of another label: %s', async (fields, text) => {
    await given.open('/')
    await given.evaluate(
      `document.body.innerHTML = ${JSON.stringify(`<div><span class=label>City</span>${fields}</div>`)}`,
    )
    const missing = { fields: { City: text }, timeout_ms: 700 }
    expect(await given.fails('fill_form', missing)).toMatchObject({
      error: 'no field was set: no field matches City',
    })
    for (const command of ['fill', 'type_text'])
      expect(await given.fails(command, { selector: 'label=City', text, timeout_ms: 300 })).toMatchObject({
        code: 'element_not_found',
      })
  })

  test('a text is not spread over fields for more than one character, and a list not over fields with other labels', async () => {
    await given.open('/')
    await given.evaluate(
      `document.body.innerHTML = ${JSON.stringify(`${item('Period', '<input><input>')}
      <div><label for=first>First</label><input id=first><label for=last>Last</label><input id=last></div>`)}`,
    )
    expect(await fails({ Period: 'CA' })).toMatchObject({ error: 'no field was set: Period needs 2 values, not "CA"' })
    expect(await fails({ First: ['Ann', 'Lee'] })).toMatchObject({ code: 'action_failed' })
    expect(await given.evaluate(`[...document.querySelectorAll('input')].map(({ value }) => value).join()`)).toBe(',,,')
  })
})

/** Tests that commands verify what a page has kept of an input. */
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const page = `<!doctype html><title>Fields</title>
  <input id=text value=old><textarea id=area>old</textarea><input id=range type=range max=10 value=5>
  <select id=one><option>a<option>b</select><select id=many multiple><option>a<option>b<option>c</select>
  <script>
    const [when, how] = [location.hash.slice(1).split(',')[0], location.hash.split(',')[1]]
    const later = (work) => (when === 'now' ? work() : setTimeout(work))
    for (const field of document.querySelectorAll('input, textarea, select')) {
      const values = () => (field.options ? [...field.options].map((option) => option.selected) : field.value)
      const before = values()
      const restore = () => field.options ? before.forEach((is, at) => (field.options[at].selected = is)) : (field.value = before)
      const ways = {
        reverts: restore,
        uppercases: () => field.options || (field.value = field.value.toUpperCase()),
        replaces: () => { const copy = field.cloneNode(true); copy.value = ''; field.replaceWith(copy) },
      }
      field.addEventListener('input', () => later(ways[how]))
      if (how === 'refuses') field.addEventListener('keydown', (event) => event.preventDefault())
    }
  </script>`

const inputs: [command: string, data: Record<string, unknown>][] = [
  ['fill', { selector: '#text', text: 'new' }],
  ['fill', { selector: '#area', text: 'new' }],
  ['fill', { selector: '#range', text: '9' }],
  ['fill_form', { fields: { '#text': 'new' } }],
  ['type_text', { selector: '#text', text: 'new' }],
  ['type_text', { selector: '#area', text: 'new', clear: true }],
  ['clear', { selector: '#text' }],
  ['select_option', { selector: '#one', values: ['b'] }],
  ['select_option', { selector: '#many', values: ['b', 'c'] }],
  ['fill_form', { fields: { '#one': 'b' } }],
]

/** A field that changes its value after each input, with `f` as the field. */
const changing = (attributes: string, change: string) =>
  `<!doctype html><title>Field</title><div id=around><input id=a ${attributes} oninput="const f = this; ${change}"></div>`
const asNumber = changing('type=number value=7', 'f.value = String(Number(f.value))')
const again = changing('value=old', `around.innerHTML = '<input id=a value=old>'`)
/** Pages, the text of a field, and the text that it has afterwards, unless it is not the one that was set. */
const changes: [change: string, page: string, text: string, kept: string | null][] = [
  ['an emoji that is restored', changing('value=😎', `f.value = '😎'`), '😀', null],
  ['an emoji that is removed', changing('', `f.value = f.value.replace(/[^ a-z]/g, '')`), 'hello 😀', null],
  ['a sign that is restored', changing('value=-', `f.value = '-'`), '+', null],
  ['a number in another form', asNumber, '1e3', '1000'],
  ['a number without zeros', asNumber, '007', '7'],
  ['a number without decimals', changing('', 'f.value = String(Number(f.value))'), '1.50', '1.5'],
  ['a number of a range', changing('type=number', 'f.value = String(Math.max(10, f.value))'), '1', null],
  ['a sign that is removed', changing('', `f.value = f.value.replace('-', '')`), '-5', null],
  ['a point that is removed', changing('', `f.value = f.value.replace('.', '')`), '12.50', null],
  ['a comma for the point', changing('', `f.value = f.value.replace('.', ',')`), '12.5', '12,5'],
  ['a number with a unit', changing('', `f.value = f.value.replaceAll(',', '') + ' m'`), '1,250', '1250 m'],
  ['wide digits', changing('', `f.value = f.value.normalize('NFKC')`), '１２３', '123'],
  ['a composed letter', changing('', `f.value = f.value.normalize('NFC')`), 'Cafe\u0301', 'Caf\u00e9'],
  ['a letter with two capitals', changing('', 'f.value = f.value.toUpperCase()'), 'Straße', 'STRASSE'],
  ['a field that is replaced with its old text', again, 'new', null],
]
const changePages = Object.fromEntries(changes.map(([, body], at) => [`/change-${at}`, body]))

const shortFields = `<!doctype html><title>Short</title><input id=short maxlength=4>
  <input id=first maxlength=1 oninput="nextElementSibling.focus()"><input maxlength=1>`

/** Fields that change when another one is set or when they are left, with the values that are given. */
const changedLater: [change: string, field: string, value: string | boolean, now: string][] = [
  ['a number of a range when it is left', '<input id=a onblur="value = Math.min(100, value)">', '250', '100'],
  ['a text that another field clears', '<input id=a>', 'Rome', ''],
  ['a list that another field fills anew', '<select id=a><option>Any<option>Bavaria</select>', 'Bavaria', 'Any'],
  ['a checkbox that another field clears', '<input id=a type=checkbox>', true, 'false'],
]
const reset =
  'a.checked = false; a.options ? (a.selectedIndex = 0) : a.type === "checkbox" || !isNaN(a.value) || (a.value = "")'
const dependent = (field: string) => `<!doctype html><title>Dependent</title>${field}<input id=b oninput='${reset}'>`
const laterPages = Object.fromEntries(changedLater.map(([, field], at) => [`/later-${at}`, dependent(field)]))
const formatted = dependent('<input id=a onblur="value = Number(value).toFixed(2)">')

inUsualHomes({ '/': page, '/formatted': formatted, ...laterPages, '/short': shortFields, ...changePages }, (given) => {
  let count = 0
  const open = (state: string) => given.do('navigate_to', { url: `${given.url('/')}?${++count}#${state}` })

  test.each(['now', 'soon'])('an input that the page reverts %s is an error', async (when) => {
    for (const [command, data] of inputs) {
      await open(`${when},reverts`)
      const failed = await given.fails(command, data)
      expect([command, failed.code, failed.details?.['delivered']]).toEqual([command, 'not_editable', true])
      expect(failed.error).toMatch(
        /^#\w+ has (?:its old value|another text, "(?:old|5)"|"a" selected again|no option selected again)/,
      )
    }
  })

  test('keys that the page refuses are an error', async () => {
    await open('now,refuses')
    expect(await given.fails('type_text', { selector: '#text', text: 'new' })).toMatchObject({
      code: 'not_editable',
      error: '#text has its old value: the page has not kept the text',
    })
  })

  test('text that is longer than the field takes is an error, but not where the focus moves on', async () => {
    await given.open('/short')
    const long = { selector: '#short', text: 'x987654' }
    const error = '#short takes at most 4 characters, and has only kept the first ones'
    expect(await given.fails('type_text', long)).toMatchObject({ code: 'not_editable', error })
    await given.do('type_text', { selector: '#short', text: 'new!', clear: true })
    await given.do('type_text', { selector: '#first', text: '12' })
    expect(await given.evaluate('short.value + first.value + first.nextElementSibling.value')).toBe('new!12')
  })

  test('a field that is replaced by an empty one is an error', async () => {
    await open('now,replaces')
    expect(await given.fails('fill', { selector: '#text', text: 'new' })).toMatchObject({
      error: '#text is empty again: the page has removed the text',
    })
  })

  test.each(changes.map(([change, , text, kept], at) => [change, text, kept, at] as const))(
    'fill compares the text with that of the field: %s',
    async (_, text, kept, at) => {
      await given.open(`/change-${at}`)
      if (kept === null) {
        const failed = await given.fails('fill', { selector: '#a', text })
        expect(failed).toMatchObject({ code: 'not_editable', details: { delivered: true } })
      } else {
        await given.do('fill', { selector: '#a', text })
        expect(await given.evaluate('a.value')).toBe(kept)
      }
    },
  )

  test.each(changedLater.map(([change, , value, now], at) => [change, value, now, at] as const))(
    'fill_form reports %s',
    async (_, value, now, at) => {
      await given.open(`/later-${at}`)
      expect(await given.fails('fill_form', { fields: { '#a': value, '#b': 'x' } })).toMatchObject({
        code: 'action_failed',
        error: `#a was set, but then changed by the page to "${now}"`,
        details: { delivered: true, set: ['#b'] },
      })
    },
  )

  test('fill_form allows a text that is formatted when its field is left', async () => {
    await given.open('/formatted')
    await given.do('fill_form', { fields: { '#a': '250', '#b': 'x' } })
    expect(await given.evaluate('a.value')).toBe('250.00')
  })

  test('a value that the page formats is kept', async () => {
    for (const [command, data] of inputs) {
      await open('now,uppercases')
      await given.do(command, data)
    }
    await open('soon,uppercases')
    await given.do('fill', { selector: '#text', text: 'OLD' })
    await given.do('fill', { selector: '#text', text: 'old' })
    expect(await given.evaluate('text.value')).toBe('OLD')
  })
})

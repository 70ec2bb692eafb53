/** Checkboxes, radio buttons and switches that style sheets replace, as component libraries do. */
import { describe, expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

/** Styles that hide the input of a control. */
const hidings = {
  'opacity 0 and a clip': 'position:absolute; opacity:0; width:1px; height:1px; clip:rect(0 0 0 0)',
  'size 0': 'position:absolute; opacity:0; width:0; height:0; margin:0',
  'display none': 'display:none',
  'visibility hidden': 'visibility:hidden',
  'a position off the page': 'position:absolute; left:-9999px',
  'a part on top of it': 'opacity:0; position:absolute; inset:0; z-index:-1',
}

const track = '<span style="display:inline-block; width:40px; height:20px; background:#ccc"></span>'
const link = '<a href="#left">the terms and conditions of use of this very long service agreement</a>'
const controls = (style: string) => `<!doctype html><title>Controls</title>
  <p><label style="position:relative"><input id=inside type=checkbox role=switch style="${style}">${track} Wi-Fi</label></p>
  <p><input id=beside type=checkbox style="${style}"><label for=beside>${track} News</label></p>
  <p><label id=text><input id=terms type=checkbox style="${style}">I accept ${link}</label></p>
  <p><label><input id=red type=radio name=colour style="${style}">${track} Red</label>
     <label><input id=blue type=radio name=colour style="${style}">${track} Blue</label></p>
  <div style="position:relative; width:40px" onclick="bare.click()"><input id=bare aria-label=Bare type=checkbox style="${style}" onclick="event.stopPropagation()">${track}</div>
  <p style="margin-top:3000px"><label><input id=below type=checkbox style="${style}">${track} Below</label></p>
  <fieldset disabled><label><input id=off type=checkbox style="${style}">${track} Off</label></fieldset>
  <label><input id=stubborn type=checkbox style="${style}" onclick="return false">${track} Stubborn</label>`

const pages = {
  ...Object.fromEntries(Object.values(hidings).map((style, index) => [`/${index}`, controls(style)])),
  '/guest': `<!doctype html><label>Guest <input id=guest></label>
    <label style="position:relative"><span>[]</span><input id=breakfast type=checkbox style="${hidings['size 0']}" onclick="return false">Breakfast</label>`,
  '/covered': `<!doctype html><style>div, label {position: relative; display: inline-block; width: 60px; height: 30px} input {position: absolute; inset: 0; width: 100%; height: 100%; opacity: 0; margin: 0} i {position: absolute; inset: 0; background: #eee}</style>
    <div><input type=radio name=a id=first><i onclick="first.checked = true"></i></div>
    <label><input type=radio name=a id=second><i></i></label>
    <div><input type=checkbox id=third><i onclick="third.click()"><svg width=60 height=30><rect width=60 height=30 /></svg></i></div>
    <div><input type=checkbox id=linked><i><a href="#left">A link over all of it</a></i></div>
    <div id=veil></div>`,
  '/stars': `<!doctype html><p>Rating${[1, 2, 3].map((star) => `<span onclick="this.querySelector('input').click()"><span style="position:absolute; width:1px; height:1px; overflow:hidden; opacity:0"><input type=radio name=stars aria-label="${star} stars" onclick="event.stopPropagation()"></span><svg width=20 height=20 style="position:relative"><rect width=20 height=20 /></svg></span>`).join('')}</p>
    <div style="width:600px; height:60px" onclick="document.title = 'opened'"><span style="display:none"><input type=checkbox id=row></span>A row</div>`,
  '/aria': `<!doctype html><div id=custom role=checkbox aria-checked=false tabindex=0 onclick="this.ariaChecked = this.ariaChecked !== 'true'">Custom</div>
    <button id=dark role=switch aria-checked=false onclick="this.ariaChecked = this.ariaChecked !== 'true'">Dark</button>`,
}

inUsualHomes(pages, (given) => {
  describe.each(Object.keys(hidings).map((name, index) => ({ name, path: `/${index}` })))(
    'hidden by $name',
    ({ path }) => {
      const checked = () =>
        given.evaluate(`[...document.querySelectorAll('input:checked')].map(({ id }) => id).join(' ')`)

      test('are checked and unchecked where a person clicks', async () => {
        await given.open(path)
        for (const id of ['inside', 'beside', 'terms', 'red', 'bare', 'below'])
          await given.do('check', { selector: `#${id}` })
        expect(await checked()).toBe('inside beside terms red bare below')
        await given.do('check', { selector: '#blue' })
        for (const id of ['inside', 'beside', 'terms', 'below']) await given.do('uncheck', { selector: `#${id}` })
        expect(await checked()).toBe('blue bare')
        // The link in a label was not followed.
        expect(await given.evaluate('location.hash')).toBe('')
      })

      test('are set in a form, by their labels', async () => {
        await given.open(path)
        await given.do('fill_form', { fields: { 'Wi-Fi': true, News: true, Blue: true, Bare: true, Below: true } })
        expect(await checked()).toBe('inside beside blue bare below')
      })

      test('are not reported as set when they are disabled, or keep their state', async () => {
        await given.open(path)
        expect(await given.fails('check', { selector: '#off', timeout_ms: 700 })).toMatchObject({
          code: 'not_editable',
          details: { delivered: false },
        })
        expect(await given.fails('check', { selector: '#stubborn' })).toMatchObject({
          code: 'action_failed',
          error: '#stubborn did not change its state when it was clicked',
          details: { delivered: true },
        })
      })
    },
  )

  test('are clicked through the icon that covers them, and through nothing else', async () => {
    await given.open('/covered')
    const checked = () =>
      given.evaluate(`[...document.querySelectorAll('input:checked')].map(({ id }) => id).join(' ')`)
    await given.do('click', { selector: '#first' })
    await given.do('click', { selector: '#third' })
    expect(await checked()).toBe('first third')
    await given.do('click', { selector: '#second' })
    await given.do('click_advanced', { selector: '#third' })
    expect(await checked()).toBe('second')
    // A radio button that is checked stays checked.
    await given.do('click', { selector: '#second' })
    await given.do('double_click', { selector: '#third' })
    expect(await checked()).toBe('second')
    const fails = async (selector: string) =>
      expect(await given.fails('click', { selector, timeout_ms: 700 })).toMatchObject({ code: 'element_obscured' })
    await fails('#linked')
    await given.evaluate(`veil.style.cssText = 'position: fixed; inset: 0; width: auto; height: auto'`)
    await fails('#first')
    expect([await checked(), await given.evaluate('location.hash')]).toEqual(['second', ''])
  })

  test('a form that was filled in part says which fields are set, and nothing about the delivery of the others', async () => {
    await given.open('/guest')
    const form = { fields: { Guest: 'Ann', Breakfast: true } }
    const failure = await given.fails('fill_form', form)
    expect(failure).toMatchObject({ code: 'action_failed', details: { set: ['Guest'] } })
    expect(failure.error).toContain('Breakfast did not change its state')
    await given.evaluate(`breakfast.closest('label').inert = true`)
    expect(await given.fails('fill_form', form)).toMatchObject({ details: { set: ['Guest'], delivered: false } })
  })

  test('are clicked on the drawing beside them, and not on a row around them', async () => {
    await given.open('/stars')
    await given.do('fill_form', { fields: { '2 stars': true } })
    expect(await given.evaluate(`document.querySelector(':checked').ariaLabel`)).toBe('2 stars')
    await given.fails('check', { selector: '#row', timeout_ms: 700 })
    expect(await given.value('get_title')).not.toBe('opened')
  })

  test('checkboxes and switches of ARIA are set in a form, by their names', async () => {
    await given.open('/aria')
    await given.do('fill_form', { fields: { Custom: true, Dark: true } })
    expect(await given.evaluate('custom.ariaChecked + dark.ariaChecked')).toBe('truetrue')
    await given.do('fill_form', { fields: { '#custom': false, Dark: 'true' } })
    expect(await given.evaluate('custom.ariaChecked + dark.ariaChecked')).toBe('falsetrue')
  })

  test('a checkbox for several others, of which some are checked, is cleared', async () => {
    await given.open('/aria')
    await given.evaluate(`custom.ariaChecked = 'mixed'`)
    await given.do('uncheck', { selector: '#custom' })
    expect(await given.evaluate('custom.ariaChecked')).toBe('false')
  })
})

/** Markup of component libraries (PrimeVue, Quasar, Vuetify): labels, groups, long lists, trees and pickers. */
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const labels = `<span><div><span id=city role=combobox tabindex=0 class=select-label aria-haspopup=listbox aria-expanded=false
    onclick="list.hidden = false; ariaExpanded = 'true'">&nbsp;Any</span></div><label for=city>City</label></span>
  <ul id=list role=listbox hidden><li role=option onclick="city.textContent = 'Rome'; list.hidden = true; city.ariaExpanded = 'false'">Rome</li></ul>`

const flat = `<label for=name>Name</label> <input id=name> <label for=city>City</label>
  <span id=city role=combobox tabindex=0 aria-haspopup=listbox aria-expanded=false onclick="list.hidden = false; ariaExpanded = 'true'">Any</span>
  <ul id=list role=listbox hidden><li role=option onclick="city.textContent = 'Rome'; list.hidden = true; city.ariaExpanded = 'false'">Rome</li></ul>`

const stars = [1, 2, 3].map((at) => `<input type=radio name=stars aria-label="${at} stars" value=s${at}>`).join('')
const grades = [1, 2, 3]
  .map((at) => `<div role=radio aria-checked=false aria-label="grade ${at}" onclick="ariaChecked = 'true'">★</div>`)
  .join('')
const groups = `<span id=price>Price</span> <div><input type=range id=low value=20 aria-labelledby=price>
    <input type=range id=high value=80 aria-labelledby=price></div>
  <p>${stars}</p><div role=radiogroup aria-label=Grade id=grades>${grades}</div>
  <div role=slider id=volume tabindex=0 aria-label=Volume aria-valuemin=0 aria-valuemax=1 aria-valuenow=0
    onkeydown="ariaValueNow = Number(ariaValueNow) + ({ ArrowRight: 0.1, ArrowLeft: -0.1 }[event.key] ?? 0)">V</div>`

/** Draws the options around the visible ones when the scrolling has paused. */
const long = `<style>#box { height: 100px; overflow: auto; position: relative } [role=option] { position: absolute; height: 20px; width: 100px }</style>
  <div id=place role=combobox tabindex=0 aria-label=Place aria-haspopup=listbox aria-expanded=false onclick="box.hidden = false; ariaExpanded = 'true'">Any</div>
  <div id=box role=listbox hidden><div id=all style="height: 8000px"></div></div>
  <script>
    const draw = () => all.replaceChildren(...Array.from({ length: 8 }, (_, at) => {
      const number = Math.floor(box.scrollTop / 20) + at + 1
      const option = Object.assign(document.createElement('div'), { role: 'option', textContent: 'Place ' + number })
      option.style.top = (number - 1) * 20 + 'px'
      option.onclick = () => { place.textContent = option.textContent; box.hidden = true; place.ariaExpanded = 'false' }
      return option
    }))
    draw()
    let pause
    box.onscroll = () => { clearTimeout(pause); pause = setTimeout(draw, 60) }
  </script>`

const item = (name: string, below = '') =>
  `<li role=treeitem aria-label=${name} ${below && 'aria-expanded=false'} onclick="event.stopPropagation(); chosen.push('${name}'); ariaSelected = 'true'">
    <div>${below && `<button onclick="event.stopPropagation(); const item = closest('li'); item.ariaExpanded = 'true'; item.lastElementChild.hidden = false" style="width: 20px; height: 20px"></button>`}
    <span class=box><input type=checkbox tabindex=-1 onclick="event.stopPropagation(); ticked.push('${name}'); closest('li').ariaChecked = 'true'"></span>
    <span>${name}</span></div>${below && `<ul role=group hidden>${below}</ul>`}</li>`
const tree = `<span id=files>Files</span><ul role=tree aria-labelledby=files>${item('Work', item('Plan') + item('Budget'))}${item('Home')}</ul>
  <script>const chosen = [], ticked = []</script>`

const numbers = `<label for=cost>Cost</label> <input id=cost inputmode=decimal>
  <script>
    let written = ''
    const shown = (text) => text === '' ? '' : text.replace('.', '') + (text.includes(',') ? '' : ',00') + ' €'
    cost.onfocus = () => { cost.value = written }
    cost.oninput = ({ isTrusted }) => { if (!isTrusted) cost.value = written; else written = cost.value.replaceAll(/[^\\d,]/g, '') }
    cost.onblur = () => { cost.value = shown(written) }
  </script>`

const pickers = `<label for=at>At</label> <input id=at role=combobox aria-haspopup=dialog aria-expanded=false
    onfocus="clock.hidden = false; ariaExpanded = 'true'" onkeydown="if (event.key === 'Tab') { clock.hidden = true; ariaExpanded = 'false' }">
  <div style="position: relative"><label><input type=checkbox id=sure> Sure</label>
    <div id=clock hidden style="position: absolute; inset: 0; background: white">Clock</div></div>`

const chips = `<label for=tags>Tags</label><ul role=listbox><li role=option>Old</li><li><input id=tags role=combobox aria-expanded=false></li></ul>
  <ul id=found role=listbox hidden><li role=option>Fig</li></ul><script>tags.oninput = () => { found.hidden = tags.value === '' }</script>`

const page = (body: string) => `<!doctype html><title>Widgets</title><form onsubmit="return false">${body}</form>`
const pages = { labels, flat, groups, long, tree, numbers, pickers, chips }
const site = Object.fromEntries(Object.entries(pages).map(([name, body]) => [`/${name}`, page(body)]))

inUsualHomes(site, (given) => {
  const fill = (fields: Record<string, unknown>) => given.do('fill_form', { fields })

  test.each([
    ['a combobox whose text has a class of labels', '/labels'],
    ['an element with a role beside others', '/flat'],
  ])('%s is found by its label', async (_, path) => {
    await given.open(path)
    await fill({ City: 'Rome' })
    expect(await given.evaluate('city.textContent')).toBe('Rome')
  })

  test('sliders with the same label are the ends of a range, and radio buttons of one name a rating', async () => {
    await given.open('/groups')
    await fill({ Price: [30, 60], stars: 2, Grade: 3, Volume: 0.3 })
    expect(await given.evaluate('[low.value, high.value].join()')).toBe('30,60')
    expect(await given.evaluate('document.querySelector("[name=stars]:checked").value')).toBe('s2')
    expect(await given.evaluate('document.querySelector("#grades [aria-checked=true]").ariaLabel')).toBe('grade 3')
    expect(await given.evaluate('Number(volume.ariaValueNow).toFixed(2)')).toBe('0.30')
  })

  test('a list that draws its options after the scrolling has paused is searched', async () => {
    await given.open('/long')
    await fill({ Place: 'Place 60' })
    expect(await given.evaluate('place.textContent')).toBe('Place 60')
  })

  test('the levels of a tree are opened by their buttons, and the last item is chosen by its checkbox', async () => {
    await given.open('/tree')
    await fill({ Files: ['Work', 'Plan'] })
    await fill({ Files: ['Work', 'Budget'] })
    expect(await given.evaluate('[ticked.join(), chosen.length].join(" ")')).toBe('Plan,Budget 0')
  })

  test('a path that a tree does not have chooses nothing', async () => {
    await given.open('/tree')
    // The level is closed the first time.
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const failed = await given.fails('fill_form', { fields: { Files: ['Work', 'Trip'] }, timeout_ms: 3000 })
      expect(failed).toMatchObject({ code: 'element_not_found', error: 'Files has no option Trip in Work' })
    }
    expect(await given.evaluate('ticked.length + chosen.length')).toBe(0)
  })

  test('a number field with a comma before its decimals gets them', async () => {
    await given.open('/numbers')
    await fill({ Cost: 12.5 })
    expect(await given.evaluate('[written, cost.value].join(" ")')).toMatch(/^12,5 12,5/)
  })

  test('a calendar that a date has left open does not cover the next field', async () => {
    await given.open('/pickers')
    await fill({ At: '10:30', Sure: true })
    expect(await given.evaluate('[document.querySelector("#at").value, sure.checked].join(" ")')).toBe('10:30 true')
  })

  test('what is chosen around a field is none of its options', async () => {
    await given.open('/chips')
    const failed = await given.fails('fill_form', { fields: { Tags: 'Kiwi' }, timeout_ms: 3000 })
    expect(failed).toMatchObject({ code: 'element_not_found', hint: 'use fill to keep a text that is no option' })
    expect(failed.details?.['options'] ?? []).not.toContain('Old')
  })
})

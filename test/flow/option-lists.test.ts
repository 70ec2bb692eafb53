/** Lists of options that are no select elements: comboboxes, listboxes, radio groups, tabs and sliders. */
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'
import { waitUntil } from '../support/wait.ts'

const names = ['Draft', 'Live', 'Gone']
const option = (name: string) =>
  `<li role=option tabindex=-1 ${name === 'Gone' ? 'aria-disabled=true' : ''}>${name}</li>`

const widgets = `<!doctype html><title>Widgets</title>
  <!-- Opens on a press, in a layer at the end of the page, and closes with the choice. -->
  <div id=status role=combobox tabindex=0 aria-label=Status aria-expanded=false>choose</div>
  <!-- A field that filters its options. -->
  <label>City <input id=city role=combobox aria-expanded=false aria-controls=cities autocomplete=off></label>
  <ul id=cities role=listbox hidden></ul>
  <!-- Options without roles, of which only some are drawn. -->
  <div id=number role=combobox tabindex=0 aria-label=Number aria-expanded=false>none</div>
  <div id=colour role=radiogroup aria-label=Colour><label><input type=radio name=c>Red</label><label><input type=radio name=c>Blue</label></div>
  <div id=ship role=radiogroup aria-label=Ship>${['Slow', 'Fast'].map((name) => `<button role=radio aria-label=${name} aria-checked=false onclick="this.ariaChecked = 'true'">$9</button>`).join('')}</div>
  <div role=tablist aria-label=Views><button role=tab aria-selected=true>One</button><button role=tab aria-selected=false>Two</button></div>
  <ul id=tags role=listbox aria-multiselectable=true aria-label=Tags>${['a', 'b', 'c'].map((name) => `<li role=option aria-selected=false onclick="this.ariaSelected = this.ariaSelected !== 'true'">${name}</li>`).join('')}</ul>
  <div id=deaf role=listbox aria-label=Deaf><div role=option aria-selected=false>x</div></div>
  <div id=volume role=slider tabindex=0 aria-label=Volume aria-valuemin=0 aria-valuemax=100 aria-valuenow=30 style="width:100px;height:10px"></div>
  <div id=layer hidden style="position:fixed; inset:0"><ul role=listbox style="margin-top:200px">${names.map(option).join('')}</ul></div>
  <div id=screen hidden style="position:fixed; top:300px; left:0; width:200px; height:100px; overflow-y:auto"><div style="height:4000px"></div><div id=drawn style="position:absolute"></div></div>
  <script>
    status_ = document.querySelector('#status')
    status_.onmousedown = () => { layer.hidden = false; status_.ariaExpanded = 'true' }
    const close = () => { layer.hidden = true; status_.ariaExpanded = 'false' }
    status_.onkeydown = ({ key }) => { if (key === 'Escape') close() }
    layer.onclick = ({ target }) => { if (target.role === 'option' && !target.ariaDisabled) { status_.textContent = target.textContent; close() } }

    const show = () => {
      cities.replaceChildren(...['Paris', 'Rome'].filter((name) => name.startsWith(city.value)).map((name) => {
        const item = document.createElement('li'); item.role = 'option'; item.textContent = name
        item.onclick = () => { city.value = name; cities.hidden = true; city.ariaExpanded = 'false' }
        return item
      }))
      cities.hidden = false; city.ariaExpanded = 'true'
    }
    city.oninput = show
    city.onkeydown = ({ key }) => { if (key === 'ArrowDown') show(); if (key === 'Escape') { cities.hidden = true; city.ariaExpanded = 'false' } }

    const draw = () => {
      const first = Math.floor(screen_.scrollTop / 20)
      drawn.style.top = screen_.scrollTop + 'px'
      drawn.innerHTML = [0, 1, 2, 3, 4].map((at) => '<div title="' + (first + at) + '" style="height:20px">Item ' + (first + at) + '</div>').join('')
    }
    screen_ = document.querySelector('#screen')
    screen_.onscroll = draw
    number.onclick = () => { screen_.hidden = false; number.ariaExpanded = 'true'; draw() }
    drawn.onclick = ({ target }) => { number.textContent = target.textContent; screen_.hidden = true; number.ariaExpanded = 'false' }

    for (const tab of document.querySelectorAll('[role=tab]'))
      tab.onclick = () => { for (const each of document.querySelectorAll('[role=tab]')) each.ariaSelected = String(each === tab) }
    volume.onkeydown = ({ key }) => {
      const step = { ArrowRight: 5, ArrowLeft: -5 }[key]
      if (step) volume.ariaValueNow = String(Number(volume.ariaValueNow) + step)
    }
  </script>`

/** Comboboxes that mark the option that Enter would choose, one with tags, and one that takes no text. */
const highlights = `<!doctype html><title>Highlights</title>
  <div><input id=state role=combobox aria-expanded=false aria-controls=states></div><ul id=states role=listbox hidden></ul>
  <div><span id=tags></span><input id=teas role=combobox aria-expanded=false aria-controls=leaves></div><ul id=leaves role=listbox hidden></ul>
  <div><span id=kept>Sencha</span><input id=fixed role=combobox aria-expanded=false aria-controls=more></div><ul id=more role=listbox hidden></ul>
  <script>
    const make = (field, list, names, choose) => {
      const show = () => {
        list.replaceChildren(...names().map((name, at) => Object.assign(document.createElement('li'), {
          role: 'option', ariaSelected: String(at === 0), textContent: name,
          onclick: () => { choose(name); list.hidden = true; field.ariaExpanded = 'false' },
        })))
        list.hidden = false
        field.ariaExpanded = 'true'
      }
      field.onclick = show
      field.addEventListener('keydown', ({ key }) => {
        if (key === 'ArrowDown') show()
        if (key === 'Escape') { list.hidden = true; field.ariaExpanded = 'false' }
      })
    }
    make(state, states, () => ['Alabama', 'Alaska'], (name) => { state.value = name })
    const chosen = () => [...tags.children].map((tag) => tag.textContent)
    make(teas, leaves, () => ['Assam', 'Mate', 'Tea'].filter((name) => !chosen().includes(name)),
      (name) => tags.append(Object.assign(document.createElement('b'), { textContent: name })))
    make(fixed, more, () => ['Sencha', 'Gyokuro'], (name) => { kept.textContent = name })
    fixed.onbeforeinput = (event) => event.preventDefault()
    fixed.addEventListener('keydown', ({ key }) => { if (key === 'Delete' || key === 'Backspace') kept.textContent = '' })
    fixed.addEventListener('input', () => { fixed.value = '' })
  </script>`

const menu = `<!doctype html><button id=more aria-haspopup=menu aria-expanded=false>More</button><div id=menu role=menu hidden>
  <div role=menuitem>Copy</div><div role=menuitem>Rename</div></div><script>
  more.onclick = () => { menu.hidden = !menu.hidden; more.ariaExpanded = String(!menu.hidden) }
  menu.onclick = ({ target }) => { document.title = target.textContent; more.click() }</script>`

/** A field whose suggestions close some time after it was left. They cover a combobox, whose text covers its own field. */
const covered = `<!doctype html><style>* { margin: 0 } div { position: absolute; top: 100px; width: 300px; height: 20px }</style>
  <label>Town <input id=town></label>
  <div><input id=size role=combobox aria-label=Size aria-expanded=false style="width:300px"><span id=shown style="position:absolute; inset:0">choose</span></div>
  <div id=suggestions style="background:white">Paris</div>
  <ul id=list role=listbox hidden style="margin-top:200px"><li role=option>Large</li></ul><script>
  town.onblur = () => setTimeout(() => suggestions.remove(), 500)
  shown.onclick = () => { list.hidden = false; size.ariaExpanded = 'true' }
  list.onclick = () => { shown.textContent = 'Large'; list.hidden = true; size.ariaExpanded = 'false' }</script>`

/** Choices that lead to another page. */
const leaving = `<!doctype html><button id=more aria-haspopup=menu aria-expanded=false onclick="menu.hidden = false; ariaExpanded = 'true'">Language</button>
  <div id=menu role=menu hidden><div role=menuitem onclick="location.href = '/next'">Deutsch</div></div>
  <label><input id=submits type=checkbox style="display:none" onchange="location.href = '/next'">Submit at once</label>`

/** Time to open a list, which a busy machine needs too, for choices that are waited for in vain. */
const openMs = 8000

inUsualHomes(
  {
    '/': widgets,
    '/menu': menu,
    '/highlights': highlights,
    '/leaving': leaving,
    '/covered': covered,
    '/next': '<!doctype html><title>Next</title>',
  },
  (given) => {
    const text = (selector: string) => given.value('evaluate_on_element', { selector, expression: 'this.textContent' })

    test('select_option opens a combobox, and chooses an option by its name', async () => {
      await given.open('/')
      expect(await given.do('select_option', { selector: '#status', values: ['Live'] })).toEqual({ selected: ['Live'] })
      expect(await text('#status')).toBe('Live')
      await given.do('select_option', { selector: '#status', values: ['draft'] })
      expect(await text('#status')).toBe('Draft')
    })

    test('select_option lists the options when one is missing, names a disabled one, and closes the list', async () => {
      await given.open('/')
      const missing = { selector: '#status', values: ['Sold'], timeout_ms: openMs }
      expect(await given.fails('select_option', missing)).toMatchObject({
        code: 'element_not_found',
        error: '#status has no such option; it has: Draft, Live, Gone',
      })
      expect(await given.fails('select_option', { ...missing, values: ['Gone'] })).toMatchObject({
        code: 'not_editable',
      })
      expect(await given.evaluate('layer.hidden')).toBe(true)
      expect(await text('#status')).toBe('choose')
    })

    test('select_option opens a combobox that suggestions of the field before cover until they have closed', async () => {
      await given.open('/covered')
      await given.do('fill', { selector: '#town', text: 'Paris' })
      await given.do('select_option', { selector: '#size', values: ['Large'] })
      expect(await text('#shown')).toBe('Large')
    })

    test('select_option finds options by typing, and restores the text when there is none', async () => {
      await given.open('/')
      await given.do('select_option', { selector: '#city', values: ['Rome'] })
      expect(await given.evaluate('city.value')).toBe('Rome')
      const missing = { selector: '#city', values: ['Oslo'], timeout_ms: openMs }
      expect(await given.fails('select_option', missing)).toMatchObject({ code: 'element_not_found' })
      expect(await given.evaluate('city.value')).toBe('Rome')
    })

    test('select_option scrolls through a list that draws only a part of its options', async () => {
      await given.open('/')
      await given.do('select_option', { selector: '#number', values: ['Item 120'] })
      expect(await text('#number')).toBe('Item 120')
    })

    test('select_option chooses in lists that are always open', async () => {
      await given.open('/')
      await given.do('select_option', { selector: '#colour', values: ['Blue'] })
      await given.do('select_option', { selector: '#ship', values: ['Fast'] })
      expect(await given.evaluate(`ship.querySelector('[aria-checked=true]').ariaLabel`)).toBe('Fast')
      await given.do('select_option', { selector: 'role=tablist', values: ['Two'] })
      await given.do('select_option', { selector: '#tags', values: ['a', 'c'] })
      const chosen = `[...document.querySelectorAll('input:checked, [aria-selected=true]')].map((one) => (one.labels?.[0] ?? one).textContent).join(' ')`
      expect(await given.evaluate(chosen)).toBe('Blue Two a c')
    })

    test('select_option leaves chosen options alone, and takes none for chosen because of a label', async () => {
      await given.open('/')
      await given.do('select_option', { selector: '#tags', values: ['a'] })
      await given.do('select_option', { selector: '#tags', values: ['a', 'b'] })
      expect(await given.evaluate(`tags.querySelectorAll('[aria-selected=true]').length`)).toBe(2)
      await given.evaluate(`layer.onclick = null; status_.before('Live or not: ')`)
      const deaf = { selector: '#status', values: ['Live'], timeout_ms: openMs }
      expect(await given.fails('select_option', deaf)).toMatchObject({ code: 'action_failed' })
    })

    test('select_option chooses an option that a combobox has only highlighted, and none twice', async () => {
      await given.open('/highlights')
      await given.do('select_option', { selector: '#state', values: ['Alabama'] })
      expect(await given.evaluate('state.value')).toBe('Alabama')
      await given.do('select_option', { selector: '#teas', values: ['Assam', 'Mate'] })
      await given.do('select_option', { selector: '#teas', values: ['Mate', 'Assam'] })
      expect(await given.evaluate('tags.textContent')).toBe('AssamMate')
    })

    test('select_option does not clear what is chosen when an option is missing', async () => {
      await given.open('/highlights')
      const missing = { selector: '#fixed', values: ['Oolong'], timeout_ms: openMs }
      expect(await given.fails('select_option', missing)).toMatchObject({ code: 'element_not_found' })
      expect(await text('#kept')).toBe('Sencha')
    })

    test('the options of a list that is always open take the place of those that were chosen', async () => {
      await given.open('/')
      const chosen = () =>
        given.evaluate(`[...tags.querySelectorAll('[aria-selected=true]')].map((one) => one.textContent).join()`)
      await given.do('select_option', { selector: '#tags', values: ['a', 'b'] })
      await given.do('fill_form', { fields: { Tags: ['b', 'c'] } })
      expect(await chosen()).toBe('b,c')
      await given.do('fill_form', { fields: { Tags: [] } })
      expect(await chosen()).toBe('')
      await given.do('select_option', { selector: '#tags', values: ['a', 'b'] })
      await given.evaluate(`tags.querySelector('[aria-selected=true]').onclick = null`)
      const kept = { selector: '#tags', values: ['b'], timeout_ms: openMs }
      expect(await given.fails('select_option', kept)).toMatchObject({ error: '#tags still has another option chosen' })
    })

    test('fill_form takes no empty list for a combobox, since it would remove nothing', async () => {
      await given.open('/')
      expect(await given.fails('fill_form', { fields: { Status: [] } })).toMatchObject({
        code: 'invalid_data',
        error: expect.stringContaining('Status needs at least one option') as string,
      })
    })

    test('select_option chooses in a menu', async () => {
      await given.open('/menu')
      await given.do('select_option', { selector: '#more', values: ['Rename'] })
      expect(await given.evaluate('document.title')).toBe('Rename')
    })

    test('a choice that leads to another page is one that was taken', async () => {
      const isNext = async () => (await given.value('get_title')) === 'Next'
      await given.open('/leaving')
      await given.do('select_option', { selector: '#more', values: ['Deutsch'] })
      await waitUntil(isNext)
      await given.open('/leaving')
      await given.do('check', { selector: '#submits' })
      await waitUntil(isNext)
    })

    test('select_option fails when the list does not take the choice', async () => {
      await given.open('/')
      const deaf = { selector: '#deaf', values: ['x'], timeout_ms: openMs }
      expect(await given.fails('select_option', deaf)).toMatchObject({
        code: 'action_failed',
        error: '#deaf does not show x after a click on this option',
        details: { delivered: true },
      })
    })

    test('select_option says that the page does not answer, and not that a click does not reach the option', async () => {
      await given.open('/')
      const busyMs = openMs + 2000
      await given.evaluate(`tags.onmousedown = () => { for (const end = Date.now() + ${busyMs}; Date.now() < end; ); }`)
      expect(
        await given.fails('select_option', { selector: '#tags', values: ['a'], timeout_ms: openMs }),
      ).toMatchObject({
        code: 'action_failed',
        error: '#tags has the option a, but the page did not answer a click in time',
      })
    })

    test('a slider is set by its keys, to a value that it has', async () => {
      await given.open('/')
      await given.do('fill', { selector: '#volume', text: '55' })
      expect(await given.evaluate('volume.ariaValueNow')).toBe('55')
      expect(await given.fails('fill', { selector: '#volume', text: '57' })).toMatchObject({ code: 'action_failed' })
      expect(await given.fails('fill', { selector: '#volume', text: '200' })).toMatchObject({
        code: 'invalid_data',
        error: '#volume takes values from 0 to 100, not 200',
      })
    })

    test('fill_form sets all of them by their labels', async () => {
      await given.open('/')
      const fields = { Status: 'Live', City: 'Paris', Number: 'Item 9', Colour: 'Red', Tags: ['b'], Volume: 10 }
      const { fields: set } = await given.do('fill_form', { fields })
      expect((set as { kind: string }[]).map(({ kind }) => kind)).toEqual([...Array(5).fill('select'), 'slider'])
      expect([await text('#status'), await given.evaluate('city.value'), await text('#number')]).toEqual([
        'Live',
        'Paris',
        'Item 9',
      ])
      expect(await given.evaluate('volume.ariaValueNow')).toBe('10')
    })
  },
)

/** Lists of options with levels, and lists that are open already. */
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

/**
 * A list of regions in columns, which nothing connects with its field. It keeps the levels that were opened, and closes
 * some time after Escape.
 */
const columns = `<!doctype html><body style="min-height:600px"><label>Region <input id=region role=combobox readonly aria-expanded=false></label>
  <div id=layer style="display:none; margin-top:20px"></div><script>
  const regions = { Europe: { Italy: { Rome: {} }, Spain: { Madrid: {} } }, Asia: { Japan: { Tokyo: {} } } }
  let path = []
  const draw = () => {
    const levels = [regions]
    for (const name of path) if (Object.keys(levels.at(-1)[name]).length > 0) levels.push(levels.at(-1)[name])
    layer.replaceChildren(...levels.map((level, depth) => {
      const list = document.createElement('ul')
      list.role = 'menu'
      list.replaceChildren(...Object.keys(level).map((name) => {
        const item = document.createElement('li')
        item.role = 'menuitemcheckbox'; item.ariaChecked = 'false'; item.textContent = name
        if (path[depth] === name) item.className = 'item-active'
        item.onclick = () => {
          item.className = 'item-active'
          path = [...path.slice(0, depth), name]
          if (Object.keys(level[name]).length > 0) return draw()
          region.value = path.join(' / '); show(false)
        }
        return item
      }))
      return list
    }))
  }
  const show = (isOpen) => {
    region.ariaExpanded = String(isOpen)
    if (isOpen) { draw(); layer.style.display = '' }
    else layer.animate([{ opacity: 1 }, { opacity: 0 }], 200).onfinish = () => { layer.style.display = 'none' }
  }
  region.onclick = () => show(region.ariaExpanded !== 'true')
  region.onkeydown = ({ key }) => { if (key === 'Escape') show(false) }</script>`

const item = (name: string, below = '') =>
  `<li role=treeitem aria-selected=false ${below && 'aria-expanded=true'}><div>${name}</div>${below && `<ul role=group>${below}</ul>`}</li>`
/** A tree whose items contain the items below them; the middle of an item is one of these. */
const tree = `<!doctype html><ul id=tree role=tree aria-label=Places>
  ${item('Europe', item('Italy') + item('Spain', item('Madrid')) + item('France'))}${item('New York', item('New York'))}</ul><script>
  tree.onclick = ({ target }) => {
    for (const each of tree.querySelectorAll('[role=treeitem]')) each.ariaSelected = 'false'
    target.closest('[role=treeitem]').ariaSelected = 'true'
  }</script>`

/** A list that is placed anew while it is pressed for the first time. Each choice is counted. */
const placed = `<!doctype html><body style="min-height:900px"><label>Tag <input id=tag role=combobox readonly aria-expanded=false aria-controls=list></label>
  <ul id=list role=listbox style="display:none; position:absolute; top:80px; left:0; width:200px"><li role=option>Ann</li><li role=option>Bob</li></ul><script>
  window.choices = 0
  const show = (isOpen) => { tag.ariaExpanded = String(isOpen); list.style.display = isOpen ? '' : 'none' }
  tag.onclick = () => show(true)
  list.onmousedown = (event) => { event.preventDefault(); list.style.top = '400px' }
  list.onclick = ({ target }) => { if (target !== list) { choices++; tag.value = target.textContent; show(false) } }</script>`

/**
 * Select elements that people do not see, with a widget in place of each: one that shows what is selected in it, one that
 * keeps a value of its own, and one for several options, which marks the option that Enter would choose.
 */
const replaced = `<!doctype html><style>.list:not(.open) { display: none } .covered { position: absolute; opacity: 0; pointer-events: none }</style>
  <label for=synced>Synced</label><select id=synced hidden><option value=a>Ann<option value=b>Bob</select><span role=combobox tabindex=0 aria-expanded=false>Ann</span>
  <div><label for=own>Own</label><select id=own style="position: absolute; width: 0; height: 0; opacity: 0"><option value=a>Ann<option value=b>Bob</select></div>
  <div><label for=many>Many</label><select id=many class=covered multiple><option>Ann<option>Bob<option>Cleo</select></div><script>
  synced.onchange = () => { synced.nextSibling.textContent = synced.selectedOptions[0].label }
  const kept = { own: ['Ann'], many: [] }
  for (const select of [own, many]) {
    const box = document.createElement('div')
    box.innerHTML = '<span class=shown></span><input aria-label=' + select.labels[0].textContent + '><ul class=list role=listbox' + (select.multiple ? ' aria-multiselectable=true' : '') + '></ul>'
    Object.assign(box, { role: 'combobox', tabIndex: 0, ariaHasPopup: 'true', ariaExpanded: 'false' })
    select.after(box)
    box.prepend(select)
    const [shown, , list] = box.querySelectorAll('.shown, input, ul')
    const set = (names) => {
      kept[select.id] = names
      shown.innerHTML = names.map((name) => '<b>' + name + '</b>').join('')
      for (const option of select.options) option.selected = names.includes(option.label)
    }
    set(kept[select.id])
    list.append(...[...select.options].map(({ label }, index) => {
      const item = Object.assign(document.createElement('li'), { role: 'option', textContent: label, ariaSelected: String(index === 0) })
      item.onclick = (event) => { event.stopPropagation(); set(select.multiple ? [...kept.many, label] : [label]); if (!select.multiple) open(false) }
      return item
    }))
    const open = (isOpen) => { list.classList.toggle('open', isOpen); box.ariaExpanded = String(isOpen) }
    box.onclick = () => open(true)
    box.onkeydown = ({ key }) => { if (key === 'Escape') open(false) }
  }
  </script>`

/** A list that takes the focus, and closes with Escape there only; another one closes with a transition after each choice. */
const focused = `<!doctype html><button id=chooser aria-haspopup=listbox aria-expanded=false>choose</button>
  <ul id=list role=listbox aria-multiselectable=true tabindex=-1 hidden><li role=option aria-selected=false>Ann</li><li role=option aria-selected=false>Bob</li></ul>
  <style>#fading { transition: translate 400ms; translate: 0 0 } #fading.closed { translate: 0 -3000px }</style>
  <div id=slow role=combobox tabindex=0 aria-controls=fading aria-expanded=false style="width:200px">choose</div><ul id=fading class=closed role=listbox><li role=option>Ann</li><li role=option>Bob</li></ul><script>
  const names = new Set()
  chooser.onclick = () => { list.hidden = false; chooser.ariaExpanded = 'true'; list.focus() }
  list.onkeydown = ({ key }) => { if (key === 'Escape') { list.hidden = true; chooser.ariaExpanded = 'false' } }
  for (const one of list.children) one.onclick = () => { one.ariaSelected = 'true'; names.add(one.textContent); chooser.textContent = [...names] }
  const chosen = []
  const show = (isOpen) => { fading.classList.toggle('closed', !isOpen); fading.style.pointerEvents = isOpen ? '' : 'none'; slow.ariaExpanded = String(isOpen) }
  slow.onclick = () => show(true)
  for (const one of fading.children) one.onclick = () => { chosen.push(one.textContent); slow.textContent = chosen; show(false) }
  </script>`

/** Fields that offer to add what is typed, and whose other options contain it. */
const offers = `<!doctype html><label for=town>Town</label><span id=shown></span><input id=town role=combobox aria-expanded=false aria-controls=towns><ul id=towns role=listbox hidden></ul><script>
  const towns = ['New York City', 'Rome']
  const draw = () => {
    const found = towns.filter((name) => name.includes(town.value))
    const option = (text, name) => Object.assign(document.createElement('li'), { role: 'option', textContent: text, onclick: () => {
      shown.textContent = name; town.value = ''; towns_.hidden = true; town.ariaExpanded = 'false' } })
    towns_.replaceChildren(...found.map((name) => option(name, name)), ...(town.value && window.isOpenList ? [option('Create "' + town.value + '"', town.value)] : []))
    towns_.hidden = false; town.ariaExpanded = 'true'
  }
  const towns_ = document.querySelector('#towns')
  town.onclick = town.oninput = draw
  town.onkeydown = ({ key }) => { if (key === 'Escape') { towns_.hidden = true; town.ariaExpanded = 'false' } }
  </script>`

inUsualHomes(
  {
    '/columns': columns,
    '/tree': tree,
    '/placed': placed,
    '/replaced': replaced,
    '/focused': focused,
    '/offers': offers,
  },
  (given) => {
    const region = () => given.evaluate('region.value')
    const select = (values: string[], timeout_ms = 10_000) => ({ selector: '#region', values, timeout_ms })

    test('select_option chooses in a list that moves while it is pressed', async () => {
      await given.open('/placed')
      await given.do('select_option', { selector: '#tag', values: ['Bob'], timeout_ms: 10_000 })
      expect(await given.evaluate('[tag.value, choices]')).toEqual(['Bob', 1])
    })

    test('select_option chooses in a list that a click has opened before', async () => {
      await given.open('/columns')
      await given.do('click', { selector: '#region' })
      await given.do('select_option', select(['Asia', 'Japan', 'Tokyo']))
      expect(await region()).toBe('Asia / Japan / Tokyo')
      await given.do('click', { selector: '#region' })
      await given.do('select_option', select(['Europe', 'Italy', 'Rome']))
      expect(await region()).toBe('Europe / Italy / Rome')
    })

    test('select_option names a missing option of a level, and chooses in levels that are open', async () => {
      await given.open('/columns')
      expect(await given.fails('select_option', select(['Europe', 'Paris'], 3000))).toMatchObject({
        code: 'element_not_found',
        error: '#region has no option Paris in Europe',
      })
      await given.do('select_option', select(['Europe', 'Spain', 'Madrid']))
      expect(await region()).toBe('Europe / Spain / Madrid')
      expect(await given.fails('select_option', select(['Paris'], 3000))).toMatchObject({ code: 'element_not_found' })
      await given.do('select_option', select(['Europe', 'Italy', 'Rome']))
      expect(await region()).toBe('Europe / Italy / Rome')
    })

    test('select_option chooses items of a tree by their own names', async () => {
      await given.open('/tree')
      const chosen = () => given.evaluate(`tree.querySelector('[aria-selected=true] > div').textContent`)
      for (const name of ['Europe', 'Spain', 'Madrid', 'New York']) {
        await given.do('select_option', { selector: '#tree', values: [name] })
        expect(await chosen()).toBe(name)
      }
      const missing = { selector: '#tree', values: ['Paris'], timeout_ms: 1000 }
      expect(await given.fails('select_option', missing)).toMatchObject({
        error: '#tree has no such option; it has: Europe, Italy, Spain, Madrid, France, New York',
      })
    })

    test.each(['fill_form', 'select_option'])('%s sets the widget in place of a select element', async (command) => {
      await given.open('/replaced')
      const fields = { Synced: 'Bob', Own: 'Bob', Many: ['Ann', 'Cleo'] }
      if (command === 'fill_form') await given.do('fill_form', { fields })
      else
        for (const [id, value] of Object.entries(fields))
          await given.do('select_option', { selector: `#${id.toLowerCase()}`, values: [value].flat() })
      expect(await given.evaluate('[synced.value, synced.nextSibling.textContent, kept]')).toEqual([
        'b',
        'Bob',
        { own: ['Bob'], many: ['Ann', 'Cleo'] },
      ])
    })

    test('select_option closes a list that has the focus, and opens one that closes with a transition', async () => {
      await given.open('/focused')
      await given.do('select_option', { selector: '#chooser', values: ['Ann', 'Bob'] })
      expect(await given.evaluate('[list.hidden, [...names]]')).toEqual([true, ['Ann', 'Bob']])
      await given.do('select_option', { selector: '#slow', values: ['Ann', 'Bob'] })
      expect(await given.evaluate('chosen')).toEqual(['Ann', 'Bob'])
    })

    test('select_option adds a text that a list offers to add, and chooses no other option for it', async () => {
      await given.open('/offers')
      await given.evaluate('isOpenList = true')
      await given.do('select_option', { selector: '#town', values: ['New York'] })
      expect(await given.evaluate('shown.textContent')).toBe('New York')
      await given.evaluate(`isOpenList = false; shown.textContent = ''`)
      const missing = { selector: '#town', values: ['New York'], timeout_ms: 5000 }
      expect(await given.fails('select_option', missing)).toMatchObject({ code: 'element_not_found' })
      expect(await given.evaluate('shown.textContent')).toBe('')
    })
  },
)

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

inUsualHomes({ '/columns': columns, '/tree': tree, '/placed': placed }, (given) => {
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
})

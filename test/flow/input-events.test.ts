import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'
import { waitUntil } from '../support/wait.ts'

const pages = {
  '/': `<!doctype html><style>body{margin:0;height:3000px;width:3000px} div{width:100px;height:50px}</style>
    <div id=a>A</div><div id=b>B</div><input id=q><input type=checkbox id=news checked><input type=radio id=radio checked>
    <a id=link href=/next target=_self>Next</a><div id=box style="overflow:auto"><p style="height:500px">Long</p></div>
    <button id=off disabled>Off</button><iframe id=inner srcdoc="<input id=in><input type=checkbox id=c checked>"></iframe>
    <script>
      window.events = []
      document.addEventListener('click', (event) => (window.shifted = event.shiftKey))
      for (const type of ['click', 'dblclick', 'mousedown', 'mouseup', 'keydown', 'keyup', 'wheel'])
        document.addEventListener(type, (event) => events.push(type + ' ' + (event.key ?? event.button)))
    </script>`,
  '/next': '<!doctype html><title>Next</title>',
  '/fill': `<!doctype html><style>html,body{height:100%;margin:0;overflow:hidden} #app{height:100%;overflow:auto}</style>
    <div id=app><p style="height:5000px">Long</p></div>`,
  '/drag': `<!doctype html><style>body{margin:0} div{width:50px;height:50px;background:#ccc;margin:20px}</style>
    <div id=from draggable=true>a</div><div id=to>b</div><script>
      to.ondragover = (event) => event.preventDefault()
      to.ondrop = () => (document.title = 'dropped')</script>`,
  '/gone': '<!doctype html><button id=b ondblclick="this.remove()">Twice</button>',
}

inUsualHomes(pages, (given) => {
  const events = async () => (await given.evaluate('events.splice(0)')) as string[]

  test('double_click clicks twice', async () => {
    await given.open('/')
    await given.do('double_click', { selector: '#a' })
    expect(await events()).toEqual(expect.arrayContaining(['click 0', 'dblclick 0']))
    await given.open('/gone')
    await given.do('double_click', { selector: '#b' })
    expect(await given.value('count_elements', { selector: '#b' })).toBe(0)
    expect(await given.fails('double_click', { selector: '#b', timeout_ms: 700 })).toMatchObject({
      code: 'element_not_found',
      details: { delivered: false },
    })
  })

  test('click_advanced clicks several times', async () => {
    await given.open('/')
    await given.do('click_advanced', { selector: '#a', count: 3 })
    expect((await events()).filter((event) => event === 'click 0')).toHaveLength(3)
  })

  test('uncheck clears checkboxes, and leaves cleared ones alone', async () => {
    await given.open('/')
    for (const selector of ['#news', '#news', 'frame=#inner >> #c']) {
      await given.do('uncheck', { selector })
      expect(await given.value('get_state', { selector, state: 'checked' })).toBe(false)
    }
    expect(await given.fails('uncheck', { selector: '#radio' })).toMatchObject({
      code: 'not_editable',
      error: '#radio is a radio button and cannot be unchecked',
    })
  })

  test('press_key without a selector presses on the focused element', async () => {
    await given.open('/')
    await given.do('focus', { selector: '#q' })
    for (const key of ['a', 'b', 'Control+A', 'Backspace', 'c']) await given.do('press_key', { key })
    expect(await given.value('get_value', { selector: '#q' })).toBe('c')
    await given.do('focus', { selector: 'frame=#inner >> #in' })
    await given.do('press_key', { key: 'x' })
    expect(await given.value('get_value', { selector: 'frame=#inner >> #in' })).toBe('x')
    expect(await given.fails('press_key', { key: 'Entre' })).toMatchObject({
      code: 'invalid_data',
      error: 'unknown key "Entre"',
      details: { delivered: false },
    })
    await given.fails('press_key', { key: 'Shift+Entre' })
    await events()
    await given.do('click', { selector: '#a' })
    expect(await given.evaluate('shifted')).toBe(false)
  })

  test('key_down holds a key until key_up, and insert_text needs no keys', async () => {
    await given.open('/')
    await given.do('focus', { selector: '#q' })
    await given.do('key_down', { key: 'Shift' })
    await given.do('press_key', { key: 'ArrowLeft' })
    await given.do('key_up', { key: 'shift' })
    expect(await events()).toEqual(['keydown Shift', 'keydown ArrowLeft', 'keyup ArrowLeft', 'keyup Shift'])
    await given.do('insert_text', { text: 'héllo 😀' })
    expect(await given.value('get_value', { selector: '#q' })).toBe('héllo 😀')
    expect(await events()).toEqual([])
    expect(await given.fails('key_down', { key: 'Nope' })).toMatchObject({ code: 'invalid_data' })
  })

  test('mouse_down, mouse_up and mouse_wheel act at the position of the pointer', async () => {
    await given.open('/')
    await given.do('move_mouse_to', { x: 50, y: 25 })
    await given.do('mouse_down', { button: 'right' })
    await given.do('mouse_up', { button: 'right' })
    await given.do('mouse_wheel', { delta_y: 100 })
    await given.do('wait_for', { function: 'scrollY === 100' })
    expect(await events()).toEqual(['mousedown 2', 'mouseup 2', 'wheel 0'])
  })

  test('scroll moves the page, an element, or what fills the page', async () => {
    await given.open('/')
    expect(await given.do('scroll', { direction: 'down', amount: 400 })).toMatchObject({ x: 0, y: 400 })
    expect(await given.do('scroll', { direction: 'right', amount: 50 })).toMatchObject({ x: 50, y: 400 })
    const { max_y } = await given.do('scroll', { direction: 'up', amount: 100_000 })
    expect(max_y).toBeGreaterThan(2000)
    expect(await given.evaluate('scrollY')).toBe(0)
    expect(await given.do('scroll', { direction: 'down', amount: 30, selector: '#box p' })).toMatchObject({ y: 30 })
    expect(await given.evaluate('[scrollY, document.querySelector("#box").scrollTop]')).toEqual([0, 30])
    await given.open('/fill')
    expect(await given.do('scroll', { direction: 'down' })).toMatchObject({ y: expect.any(Number) })
    expect(await given.evaluate('document.querySelector("#app").scrollTop')).toBeGreaterThan(300)
    expect(await given.fails('scroll', { direction: 'down', selector: '#none', timeout_ms: 700 })).toMatchObject({
      code: 'element_not_found',
    })
  })

  test('drag_to drops on an element', async () => {
    await given.open('/drag')
    await given.do('drag_to', { selector: '#from', target_selector: '#to' })
    expect(await given.value('get_title')).toBe('dropped')
  })

  test('@e12 is a reference wherever a selector is accepted', async () => {
    await given.open('/drag')
    await given.open('/')
    const { elements } = await given.client().observe({ session_id: given.sessionId() })
    const { ref } = elements!.find(({ tag, role }) => tag === 'input' && role === 'textbox')!
    await given.do('fill', { selector: `@${ref}`, text: 'by reference' })
    expect(await given.value('get_value', { selector: '#q' })).toBe('by reference')
    const inside = await given.client().observe({ session_id: given.sessionId(), selector: `@${ref}` })
    expect(inside.elements!.map((element) => element.ref)).toEqual([ref])
    expect(await given.fails('click', { selector: '@e99999' })).toMatchObject({ code: 'stale_ref' })
  })

  test('click_advanced opens a link in a new tab', async () => {
    await given.open('/')
    await given.do('click_advanced', { selector: '#link', new_tab: true })
    await waitUntil(async () => (await given.value('get_title')) === 'Next')
    expect((await given.client().getSession({ session_id: given.sessionId() })).tabs).toBe(2)
  })
})

import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': `<!doctype html><title>State</title><div style="height:3000px"></div>
    <form><input id=q value=typed><input name=pass type=password value=hush><input type=checkbox id=terms checked><textarea>long</textarea></form>
    <iframe src=/inner></iframe><div id=host></div>
    <script>document.querySelector('#host').attachShadow({mode:'open'}).innerHTML = '<input id=deep>'</script>`,
  '/inner': '<!doctype html><p>inner</p>',
}

inUsualHomes(pages, (given) => {
  test('capture_state returns the state of the page', async () => {
    await given.open('/')
    await given.do('set_cookies', { cookies: 'sid=1' })
    await given.do('set_local_storage', { items: [{ key: 'theme', value: 'dark' }] })
    await given.do('set_session_storage', { items: [{ key: 'step', value: '2' }] })
    await given.do('scroll_to', { y: 500 })
    await given.do('move_mouse_to', { x: 11, y: 12 })
    await given.do('focus', { selector: '#deep' })
    await given.do('scroll_to', { y: 500 })
    const state = (await given.value('capture_state')) as { fields: { selector: string }[] }
    expect(state).toMatchObject({
      captured_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      url: given.url('/'),
      title: 'State',
      ready_state: 'complete',
      viewport: { width: 1280, height: 720, device_scale_factor: 1 },
      scroll: { x: 0, y: 500, max_x: 0 },
      pointer: { x: 11, y: 12 },
      focused: 'input#deep',
      fields: [
        { selector: '#q', type: 'text', value: 'typed', checked: null },
        { name: 'pass', type: 'password', value: null },
        { selector: '#terms', type: 'checkbox', checked: true },
        { type: 'textarea', value: 'long' },
      ],
      frames: [given.url('/inner')],
      tabs: [{ url: given.url('/'), active: true }],
      cookies: [{ name: 'sid', value: '1' }],
      local_storage: { theme: 'dark' },
      session_storage: { step: '2' },
    })
    for (const { selector } of state.fields) {
      expect(await given.value('get_bounding_boxes', { selector })).toHaveLength(1)
    }
  })

  test('capture_state works on a page without an origin', async () => {
    await given.do('navigate_to', { url: 'about:blank' })
    expect(await given.value('capture_state')).toMatchObject({ url: 'about:blank', fields: [] })
    await given.do('navigate_to', { url: 'data:text/html,<title>plain</title>' })
    expect(await given.value('capture_state')).toMatchObject({
      title: 'plain',
      local_storage: null,
      session_storage: null,
    })
  })
})

import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': '<!doctype html><title>Storage</title><iframe id=inner src=/inner></iframe>',
  '/inner': '<!doctype html><p id=p>inner</p>',
}
const areas = ['local', 'session'] as const

inUsualHomes(pages, (given) => {
  test.each(areas)('get_%s_storage, set and clear work on the page', async (area) => {
    const [get, set, clear] = [`get_${area}_storage`, `set_${area}_storage`, `clear_${area}_storage`]
    await given.open('/')
    await given.do(clear)
    expect(await given.do(get)).toEqual({ result: { type: 'object', value: {} } })
    await given.do(set, {
      items: [
        { key: 'theme', value: 'dark' },
        { key: '', value: 'ö 😀' },
      ],
    })
    expect(await given.value(get)).toEqual({ theme: 'dark', '': 'ö 😀' })
    expect(await given.evaluate(`${area}Storage.getItem('theme')`)).toBe('dark')
    const inside = { selector: 'frame=#inner >> #p', expression: `${area}Storage.getItem('theme')` }
    expect(await given.value('evaluate_on_element', inside)).toBe('dark')
    await given.do(set, { items: [{ key: 'theme', value: 'light' }] })
    expect(await given.value(get)).toMatchObject({ theme: 'light', '': 'ö 😀' })
    await given.do(clear)
    expect(await given.value(get)).toEqual({})
  })

  test.each([
    'get_local_storage',
    'set_local_storage',
    'clear_local_storage',
    'get_session_storage',
    'set_session_storage',
    'clear_session_storage',
  ])('%s fails on a page without storage', async (command) => {
    await given.do('navigate_to', { url: 'data:text/html,<p>none</p>' })
    const data = command.startsWith('set') ? { items: [{ key: 'a', value: 'b' }] } : undefined
    const { code, error } = await given.fails(command, data)
    expect(code).toBe('evaluate_failed')
    expect(error).toBe('data:text/html,<p>none</p> has no storage')
  })

  test('reports that the storage is full', async () => {
    await given.open('/')
    const { error } = await given.fails('set_local_storage', { items: [{ key: 'big', value: 'x'.repeat(6_000_000) }] })
    expect(error).toBe("the page's storage is full")
  })
})

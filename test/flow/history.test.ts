import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/a': '<!doctype html><title>A</title><a id=hash href=#part>Part</a>',
  '/b': '<!doctype html><title>B</title>',
  '/busy': '<!doctype html><title>Busy</title><script>onload = () => setTimeout(() => { for (;;); }, 50)</script>',
}

inUsualHomes(pages, (given) => {
  test('go_back fails on the first page of a session', async () => {
    await given.restart()
    await given.open('/a')
    expect(await given.fails('go_back')).toMatchObject({
      code: 'navigation_failed',
      error: 'the history has no previous page',
    })
    expect(await given.value('get_url')).toBe(given.url('/a'))
  })

  test('go_back and go_forward return the URL', async () => {
    await given.open('/a')
    await given.open('/b')
    expect(await given.do('go_back')).toEqual({ url: given.url('/a') })
    expect(await given.value('get_title')).toBe('A')
    expect(await given.do('go_forward')).toEqual({ url: given.url('/b') })
    expect(await given.fails('go_forward')).toMatchObject({
      code: 'navigation_failed',
      error: 'the history has no next page',
      details: { url: given.url('/b') },
    })
  })

  test('go_back moves within a document', async () => {
    await given.open('/a')
    await given.do('click', { selector: '#hash' })
    expect(await given.do('go_back')).toEqual({ url: given.url('/a') })
    expect(await given.do('go_forward')).toEqual({ url: given.url('/a#part') })
  })

  test('go_back leaves a page that hangs', async () => {
    await given.open('/a')
    await given.open('/busy')
    await given.run([['wait_for', { milliseconds: 100 }]])
    expect(await given.do('go_back')).toEqual({ url: given.url('/a') })
  })
})

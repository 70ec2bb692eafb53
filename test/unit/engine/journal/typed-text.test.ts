/** Text that a person typed in the live view is redacted in the entries of later commands. */
import type { Page } from 'playwright'
import { describe, expect, test } from 'vitest'
import { Journal } from '../../../../src/engine/browser/journal/journal.ts'
import { keptEntries } from '../../../../src/engine/browser/journal/kept-entries.ts'
import { scriptSteps } from '../../../../src/engine/browser/journal/script-steps.ts'

/** Journals commands with the URLs before and after them, and the values that they read. */
function journalOf() {
  const journal = new Journal()
  let url = 'https://shop.test/'
  const page = { url: () => url } as Page
  async function add(command: string, urls: readonly [string, string], value?: string) {
    url = urls[0]
    const entry = await journal.begin({ command, data: command === 'get_text' ? { selector: 'h1' } : {} }, page, true)
    url = urls[1]
    const head = { command, command_type: 'action', index: 0, duration_ms: 1 } as const
    entry.end({ ...head, success: true, data: { result: { value } } }, page)
  }
  const type = (text: string) => journal.typed.add({ type: 'text', text })
  const steps = () => scriptSteps(keptEntries(journal.entries).entries, journal.urlOf(page))
  return { add, journal, page, steps, type }
}

describe('text that a person typed', () => {
  test.each([
    ['a query', '/search?q=ada+lovelace&page=2'],
    ['a path', '/users/ada%20lovelace/orders'],
    ['a route', '/#/users/ada%20lovelace'],
    ['JSON in a query', '/search?filter=%7B%22name%22%3A%22ada%20lovelace%22%7D'],
  ])('is in no later URL: %s', async (_case, path) => {
    const { add, journal, page, steps, type } = journalOf()
    await add('refresh', ['https://shop.test/', 'https://shop.test/'])
    journal.addControl(page)
    type('ada lovelace')
    const url = `https://shop.test${path}`
    await add('evaluate', [url, url])
    await add('get_url', [url, url], url)
    await add('evaluate', [`${url}&sort=name`, `${url}&sort=price`])
    expect(JSON.stringify(steps())).not.toMatch(/ada|lovelace/)
    expect(JSON.stringify(steps())).toContain('https://shop.test/')
  })

  test('is in no expectation', async () => {
    const { add, steps, type } = journalOf()
    type('lovelace')
    for (const [command, value] of [
      ['get_title', 'Orders of lovelace'],
      ['get_text', 'Orders of lovelace in March'],
      ['get_value', 'lovelace'],
    ] as const)
      await add(command, ['https://shop.test/', 'https://shop.test/'], value)
    expect(steps().map(({ data }) => data)).toEqual([
      { url: 'https://shop.test/' },
      { selector: 'h1', text: 'Orders of' },
    ])
  })

  test('stays in the name of a host, and in URLs of the address bar', async () => {
    const { add, journal, steps, type } = journalOf()
    type('shop')
    journal.typed.add({ type: 'navigate', url: 'https://shop.test/offers/tea' })
    await add('refresh', ['https://shop.test/offers/tea', 'https://shop.test/offers/tea'])
    expect(steps().map(({ data }) => data)).toEqual([{ url: 'https://shop.test/offers/tea' }, {}])
  })
})

test('control of a person is recorded once, until a command follows', async () => {
  const { add, journal, page } = journalOf()
  journal.addControl(page)
  journal.addControl(page)
  await add('refresh', ['https://shop.test/', 'https://shop.test/'])
  journal.addControl(page)
  expect(journal.entries.map(({ command }) => command)).toEqual(['control', 'refresh', 'control'])
})

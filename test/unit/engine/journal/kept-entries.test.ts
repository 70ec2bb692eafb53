/** Which commands of a session a script repeats. */
import { describe, expect, test } from 'vitest'
import { keptEntries } from '../../../../src/engine/browser/journal/kept-entries.ts'
import { entryOf } from '../../../support/journal-entries.ts'

type Options = Parameters<typeof entryOf>[2]

const failed = (command: string, options: Options) =>
  keptEntries([entryOf(command, { selector: '#a', url: 'http://a.test/' }, options)]).entries.length === 1
const moved = { urlBefore: 'http://a.test/', urlAfter: 'http://a.test/b' }

describe('a command that failed', () => {
  test.each<[string, string, Options]>([
    ['click', 'whose click arrived', { failure: 'timeout', delivered: true }],
    ['navigate_to', 'after the page was there', { failure: 'timeout', ...moved }],
    ['new_tab', 'after the tab was open', { failure: 'timeout', tabs: [1, 2] }],
    ['go_back', 'after the page was there', { failure: 'timeout', ...moved }],
  ])('%s %s is repeated', (command, _case, options) => {
    expect(failed(command, options)).toBe(true)
  })

  test.each<[string, string, Options]>([
    ['click', 'that did not arrive on a page that moved', { failure: 'timeout', delivered: false, ...moved }],
    ['type_text', 'whose text the page has not kept', { failure: 'not_editable', delivered: true }],
    ['navigate_to', 'that shows an error of the browser', { failure: 'navigation_failed', ...moved }],
    ['navigate_to', 'without an effect', { failure: 'timeout' }],
    ['wait_for', 'on a page that moved', { failure: 'timeout', ...moved }],
    ['get_text', 'on a page that moved', { failure: 'timeout', ...moved }],
  ])('%s %s is left out', (command, _case, options) => {
    expect(failed(command, options)).toBe(false)
  })
})

describe('a step back', () => {
  const visit = (urlAfter: string, href: string) => [
    entryOf(
      'click',
      { selector: '#a' },
      {
        elements: [['#a', { isLink: true, fingerprint: { tag: 'a', attributes: { href } } }]],
        urlBefore: 'http://a.test/',
        urlAfter,
      },
    ),
    entryOf('go_back', {}, { number: 2, urlBefore: urlAfter, urlAfter: 'http://a.test/' }),
  ]

  test('undoes a click on a link', () => {
    expect(keptEntries(visit('http://a.test/help', '/help')).entries).toEqual([])
  })

  test.each([
    ['http://a.test/cart?add=1', '/cart?add=1'],
    ['http://a.test/cart', '/cart?add=1'],
  ])('does not undo a link with a query, to %s', (urlAfter, href) => {
    expect(keptEntries(visit(urlAfter, href)).entries).toHaveLength(2)
  })
})

describe('a read', () => {
  const at = (path: string) => ({ urlBefore: `http://a.test/${path}`, urlAfter: `http://a.test/${path}` })
  const read = (number: number, text: string, path = '') =>
    entryOf('get_text', { selector: 'h1' }, { number, proof: { selector: 'h1', text }, ...at(path) })
  const url = (number: number, path: string) =>
    entryOf('get_url', {}, { number, proof: { url: `http://a.test/${path}` }, ...at(path) })
  const click = (number: number, path = '') => entryOf('click', { selector: '#a' }, { number, ...at(path) })
  const waited = (number: number, path = '') => entryOf('wait_for', { text: 'Done' }, { number, ...at(path) })

  test.each([
    ['the page says something else without an action', [click(1), read(2, 'Loading'), read(3, 'Done')], 2],
    ['a wait ended with something else', [click(1), read(2, 'Loading'), waited(3), read(4, 'Done')], 2],
    ['the page went on by itself', [click(1), url(2, ''), url(3, 'order')], 2],
    ['an action finds another page', [click(1), read(2, 'Cart'), click(3, 'order')], 2],
  ])('is left out when %s', (_case, entries, number) => {
    const { entries: kept, leftOut } = keptEntries(entries)
    expect(kept.map((entry) => entry.number)).toEqual(entries.map((entry) => entry.number).filter((n) => n !== number))
    expect(leftOut).toEqual([
      {
        number,
        command: entries[number - 1]!.command,
        reason: expect.stringMatching(/^the page itself had changed what it read by command \d$/) as string,
      },
    ])
  })

  test.each([
    ['an action changes what it read', [read(1, 'Cart'), click(2), read(3, 'Order')]],
    ['an action leaves its page', [read(1, 'Cart'), click(2), read(3, 'Order', 'order')]],
    ['another read follows', [click(1), read(2, 'Cart'), url(3, '')]],
    ['a person had control', [read(1, 'Cart'), entryOf('control', at('order')), read(3, 'Order', 'order')]],
  ])('is kept when %s', (_case, entries) => {
    const numbers = keptEntries(entries).entries.map(({ number }) => number)
    expect(numbers).toEqual(entries.filter(({ command }) => command !== 'control').map(({ number }) => number))
  })
})

test('what a person did is neither repeated nor undone', () => {
  const fill = (text: string, number: number) =>
    entryOf('fill', { selector: '#a', text }, { number, elements: [['#a']] })
  const { entries, leftOut } = keptEntries([fill('a', 1), entryOf('control', {}), fill('b', 2), fill('c', 3)])
  expect(entries.map(({ data, isAfterPerson }) => [data['text'], isAfterPerson])).toEqual([
    ['a', undefined],
    ['c', true],
  ])
  expect(leftOut).toEqual([
    { number: 1, command: 'control', reason: 'a person had control' },
    { number: 2, command: 'fill', reason: 'repeated by command 3' },
  ])
})

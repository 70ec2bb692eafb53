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

/** Facts of passed steps that may explain a later failure. */
import { expect, test } from 'vitest'
import type { SessionEvent } from '../../../../src/core/events/events.ts'
import { flagList, flagsOf, newAlerts } from '../../../../src/engine/browser/replay/flags.ts'
import { logLines } from '../../../../src/engine/browser/replay/logs.ts'
import { redactionOf } from '../../../../src/engine/browser/replay/redaction.ts'

type Data = SessionEvent['data']
const url = 'http://a.test/cart'
const request = (id: string, more: Data = {}) => ({
  request_id: id,
  method: 'GET',
  url,
  resource_type: 'fetch',
  ...more,
})

/** Returns the flags of events, one each 100 ms, at the end of a recording of ten seconds. */
function flagged(...events: [type: SessionEvent['type'], data: Data][]): string[] {
  const list = events.map(([type, data], at) => ({ seq: at + 1, ts: new Date(at * 100).toISOString(), type, data }))
  return flagsOf({ logs: logLines(list, 10_000), alerts: [] })
}

test.for<[name: string, events: Parameters<typeof flagged>, flags: string[]]>([
  [
    'a dialog that the setting has answered',
    [
      ['dialog.opened', { tab_id: 'tab_1', type: 'confirm', message: 'Sure?' }],
      [
        'dialog.closed',
        { tab_id: 'tab_1', type: 'confirm', message: 'Sure?', accepted: false, answered_by: 'setting' },
      ],
    ],
    ['dialog dismissed automatically: confirm "Sure?"'],
  ],
  [
    'an open dialog',
    [['dialog.opened', { tab_id: 'tab_1', type: 'alert', message: 'No' }]],
    ['dialog left open: alert "No"'],
  ],
  [
    'a failed request once, which the console repeats',
    [
      ['network.request', request('1', { method: 'POST' })],
      ['network.response', request('1', { method: 'POST', status: 500 })],
      ['console', { level: 'error', text: 'Failed to load resource: status 500', url }],
    ],
    [`POST ${url} 500`],
  ],
  ['an exception', [['page.error', { message: 'x is undefined' }]], ['exception: x is undefined']],
  [
    'a tab that a page opens',
    [
      ['tab.opened', { tab_id: 'tab_1', url: 'about:blank', tabs: 1 }],
      ['tab.opened', { tab_id: 'tab_2', url, tabs: 2 }],
    ],
    [`opened a new tab: ${url}`],
  ],
  ['a request without a response', [['network.request', request('1')]], [`GET ${url}: no response after 10.0 s`]],
  [
    'a page that redirects to another one',
    [
      ['network.request', request('1', { resource_type: 'document' })],
      ['network.response', request('1', { resource_type: 'document', status: 302 })],
      [
        'network.request',
        request('2', { resource_type: 'document', url: 'http://a.test/login', redirected_from: '1' }),
      ],
      ['network.response', request('2', { resource_type: 'document', status: 200 })],
    ],
    [`GET ${url} 302, redirected to http://a.test/login`],
  ],
])('are: %s', ([, events, flags]) => {
  expect(flagged(...events)).toEqual(flags)
})

test('are not: answered dialogs, aborted requests, lasting connections and messages of other levels', () => {
  expect(
    flagged(
      ['dialog.opened', { tab_id: 'tab_1', type: 'confirm', message: 'Sure?' }],
      ['dialog.closed', { tab_id: 'tab_1', type: 'confirm', accepted: true, answered_by: 'answer_dialog' }],
      ['network.request', request('1')],
      ['network.failed', request('1', { error: 'net::ERR_ABORTED' })],
      ['network.request', request('2', { resource_type: 'eventsource' })],
      ['console', { level: 'warning', text: 'deprecated' }],
    ),
  ).toEqual([])
})

test('are the messages that a page begins to show, with the step before which they are first seen', () => {
  const page = (...alerts: string[]) => ({ alerts }) as never
  const steps = [
    { before: page(), after: page('too short') },
    { before: page('too short', 'sold out'), after: page('sold out') },
    { before: { missing: 'the page had crashed' } },
  ]
  expect(newAlerts(steps)).toEqual([[], ['too short', 'sold out'], [], []])
})

test('have no secrets, and are cut', () => {
  const redaction = redactionOf(new Set(['hush-4711']), (text) => text)
  const flags = ['POST http://a.test/?token=abcdefgh&q=hush-4711 500', `exception: ${'x'.repeat(5000)}`]
  const html = flagList([...flags, ...Array.from({ length: 20 }, (_, at) => `<b>${at}</b>`)], redaction)
  expect(html).not.toMatch(/abcdefgh|hush-4711|<b>/)
  expect(html).toContain('and 12 more')
  expect(html.length).toBeLessThan(2000)
})

import { expect, test } from 'vitest'
import type { SessionEvent, SessionEventType } from '../../../../src/core/events/events.ts'
import { consolePart, dialogsPart, networkPart } from '../../../../src/engine/browser/observe/parts.ts'

const event = (type: SessionEventType, data: Record<string, unknown>, at = 0): SessionEvent => ({
  seq: at + 1,
  ts: '2026-01-01T00:00:00.000Z',
  type,
  data,
})

test('lists each request once with its result', () => {
  const request = (id: string) => ({ request_id: id, method: 'GET', url: `/${id}`, resource_type: 'fetch' })
  const told = networkPart([
    event('network.request', request('1')),
    event('network.request', request('2')),
    event('network.response', { ...request('1'), status: 200 }),
    event('network.request', request('3')),
    event('network.failed', { ...request('3'), error: 'net::ERR_FAILED' }),
  ])
  expect(told).toEqual([
    { method: 'GET', url: '/1', resource_type: 'fetch', status: 200 },
    { method: 'GET', url: '/2', resource_type: 'fetch', status: null },
    { method: 'GET', url: '/3', resource_type: 'fetch', status: null, error: 'net::ERR_FAILED' },
  ])
})

test('includes uncaught errors, and only the last messages', () => {
  const many = Array.from({ length: 60 }, (_, at) => event('console', { level: 'log', text: String(at) }))
  const told = consolePart([...many, event('page.error', { message: 'thrown' })])
  expect(told).toHaveLength(50)
  expect(told.at(-1)).toEqual({ level: 'error', text: 'thrown' })
})

test('lists the dialogs of the tab’s current document', () => {
  const dialog = (message: string) => ({ tab_id: 'tab_1', type: 'confirm', message })
  const told = dialogsPart(
    [
      event('dialog.opened', dialog('before')),
      event('dialog.closed', { ...dialog('before'), accepted: true }),
      event('page.navigated', { tab_id: 'tab_1', url: '/' }),
      event('dialog.opened', dialog('first')),
      event('dialog.closed', { ...dialog('first'), accepted: false }),
      event('page.navigated', { tab_id: 'tab_2', url: '/' }),
      event('dialog.opened', { ...dialog('elsewhere'), tab_id: 'tab_2' }),
      event('dialog.opened', dialog('second')),
    ],
    'tab_1',
  )
  expect(told).toEqual([
    { type: 'confirm', kind: 'confirm', message: 'first', open: false, accepted: false },
    { type: 'confirm', kind: 'confirm', message: 'second', open: true },
  ])
})

import { EventEmitter } from 'node:events'
import type { BrowserContext, Dialog } from 'playwright'
import { expect, test } from 'vitest'
import { EventLog } from '../../../src/core/events/events.ts'
import { answerDialog } from '../../../src/engine/browser/tabs/dialogs.ts'
import { recordPageEvents } from '../../../src/engine/browser/tabs/page-events.ts'

const long = 'x'.repeat(1_000_000)

test('truncates the texts of prompts in events', async () => {
  const events = new EventLog()
  const dialog = {
    type: () => 'prompt',
    page: () => null,
    message: () => long,
    defaultValue: () => long,
    dismiss: async () => {},
  }
  await answerDialog(dialog as unknown as Dialog, events, async () => ({ accept: false }))
  const [opened] = events.since(0)
  expect(opened).toMatchObject({ data: { message: long.slice(0, 1000), default_value: long.slice(0, 1000) } })
})

test('truncates request methods and content types in events', () => {
  const events = new EventLog()
  const context = new EventEmitter()
  recordPageEvents(context as unknown as BrowserContext, events)
  const request = {
    serviceWorker: () => ({}),
    method: () => long,
    url: () => 'http://a.test/',
    resourceType: () => 'fetch',
  }
  context.emit('request', request)
  context.emit('response', { request: () => request, headers: () => ({ 'content-type': long }), status: () => 200 })
  expect(events.since(0).map(({ data }) => data)).toMatchObject([
    { method: long.slice(0, 200) },
    { method: long.slice(0, 200), content_type: long.slice(0, 200) },
  ])
})

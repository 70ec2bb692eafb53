import { EventEmitter } from 'node:events'
import type { BrowserContext } from 'playwright'
import { expect, test } from 'vitest'
import { EventLog } from '../../../src/core/events/events.ts'
import { Dialogs } from '../../../src/engine/browser/tabs/dialogs.ts'
import { recordPageEvents } from '../../../src/engine/browser/tabs/page-events.ts'

const long = 'x'.repeat(1_000_000)

test('truncates the texts of prompts in events', () => {
  const events = new EventLog()
  const emitter = new EventEmitter()
  const context = emitter as unknown as BrowserContext
  const dialogs = new Dialogs({ context, events, setting: () => 'dismiss', outsider: 'client' })
  const dialog = {
    type: () => 'prompt',
    page: () => null,
    message: () => long,
    defaultValue: () => long,
    dismiss: async () => {},
  }
  emitter.emit('dialog', dialog)
  expect(dialogs.newest).toBe(dialog)
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
    postDataBuffer: () => null,
    resourceType: () => 'fetch',
    redirectedFrom: () => null,
  }
  context.emit('request', request)
  context.emit('response', { request: () => request, headers: () => ({ 'content-type': long }), status: () => 200 })
  expect(events.since(0).map(({ data }) => data)).toMatchObject([
    { method: long.slice(0, 200) },
    { method: long.slice(0, 200), content_type: long.slice(0, 200) },
  ])
})

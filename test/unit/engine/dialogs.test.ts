/** Answers to dialogs that are closed at the same moment. */
import { EventEmitter } from 'node:events'
import type { BrowserContext } from 'playwright'
import { expect, test } from 'vitest'
import { EventLog } from '../../../src/core/events/events.ts'
import { Dialogs } from '../../../src/engine/browser/tabs/dialogs.ts'

function dialogsWith(setting: 'ask' | 'dismiss') {
  const context = new EventEmitter()
  const events = new EventLog()
  const dialogs = new Dialogs({
    context: context as unknown as BrowserContext,
    events,
    setting: () => setting,
    outsider: 'client',
  })
  const answers: string[] = []
  const open = (message: string, outcome: Promise<void> = Promise.resolve()) =>
    context.emit('dialog', {
      type: () => 'confirm',
      message: () => message,
      defaultValue: () => '',
      page: () => null,
      accept: () => (answers.push(`accept ${message}`), outcome),
      dismiss: () => (answers.push(`dismiss ${message}`), outcome),
    })
  const closed = () => events.since(0).filter(({ type }) => type === 'dialog.closed')
  return { dialogs, answers, open, closed }
}

test('an answer is for the next dialog while the setting answers the open one', async () => {
  const { dialogs, answers, open, closed } = dialogsWith('dismiss')
  open('first')
  expect(dialogs.answerable).toBe(false)
  expect(await dialogs.answerNext({ accept: true })).toMatchObject({
    answered: false,
    kept_for: expect.arrayContaining(['confirm']),
  })
  open('second')
  await dialogs.settled()
  expect(answers).toEqual(['dismiss first', 'accept second'])
  expect(closed().map(({ data }) => data['answered_by'])).toEqual(['setting', 'answer_dialog'])
})

test('an answer is not for a dialog that is left to a person', async () => {
  const { dialogs, answers, open } = dialogsWith('ask')
  open('first')
  const release = dialogs.hold(() => {})
  expect(dialogs.answerable).toBe(false)
  expect(await dialogs.answerNext({ accept: true })).toMatchObject({
    answered: false,
    kept_for: expect.arrayContaining(['confirm']),
  })
  expect(answers).toEqual([])
  release()
  expect(dialogs.answerable).toBe(true)
})

test('an answer fails if the dialog is closed first', async () => {
  const { dialogs, open } = dialogsWith('ask')
  open('gone', Promise.reject(new Error('the page was closed')))
  await expect(dialogs.answerNext({ accept: true })).rejects.toMatchObject({ code: 'conflict' })
})

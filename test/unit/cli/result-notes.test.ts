import { describe, expect, test } from 'vitest'
import { blockedHint, keptAnswerNotes, swappedHint } from '../../../src/core/text/result-notes.ts'

describe('the hint of a blocked URL', () => {
  const server = 'http://127.0.0.1:4100'

  test.each([
    ['http://127.0.0.1:3000/', '127.0.0.0/8'],
    ['localhost:3000', '127.0.0.0/8 --allow-private ::1/128'],
    ['http://ann:secret@10.1.2.3/x', '10.1.2.3/32'],
    ['http://[::1]:3000', '::1/128'],
  ])('%s names the range to allow', (url, range) => {
    expect(blockedHint('url_blocked', ['--json', url], server)).toBe(
      `private addresses are blocked: start the server with "bax serve --allow-private ${range}"`,
    )
  })

  test.each([
    ['http://127.0.0.1:6000/', 6000],
    ['localhost:22', 22],
    ['https://example.com:6667/a?b', 6667],
    ['[::1]:25/', 25],
    ['http://ann:secret@10.1.2.3:10080', 10_080],
  ])('%s names the port, which no browser opens', (url, port) => {
    const hint = `browsers block port ${port} (ERR_UNSAFE_PORT), and so do all requests of bax: use another port for the site`
    for (const where of [server, undefined]) expect(blockedHint('url_blocked', ['--json', url], where)).toBe(hint)
    expect(blockedHint('connection_failed', [url], server)).toBeUndefined()
  })

  test('is absent for public hosts, metadata services, other errors, and engines of this machine', () => {
    expect(blockedHint('url_blocked', ['https://example.com', undefined, 5], server)).toBeUndefined()
    expect(blockedHint('url_blocked', ['http://169.254.169.254/'], server)).toBeUndefined()
    expect(blockedHint('url_blocked', ['http://[fd00:ec2::254]/'], server)).toBeUndefined()
    expect(blockedHint('dns_failed', ['http://localhost'], server)).toBeUndefined()
    expect(blockedHint('url_blocked', ['http://localhost:3000'], undefined)).toBeUndefined()
  })
})

test('swapped words are pointed out only where one of them is a selector', () => {
  const hint = (selector: string, text: string) => swappedHint('element_not_found', { selector, text })
  expect(hint('hello', '#q')).toBe('the selector comes first: #q, then "hello"')
  expect(hint('#q', '#tag')).toBeUndefined()
  expect(hint('input', 'hello')).toBeUndefined()
  expect(swappedHint('timeout', { selector: 'hello', text: '#q' })).toBeUndefined()
})

test('a kept answer is reported unless a later command has used it', () => {
  const kept = {
    index: 0,
    success: true,
    command: 'answer_dialog',
    command_type: 'action',
    data: { answered: false, kept_for: ['confirm', 'prompt'] },
  } as const
  const text = 'no dialog is open: the next confirm or prompt dialog of this session will'
  expect(keptAnswerNotes(kept, [kept], true)).toEqual([`${text} be accepted, once`])
  expect(keptAnswerNotes(kept, [kept])).toEqual([`${text} get this answer, once`])
  const used = {
    index: 1,
    success: true,
    command: 'click',
    command_type: 'action',
    dialogs: [{ type: 'confirm', message: '', answer: 'accepted', answered_by: 'answer_dialog' }],
  } as const
  expect(keptAnswerNotes(kept, [kept, used as never], true)).toEqual([])
})

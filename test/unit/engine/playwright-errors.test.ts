import { expect, test } from 'vitest'
import { asBaxError, BaxError } from '../../../src/core/errors/errors.ts'
import { toBaxError } from '../../../src/engine/browser/page/playwright-errors.ts'

test.each([
  ['page.goto: net::ERR_NAME_NOT_RESOLVED', 'dns_failed', 'a host name could not be resolved (ERR_NAME_NOT_RESOLVED)'],
  [
    'page.goto: net::ERR_NAME_NOT_RESOLVED at http://a/',
    'dns_failed',
    'the host name a could not be resolved (ERR_NAME_NOT_RESOLVED)',
  ],
  [
    'page.goto: net::ERR_CONNECTION_REFUSED at http://a/',
    'connection_failed',
    'the server could not be reached (ERR_CONNECTION_REFUSED)',
  ],
  [
    'page.goto: net::ERR_CERT_AUTHORITY_INVALID at https://a/',
    'tls_error',
    'no secure connection could be made (ERR_CERT_AUTHORITY_INVALID)',
  ],
  [
    'page.goto: net::ERR_TOO_MANY_REDIRECTS at http://a/',
    'too_many_redirects',
    'the URL redirects too often (ERR_TOO_MANY_REDIRECTS)',
  ],
  ['page.goto: net::ERR_BLOCKED_BY_CLIENT at http://a/', 'url_blocked', 'URL blocked'],
  [
    'page.goto: net::ERR_INVALID_RESPONSE at http://a/',
    'navigation_failed',
    'the page could not be opened (ERR_INVALID_RESPONSE)',
  ],
  ['page.goto: Download is starting', 'navigation_aborted', 'the URL started a download instead of a page'],
  ['locator.click: Target page, context or browser has been closed', 'target_closed', 'the page was closed'],
  ['page.evaluate: Target crashed', 'page_crashed', 'the page crashed'],
  ['cdpSession.send: Protocol error (Runtime.evaluate): the browser is gone', 'worker_lost', 'the browser is gone'],
  [
    'page.screenshot: Protocol error (Page.captureScreenshot): Unable to capture screenshot',
    'action_failed',
    'click failed: the browser could not paint the page',
  ],
  [
    'page.pdf: Protocol error (Page.printToPDF): Printing failed',
    'action_failed',
    'click failed: the browser could not print the page',
  ],
  ['cdpSession.send: Protocol error (Page.a): Something new', 'action_failed', 'click failed: Something new'],
  [
    'page.evaluate: Execution context was destroyed, most likely because of a navigation.',
    'navigation_aborted',
    'the page navigated meanwhile',
  ],
  ['locator.click: Something new\nCall log: …', 'action_failed', 'click failed: Something new'],
])('%s becomes %s', (message, code, sentence) => {
  expect(toBaxError(new Error(message), 'click')).toMatchObject({ code, message: sentence })
})

test('recognizes a timeout whatever its call log quotes', () => {
  const error = Object.assign(
    new Error('page.goto: Timeout 300ms exceeded.\nCall log:\n net::ERR_CONNECTION_REFUSED'),
    {
      name: 'TimeoutError',
    },
  )
  expect(toBaxError(error, 'navigate_to')).toMatchObject({
    code: 'timeout',
    message: 'navigate_to timed out after 300 ms',
  })
})

test('reports a failed system call by its reason, without paths', () => {
  const denied = Object.assign(new Error("EACCES: permission denied, open '/a/b'"), { code: 'EACCES' })
  expect(toBaxError(denied, 'screenshot')).toMatchObject({
    code: 'action_failed',
    message: 'screenshot failed: permission denied',
  })
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  expect(toBaxError(full, 'screenshot')).toMatchObject({ code: 'no_space' })
})

test('keeps an error of the engine', () => {
  const error = new BaxError('url_blocked', 'URL blocked')
  expect(toBaxError(error, 'navigate_to')).toBe(error)
})

test.each([
  ['browserContext._startRecording: Target crashed', 'page_crashed'],
  ['page.title: Target page, context or browser has been closed', 'target_closed'],
  ['cdpSession.send: Protocol error (Page.a): the browser is gone', 'worker_lost'],
  ['cdpSession.send: Protocol error (Page.a): Something new', 'cdp_error'],
  ['x is not a function', 'internal_error'],
])('%s that nothing has converted is reported as %s', (message, code) => {
  const error = asBaxError(new Error(message))
  expect(error.code).toBe(code)
  expect(error.message).not.toContain(message)
})

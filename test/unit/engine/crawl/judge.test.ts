import { expect, test } from 'vitest'
import { limits } from '../../../../src/core/limits/limits.ts'
import { isSampled, Judge, type PageKind } from '../../../../src/engine/crawl/decide-rendering.ts'

const plain: PageKind = { host: 'x.test', template: 't' }
const weak: PageKind = { ...plain, reason: 'writes' }
const shell: PageKind = { ...plain, reason: 'shell' }

test('a page without a reason is taken as it was fetched, one with a reason is rendered', () => {
  const judge = new Judge()
  expect([plain, weak, shell].map((kind) => judge.mode(kind))).toEqual(['http', 'browser', 'browser'])
})

test('a weak reason is given up after it was wrong three times, and not before', () => {
  const judge = new Judge()
  for (const open of [true, true, true]) {
    expect(judge.isOpen(weak)).toBe(open)
    expect(judge.mode(weak)).toBe('browser')
    judge.learn({ ...weak, render: 'browser', more: false }, 0)
  }
  expect(judge.isOpen(weak)).toBe(false)
  expect(judge.mode(weak)).toBe('http')
  expect(judge.mode({ ...weak, template: 'other' })).toBe('browser')
})

test('a reason that was right once is followed for good', () => {
  const judge = new Judge()
  judge.learn({ ...weak, render: 'browser', more: true }, 0)
  expect(judge.isOpen(weak)).toBe(false)
  for (let at = 0; at < 9; at++) judge.learn({ ...weak, render: 'browser' }, at)
  expect(judge.mode(weak)).toBe('browser')
})

test('what markup states outright is never given up', () => {
  const judge = new Judge()
  expect(judge.isOpen(shell)).toBe(false)
  for (let at = 0; at < 9; at++) judge.learn({ ...shell, render: 'browser', more: false }, at)
  expect(judge.mode(shell)).toBe('browser')
})

test('an audit that shows more sends the kind to the browser, and the pages before it to be done again', () => {
  const judge = new Judge()
  expect(judge.isFirst(plain)).toBe(true)
  judge.learn({ ...plain, render: 'http', more: false, audited: true }, 1)
  expect(judge.isFirst(plain)).toBe(false)
  judge.learn({ ...plain, render: 'http' }, 3)
  judge.learn({ ...plain, template: 'other', render: 'http' }, 4)
  expect(judge.toRepeat()).toEqual([])
  judge.learn({ ...plain, render: 'browser', more: true, audited: true }, 5)
  expect(judge.mode(plain)).toBe('browser')
  expect(judge.toRepeat()).toEqual([1, 3])
  judge.repeated(1)
  judge.learn({ ...plain, render: 'browser' }, 3)
  expect(judge.toRepeat()).toEqual([])
})

test('of a host only some kinds are looked at for being the first', () => {
  const judge = new Judge()
  for (let at = 0; at < limits.crawl.auditedTemplates; at++) judge.learn({ host: 'x.test', template: String(at), render: 'http', more: false, audited: true }, at) // prettier-ignore
  expect(judge.isFirst({ host: 'x.test', template: 'new' })).toBe(false)
  expect(judge.isFirst({ host: 'y.test', template: 'new' })).toBe(true)
})

test('the sample is a few in a hundred, always the same', () => {
  const addresses = Array.from({ length: 3200 }, (_, at) => `https://x.test/page/${at}`)
  const sample = addresses.filter(isSampled)
  expect(sample.length).toBeGreaterThan(60)
  expect(sample.length).toBeLessThan(140)
  expect(addresses.filter(isSampled)).toEqual(sample)
})

import { expect, test } from 'vitest'
import { limits } from '../../../../src/core/limits/limits.ts'
import { isSampled, CrawlPolicy, type PageKind } from '../../../../src/engine/render/decide/fetch-or-render.ts'

const plain: PageKind = { host: 'x.test', template: 't' }
const weak: PageKind = { ...plain, reason: 'writes' }
const shell: PageKind = { ...plain, reason: 'shell' }

test('a page without a reason is kept as fetched, one with a reason is rendered', () => {
  const policy = new CrawlPolicy()
  expect([plain, weak, shell].map((kind) => policy.mode(kind))).toEqual(['http', 'browser', 'browser'])
})

test('a weak reason is ignored after it was wrong three times', () => {
  const policy = new CrawlPolicy()
  for (const open of [true, true, true]) {
    expect(policy.isUnproven(weak)).toBe(open)
    expect(policy.mode(weak)).toBe('browser')
    policy.learn({ ...weak, render: 'browser', more: false }, 0)
  }
  expect(policy.isUnproven(weak)).toBe(false)
  expect(policy.mode(weak)).toBe('http')
  expect(policy.mode({ ...weak, template: 'other' })).toBe('browser')
})

test('a reason that was right once is never ignored', () => {
  const policy = new CrawlPolicy()
  policy.learn({ ...weak, render: 'browser', more: true }, 0)
  expect(policy.isUnproven(weak)).toBe(false)
  for (let at = 0; at < 9; at++) policy.learn({ ...weak, render: 'browser' }, at)
  expect(policy.mode(weak)).toBe('browser')
})

test('certain reasons are never ignored', () => {
  const policy = new CrawlPolicy()
  expect(policy.isUnproven(shell)).toBe(false)
  for (let at = 0; at < 9; at++) policy.learn({ ...shell, render: 'browser', more: false }, at)
  expect(policy.mode(shell)).toBe('browser')
})

test('an audit that shows more renders the kind, and repeats earlier pages', () => {
  const policy = new CrawlPolicy()
  expect(policy.isFirst(plain)).toBe(true)
  policy.learn({ ...plain, render: 'http', more: false, audited: true }, 1)
  expect(policy.isFirst(plain)).toBe(false)
  policy.learn({ ...plain, render: 'http' }, 3)
  policy.learn({ ...plain, template: 'other', render: 'http' }, 4)
  expect(policy.toRepeat()).toEqual([])
  policy.learn({ ...plain, render: 'browser', more: true, audited: true }, 5)
  expect(policy.mode(plain)).toBe('browser')
  expect(policy.toRepeat()).toEqual([1, 3])
  policy.repeated(1)
  policy.learn({ ...plain, render: 'browser' }, 3)
  expect(policy.toRepeat()).toEqual([])
})

test('the number of audited kinds per host is limited', () => {
  const policy = new CrawlPolicy()
  for (let at = 0; at < limits.crawl.auditedTemplates; at++)
    policy.learn({ host: 'x.test', template: String(at), render: 'http', more: false, audited: true }, at)
  expect(policy.isFirst({ host: 'x.test', template: 'new' })).toBe(false)
  expect(policy.isFirst({ host: 'y.test', template: 'new' })).toBe(true)
})

test('the sample is a few percent, always the same', () => {
  const addresses = Array.from({ length: 3200 }, (_, at) => `https://x.test/page/${at}`)
  const sample = addresses.filter(isSampled)
  expect(sample.length).toBeGreaterThan(60)
  expect(sample.length).toBeLessThan(140)
  expect(addresses.filter(isSampled)).toEqual(sample)
})

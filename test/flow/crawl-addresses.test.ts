import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ScrapeData } from '../../src/core/shapes/scrape.ts'
import { crawl, linkPage, pathsOf, skippedOf } from '../support/crawl.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { respondWith } from '../support/web.ts'

let homes: Homes
let site: Site

const refresh = (value: string) => respondWith('text/html', linkPage('Before'), { refresh: value })

beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite({
    '/': linkPage(
      'Home',
      ['http:/one', 'http:two'],
      '<svg><a xlink:href="/three"><text>Three</text></a></svg><p><a xlink:href="/no">no link</a></p>',
    ),
    '/one': linkPage('One'),
    '/two': linkPage('Two'),
    '/three': linkPage('Three'),
    '/next': linkPage('Next'),
    '/refresh/plain': refresh('0; url=/next'),
    '/refresh/bare': refresh('0;/next'),
    '/refresh/quoted': refresh('1, URL="/next"'),
    '/refresh/self': refresh('1; url=/refresh/self'),
    '/refresh/late': refresh('300; url=/next'),
    '/refresh/text': respondWith('text/plain', 'before', { refresh: '0; url=/next' }),
    '/location/empty': respondWith('text/html', linkPage('Moved', ['/one']), { location: '' }, 302),
    '/location/blank': respondWith('text/html', linkPage('Moved'), { location: ' ' }, 301),
    '/location/short': respondWith('text/html', linkPage('Moved'), { location: 'http:/next' }, 307),
    '/schemes': linkPage('Schemes', ['http://localhost/only', 'https://localhost/only', '//127.0.0.1/other']),
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

test.each([
  ['/refresh/plain', 'Next'],
  ['/refresh/bare', 'Next'],
  ['/refresh/quoted', 'Next'],
  ['/refresh/self', 'Before'],
  ['/refresh/late', 'Before'],
  ['/refresh/text', 'Next'],
  ['/location/empty', 'Moved'],
  ['/location/blank', 'Moved'],
  ['/location/short', 'Next'],
])('%s is the page that a browser shows', async (path, title) => {
  for (const render of ['http', 'browser']) {
    const { data } = (await homes.clients.http.scrape({ url: `${site.url}${path}`, render } as never)) as {
      data: ScrapeData
    }
    expect(data.metadata.title, render).toBe(title)
    expect(data.metadata.url).toBe(`${site.url}${title === 'Next' ? '/next' : path}`)
  }
})

test('a crawl follows URLs without a host, and links in SVG', async () => {
  expect(pathsOf(await crawl(homes.clients.http, `${site.url}/`))).toEqual(['/', '/one', '/two', '/three'])
})

test('a crawl follows a header that refreshes', async () => {
  const answer = await crawl(homes.clients.http, `${site.url}/refresh/plain`)
  expect(answer.data.map(({ metadata }) => metadata.url)).toEqual([`${site.url}/next`])
})

test('http and https of another host are one page', async () => {
  const answer = await crawl(homes.clients.http, `${site.url}/schemes`)
  expect(skippedOf(answer)).toEqual({ '/only': 'off_host', '/other': 'off_host' })
})

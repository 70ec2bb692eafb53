import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linkPage } from '../support/crawl.ts'
import { comparable, type CrawlFleet, openCrawlFleet } from '../support/crawl-fleet.ts'
import { noRedis, startRedis, type TestRedis } from '../support/redis.ts'
import { serveSite, type Site } from '../support/site.ts'

const sentence = 'The river carries sand and silt from the mountains to the sea, and year after year the delta grows. '

/** A page filled by a script. */
const shell = (text: string, link: string) =>
  `<!doctype html><title>Shell</title><div id="root"></div><script>setTimeout(() => { root.innerHTML = '<main><h1>${text}</h1><p>Filled in by a script, word after word, as ${text}.</p><a href="${link}">on</a></main>' }, 20)</script>`

/** A page that looks complete, with an external script that may add more. */
const scripted = (name: string, source: string) =>
  linkPage(name, [], `<p>${sentence.repeat(60)}</p><section class="more"></section><script src="${source}"></script>`)

/** A page with a weak reason for a browser that proves wrong: a script writes nothing new. */
const promising = (name: string) =>
  linkPage(
    name,
    [],
    `<p>${sentence.repeat(8)}</p><div id="list"></div><script>fetch('/empty').then((got) => got.text()).then((text) => { document.getElementById('list').innerHTML = text })</script>`,
  )

const addMore = `document.querySelector('.more').innerHTML = '<h2>More</h2><p>' + ('Only a browser shows this of ' + location.pathname + '. ').repeat(40) + '</p>'`

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at}`)
const articles = names('/article/', 6)
const plain = names('/plain/', 8)
const scriptedPlain = names('/scripted/', 6)
const promises = names('/promise/', 7)
const send = (type: string, text: string) => (_: unknown, response: import('node:http').ServerResponse) =>
  void response.setHeader('content-type', type).end(text)
const redirect = (location: string) => (_: unknown, response: import('node:http').ServerResponse) =>
  void response.writeHead(302, { location }).end()

const serveMixedSite = async (): Promise<Site> => {
  const site: Site = await serveSite({
    '/robots.txt': (_, response) =>
      void response.end(`User-agent: *\nDisallow: /private/\nSitemap: ${site.url}/map.xml\n`),
    '/map.xml': (_, response) =>
      void response
        .setHeader('content-type', 'application/xml')
        .end(
          `<urlset>${['/listed', '/plain/1'].map((path) => `<url><loc>${site.url}${path}</loc></url>`).join('')}</urlset>`,
        ),
    '/': linkPage('Home', [
      '/old',
      '/missing',
      '/private/a',
      '/to-private',
      '/shell/1',
      '/broken',
      '/file.txt',
      '/same#part',
      '/same',
      'http://other.test/',
      ...plain,
      ...articles,
      ...scriptedPlain,
      ...promises,
    ]),
    '/old': redirect('/plain/2'),
    '/to-private': redirect('/private/b'),
    '/private/b': linkPage('private'),
    '/listed': linkPage('listed'),
    '/same': linkPage('same', ['/', '/deep/1']),
    '/deep/1': linkPage('deep', ['/deep/2']),
    '/broken': (_, response) => void response.writeHead(500).end('<h1>broken</h1>'),
    '/file.txt': send('text/plain', 'plain text\n'.repeat(30)),
    '/shell/1': shell('one', '/shell/2'),
    '/shell/2': shell('two', '/plain/3'),
    '/site.js': send('text/javascript', addMore),
    '/counter.js': send('text/javascript', 'window.counted = true'),
    '/empty': send('text/html', ''),
    ...Object.fromEntries(plain.map((path) => [path, linkPage(path, [`${path}/below`])])),
    ...Object.fromEntries(articles.map((path) => [path, scripted(path, '/site.js')])),
    ...Object.fromEntries(scriptedPlain.map((path) => [path, scripted(path, '/counter.js')])),
    ...Object.fromEntries(promises.map((path) => [path, promising(path)])),
  })
  return site
}

describe.skipIf(noRedis)(`crawls of a fleet${noRedis ? ` (${noRedis})` : ''}`, () => {
  let redis: TestRedis
  let fleet: CrawlFleet
  let site: Site
  const input = () => ({ url: site.url, limit: 60, max_depth: 3, sitemap: 'include', formats: ['markdown', 'links'] })

  beforeAll(async () => {
    redis = await startRedis()
    fleet = await openCrawlFleet(redis)
    site = await serveMixedSite()
  })
  afterAll(async () => {
    await fleet.close()
    await site.close()
    await redis.close()
  })

  test('give the result of a single engine, byte for byte, whatever the number of workers', async () => {
    const alone = await fleet.crawlAlone(input())
    expect(alone.completed).toBeGreaterThan(35)
    expect(new Set(alone.data.map(({ metadata }) => metadata.render))).toEqual(new Set(['http', 'browser']))
    expect(alone.skipped.some(({ reason }) => reason === 'redirect_duplicate')).toBe(true)
    for (const workers of [1, 1, 2, 4]) {
      await fleet.addWorkers(workers)
      const answer = await fleet.crawl(input())
      expect(JSON.stringify(comparable(answer), null, 1)).toBe(JSON.stringify(comparable(alone), null, 1))
      expect(await fleet.ended(answer.id)).toMatchObject({ status: 'completed', completed: alone.completed })
    }
    await fleet.expectNothingLeft()
  })
})

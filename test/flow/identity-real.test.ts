/** Pages behind the login of a real application, read with a saved profile. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../src/client/calls.ts'
import { missingForPhp } from '../support/debian-php.ts'
import { startWiki, type Wiki } from '../support/dokuwiki.ts'
import { type Homes, openHomes } from '../support/homes.ts'

type Crawled = Extract<Answer<'crawl'>, { data: unknown }>

const reason = missingForPhp()
const pages = Array.from({ length: 49 }, (_, at) => `private:page${at + 1}`)

describe.skipIf(reason)(`DokuWiki${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let homes: Homes
  let wiki: Wiki
  beforeAll(async () => {
    ;[homes, wiki] = await Promise.all([openHomes(), startWiki()])
    await wiki.add('private:index', pages.map((name) => `  * [[${name}]]\n`).join(''))
    for (const name of pages) await wiki.add(name, `Only users read this text of ${name}, which is a whole sentence.\n`)
    await logIn()
  })
  afterAll(() => Promise.all([homes?.close(), wiki?.close()]))

  /** Logs in once, and saves the profile `wiki`. */
  async function logIn(): Promise<void> {
    const client = homes.clients.http
    const start_url = `${wiki.url}?id=private:index&do=login`
    const { session_id: id } = await client.createSession({ headless: true, start_url })
    const session_id = id!
    const commands = [
      { command: 'fill', data: { selector: 'input[name=u]', text: wiki.user } },
      { command: 'fill', data: { selector: 'input[name=p]', text: wiki.password } },
      { command: 'press_key', data: { selector: 'input[name=p]', key: 'Enter' } },
      { command: 'wait_for', data: { text: 'Logged in as' } },
    ]
    const { success } = await client.runCommands({ session_id, commands })
    expect(success).toBe(true)
    await client.saveProfile({ name: 'wiki', session_id })
    await client.closeSession({ session_id })
  }

  const crawl = async (render: 'http' | 'browser', profile?: string) =>
    (await homes.clients.http.crawl({
      url: `${wiki.url}?id=private:index`,
      render,
      limit: 50,
      only_main_content: false,
      ...(profile && { profile, save_profile: true }),
    })) as Crawled

  test('50 pages are the same over HTTP and rendered, and none is that of an anonymous reader', async () => {
    const crawls = { http: await crawl('http', 'wiki'), browser: await crawl('browser', 'wiki') }
    for (const { data, errors, skipped } of Object.values(crawls)) {
      expect([data.length, errors]).toEqual([50, []])
      expect(data.filter(({ markdown }) => !markdown!.includes('Anna Example'))).toEqual([])
      expect(data.filter(({ warning_code }) => warning_code === 'login_required')).toEqual([])
      expect(skipped.filter(({ reason: why }) => why === 'logout').length).toBeGreaterThan(0)
    }
    const urls = ({ data }: Crawled) => data.map(({ metadata }) => metadata.url)
    expect(urls(crawls.browser).toSorted()).toEqual(urls(crawls.http).toSorted())
    const { data } = await homes.clients.http.scrape({ url: `${wiki.url}?id=private:page1`, profile: 'wiki' })
    expect(data!.markdown).toContain('Only users read this text of private:page1')
  })

  test('an anonymous reader gets none of them', async () => {
    const { data } = await crawl('http')
    expect(data.filter(({ markdown }) => markdown!.includes('Only users read'))).toEqual([])
  })
})

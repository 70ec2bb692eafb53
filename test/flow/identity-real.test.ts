/** Pages behind the login of real applications, read with a saved profile. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../src/client/calls.ts'
import { missingForPhp } from '../support/debian-php.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type LoginApp, loginApps } from '../support/login-apps.ts'

type Crawled = Extract<Answer<'crawl'>, { data: unknown }>

const reason = missingForPhp()
/** The applications answer one request at a time. */
const patient = 600_000

describe.skipIf(reason).each(loginApps)(`$name${reason ? ` (skipped: ${reason})` : ''}`, ({ start }) => {
  let homes: Homes
  let app: LoginApp
  beforeAll(async () => {
    ;[homes, app] = await Promise.all([openHomes(), start()])
    await logIn()
  }, patient)
  afterAll(() => Promise.all([homes?.close(), app?.close()]))

  /** Logs in once, and saves the profile `member`. */
  async function logIn(): Promise<void> {
    const client = homes.clients.http
    const { session_id: id } = await client.createSession({ headless: true, start_url: app.loginUrl })
    const session_id = id!
    const { success, results } = await client.runCommands({ session_id, commands: [...app.login] })
    expect(success, JSON.stringify(results)).toBe(true)
    await client.saveProfile({ name: 'member', session_id })
    await client.closeSession({ session_id })
  }

  const crawl = async (render: 'http' | 'browser', profile?: string) =>
    (await homes.clients.http.crawl({
      url: app.url,
      render,
      limit: 50 + app.files,
      timeout: 120_000,
      only_main_content: false,
      ...(profile && { profile, save_profile: true }),
    })) as Crawled

  const anonymous = ({ data }: Crawled) => data.filter(({ markdown }) => !markdown!.includes(app.member))

  test(
    '50 pages are the same over HTTP and rendered, and none is that of an anonymous reader',
    async () => {
      const crawls = { http: await crawl('http', 'member'), browser: await crawl('browser', 'member') }
      for (const { data, errors, skipped, ...rest } of Object.values(crawls)) {
        expect([data.length, errors.map(({ code }) => code)]).toEqual([
          50,
          Array(app.files).fill('unsupported_content_type'),
        ])
        expect(anonymous({ data, errors, skipped, ...rest })).toEqual([])
        expect(data.filter(({ warning_code }) => warning_code === 'login_required')).toEqual([])
        expect(skipped.some(({ reason: why }) => why === 'logout')).toBe(app.linksLogout)
      }
      const urls = ({ data }: Crawled) => data.map(({ metadata }) => metadata.url)
      expect(urls(crawls.browser).toSorted()).toEqual(urls(crawls.http).toSorted())
      const { data } = await homes.clients.http.scrape({ url: app.url, profile: 'member', only_main_content: false })
      expect(data!.markdown).toContain(app.member)
    },
    patient,
  )

  test(
    'an anonymous reader gets none of them',
    async () => {
      const answer = await crawl('http')
      expect(anonymous(answer).length).toBe(answer.data.length)
    },
    patient,
  )
})

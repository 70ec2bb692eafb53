/** Cookies of a session for requests outside of its pages. */
import { isDeepStrictEqual } from 'node:util'
import type { BrowserContext } from 'playwright'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { StorageState } from '../../core/stores.ts'

type Cookie = StorageState['cookies'][number]

type Cookies = readonly Cookie[]

/** Returns the cookies that the browser would send when it opens the URL itself, and those of other sites. */
export async function sessionCookies(context: BrowserContext, start: URL): Promise<Cookie[]> {
  const all = await inTime(context.cookies())
  return all.filter(({ partitionKey }) => partitionKey === undefined || isSiteOf(partitionKey, start))
}

/** Whether a URL belongs to the site of a partition, such as `https://example.com`. */
const isSiteOf = (partition: string, { hostname }: URL): boolean => {
  const host = partition.replace(/^[a-z]+:\/\//, '')
  return hostname === host || hostname.endsWith(`.${host}`)
}

/** Stores the cookies that have changed; those that pages have set meanwhile stay. Returns a warning for refused ones. */
export async function storeChanged(
  context: BrowserContext,
  before: Cookies,
  after: Cookies,
): Promise<string | undefined> {
  const old = new Map(before.map((cookie) => [keyOf(cookie), cookie]))
  const kept = new Set(after.map(keyOf))
  const changed = after.filter((cookie) => !isDeepStrictEqual(old.get(keyOf(cookie)), cookie))
  const removed = before.filter((cookie) => !kept.has(keyOf(cookie))).map((cookie) => ({ ...cookie, expires: 0 }))
  const all = [...removed, ...changed]
  if (all.length === 0) return undefined
  return inTime(store(context, all))
}

async function store(context: BrowserContext, cookies: Cookies): Promise<string | undefined> {
  try {
    await context.addCookies(cookies)
    return undefined
  } catch {
    // One that the browser refuses must not keep the others out.
    const refused: string[] = []
    for (const cookie of cookies)
      await context.addCookies([cookie]).catch((error: Error) => {
        if (!/invalid cookie|cookie should/i.test(error.message)) throw error
        refused.push(cookie.name)
      })
    return refused.length > 0 ? `the browser refused the cookies ${refused.join(', ')}` : undefined
  }
}

const keyOf = ({ name, domain, path }: Cookie): string => JSON.stringify([name, domain, path])

const inTime = <T>(work: Promise<T>): Promise<T> =>
  withDeadline(work, { ms: limits.request.cookiesMs, error: 'the browser did not respond with its cookies' })

/** Cookies that sites change while pages are read with a profile. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Input } from '../../src/client/calls.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { openPrivateNet, type PrivateNet } from '../support/private-net.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let net: PrivateNet
let held: ServerResponse | undefined
/** Value of the header `Cookie` of the last request. */
let sent = ''

const answer = (request: IncomingMessage, response: ServerResponse, ...cookies: string[]) => {
  sent = Buffer.from(request.headers.cookie ?? '', 'latin1').toString('utf8')
  const lines = cookies.map((cookie) => `${cookie}; Path=/; Max-Age=900`)
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'set-cookie': lines })
  response.end('<!doctype html><title>Page</title><main><p>Some text of a page</p></main>')
}

beforeAll(async () => {
  net = await openPrivateNet({
    '/': (request, response) => answer(request, response),
    '/set': (request, response) => answer(request, response, new URL(request.url!, 'http://x').searchParams.get('c')!),
    '/held': (_, response) => void (held = response),
    '/fails': (request, response) => {
      const cookie = new URL(request.url!, 'http://x').searchParams.get('c')!
      response.writeHead(302, { location: 'http://127.0.0.1:1/', 'set-cookie': `${cookie}; Path=/; Max-Age=900` }).end()
    },
  })
  homes = await openHomes(net.config)
})
afterAll(async () => {
  await homes.close()
  await net.close()
})

const at = (path: string) => `http://site.open.test:${net.site.port}${path}`
const scrape = (path: string, input: Partial<Input<'scrape'>> = {}) =>
  homes.clients.http.scrape({ url: at(path), ...input })

/** Saves an empty profile. */
async function newProfile(name: string): Promise<void> {
  const { session_id: id } = await homes.clients.http.createSession({ headless: true })
  await homes.clients.http.saveProfile({ name, session_id: id! })
  await homes.clients.http.closeSession({ session_id: id! })
}

/** Returns the cookies of a profile, as the site receives them. */
async function cookiesOf(profile: string): Promise<string[]> {
  await scrape('/', { render: 'http', profile })
  return sent === '' ? [] : sent.split('; ').toSorted()
}

describe.each(['http', 'browser'] as const)('a profile that is saved by reads with render %s', (render) => {
  const name = (what: string) => `${what}-${render}`

  test('has the changes of all reads at once', async () => {
    const profile = name('at-once')
    await newProfile(profile)
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    await Promise.all(names.map((one) => scrape(`/set?c=${one}%3D1`, { render, profile, save_profile: true })))
    expect(await cookiesOf(profile)).toEqual(names.map((one) => `${one}=1`))
  })

  test('keeps what was saved while a page loads', async () => {
    const profile = name('meanwhile')
    await newProfile(profile)
    await scrape('/set?c=token%3Dold', { render, profile, save_profile: true })
    held = undefined
    const slow = scrape('/held', { render, profile, save_profile: true })
    await waitUntil(() => held !== undefined)
    await scrape('/set?c=token%3Dnew', { render, profile, save_profile: true })
    held!.writeHead(200, {
      'content-type': 'text/html',
      'set-cookie': ['token=old; Path=/; Max-Age=900', 'late=1; Path=/'],
    })
    held!.end('<p>Some text of a page</p>')
    await slow
    expect(await cookiesOf(profile)).toEqual(['late=1', 'token=new'])
  })

  test('has the cookies of a page that failed', async () => {
    const profile = name('failed')
    await newProfile(profile)
    await expect(scrape('/fails?c=token%3D2', { render, profile, save_profile: true })).rejects.toThrow()
    expect(await cookiesOf(profile)).toEqual(['token=2'])
  })

  test('has cookies of the caller only if the site changed them', async () => {
    const profile = name('given')
    await newProfile(profile)
    const options = { render, profile, save_profile: true }
    await scrape('/set?c=one%3Dsite', { ...options, cookies: 'one=mine; two=mine' })
    expect(await cookiesOf(profile)).toEqual(['one=site'])
  })

  test('sends cookies with other scripts as UTF-8', async () => {
    await scrape('/', { render, cookies: 'a=größe 日本' })
    expect(sent).toBe('a=größe 日本')
  })
})

test('a profile has the cookies of a rendered page whose action failed', async () => {
  await newProfile('action')
  const actions = [{ type: 'click' as const, selector: '#missing' }]
  await expect(
    scrape('/set?c=token%3D3', { profile: 'action', save_profile: true, actions, timeout: 10_000 }),
  ).rejects.toThrow()
  expect(await cookiesOf('action')).toEqual(['token=3'])
})

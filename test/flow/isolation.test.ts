/** What is made under one key is not there for another: every operation that names something is tried. */
import { WebSocket } from 'ws'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, download, openStream, upload } from '../../src/client/client.ts'
import { isAllowed } from '../../src/core/access/caller.ts'
import type { BaxError } from '../../src/core/errors/errors.ts'
import { pathFields, route } from '../../src/core/operation/route.ts'
import { createEngine } from '../../src/engine/index.ts'
import { operations, sockets, streams, transfers } from '../../src/operations/index.ts'
import { samples } from '../../src/operations/samples.ts'
import { type Belongings, commonName, type KeyHolder, keyHolder, makeBelongings } from '../support/belongings.ts'
import { callOf } from '../support/call.ts'
import { shellConfig } from '../support/docker.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { busybox } from '../support/shell.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let site: Site
let mine: KeyHolder
let other: KeyHolder
let admin: KeyHolder
let things: Belongings

beforeAll(async () => {
  site = await serveSite({ '/': '<title>Home</title><p>Home' })
  // One place: the second session waits for it, as a provision.
  homes = await openHomes({
    pool: { warm: 0, browsers: 1, contextsPerBrowser: 1 },
    shell: { ...shellConfig, warm: 0 },
  })
  mine = await keyHolder(homes)
  other = await keyHolder(homes)
  admin = await keyHolder(homes, ['admin'])
  things = await makeBelongings(homes, mine, site.url)
}, 60_000)
afterAll(async () => {
  await homes?.close()
  await site?.close()
})

interface Named {
  readonly http: string
  readonly input: { readonly shape: object }
  readonly scope: Parameters<typeof isAllowed>[1]['scope']
}

/** Fields that say where within a thing, not which. */
const within = new Set(['target_id'])

/** Fields of an operation that name a thing of somebody's. */
const namesIn = ({ input }: Named): string[] =>
  Object.keys(input.shape).filter((field) => /(^|_)id$/.test(field) && !within.has(field))

/** What the field of an operation names, by each of its names. */
function thingsFor({ http }: Named, field: string): (string | undefined)[] {
  const { path } = route(http)
  if (field === 'id' && path.startsWith('/relay/')) return [things.relay, commonName]
  if (field === 'id' && /^\/v\d\/crawl\//.test(path)) return [things.crawl]
  if (field === 'session_id' && path.startsWith('/shell/')) return [things.shell, commonName]
  if (field === 'session_id') return [things.session, things.relay, commonName]
  const single = {
    provision_id: things.provision,
    profile_id: things.profile,
    token_id: things.relayToken,
    exec_id: things.exec,
    artifact_id: things.artifact,
  } as Record<string, string | undefined>
  if (Object.hasOwn(single, field)) return [single[field]]
  throw new Error(`${http} names something by ${field}: say here what that is`)
}

const all = Object.entries({ ...operations, ...streams, ...transfers } as unknown as Record<string, Named>)
const named = all.filter(([, one]) => namesIn(one).length > 0 && one.scope !== 'admin')
const testable = named.filter(([, { http }]) => busybox.absent === null || !route(http).path.startsWith('/shell/'))
const listing = all.filter(([name, one]) => name.startsWith('list') && namesIn(one).length === 0)

/** Calls any operation; the code of its refusal, undefined when it was answered. */
async function codeOf(who: KeyHolder, name: string, one: Named, input: object): Promise<string | undefined> {
  const gone = new AbortController()
  const options = { signal: gone.signal }
  const fields = { ...(samples as Record<string, object>)[name], ...input }
  try {
    if (name in streams) await openStream(who.transport, one.http, fields, options)
    else if (!(name in transfers)) await call(who.transport, one.http, fields, options)
    else if ('receive' in one) await upload(who.transport, one.http, fields, bytes(), options)
    else await download(who.transport, withRest(one.http, fields), fields, options)
    return undefined
  } catch (error) {
    return (error as BaxError).code
  } finally {
    gone.abort()
  }
}

async function* bytes() {
  yield Buffer.from('x')
}

/** A path that takes the rest is written out; the client's own callers get it from an answer. */
const withRest = (http: string, fields: Record<string, unknown>): string =>
  http.replaceAll(/\{(\w+)\*\}/g, (_, field: string) => String(fields[field]))

describe('another key', () => {
  /** The things of `mine` that an operation does not keep from a caller, with the code of its response. */
  async function leaksTo(who: KeyHolder, name: string, one: Named) {
    const leaks: [thing: string | undefined, code: string | undefined][] = []
    for (const field of namesIn(one)) {
      for (const thing of thingsFor(one, field)) {
        const code = await codeOf(who, name, one, { [field]: thing })
        if (!/^\w+_not_found$/.test(code ?? '')) leaks.push([thing, code])
      }
    }
    return leaks
  }

  test.each(testable)('%s: there is nothing of that name', async (name, one) => {
    expect(await leaksTo(other, name, one)).toEqual([])
  })

  test('an operation that answers another key would be found, and one that names something unknown', async () => {
    expect(await leaksTo(mine, 'getSession', operations.getSession as unknown as Named)).not.toEqual([])
    const planted: Named = { http: 'GET /things/{thing_id}', input: { shape: { thing_id: null } }, scope: 'browser' }
    await expect(leaksTo(other, 'getThing', planted)).rejects.toThrow('names something by thing_id')
  })

  test.each(listing)('%s: none of it is listed, but to who sees all', async (name, one) => {
    const answer = async (who: KeyHolder) => JSON.stringify(await call(who.transport, one.http, {}))
    const ids = Object.values(things)
    if (
      isAllowed({ keyId: other.keyId, name: null, scopes: ['browser', 'scrape', 'shell', 'relay'], admin: false }, one)
    ) {
      const told = await answer(other)
      expect(ids.filter((id) => told.includes(id))).toEqual([])
    }
    const kept = new Set(['listKeys', 'listShellImages'])
    const isShell = name === 'listShells' && busybox.absent !== null
    const all = await answer(admin)
    if (!kept.has(name) && !isShell) expect(ids.filter((id) => all.includes(id))).not.toEqual([])
  })

  test('may use the same names for things of its own', async () => {
    const { token } = await other.client.createRelayToken({ name: 'laptop' })
    expect(token).toMatch(/^rlt_/)
    const made = await other.client.saveProfile({ name: 'login' })
    expect((await other.client.listProfiles()).profiles.map(({ profile_id }) => profile_id)).toEqual([made.profile_id])
    expect(await mine.client.getProfile({ profile_id: things.profile })).toMatchObject({ name: 'login' })
  })
})

describe('its own key, and one that sees all', () => {
  const reading = testable.filter(([, { http }]) => http.startsWith('GET '))
  test.each(reading)('%s: it is there', async (name, one) => {
    for (const field of namesIn(one)) {
      const [thing] = thingsFor(one, field)
      for (const who of [mine, admin]) {
        const code = await codeOf(who, name, one, { [field]: thing })
        expect(code ?? 'answered').not.toMatch(/_not_found$|unauthorized|forbidden/)
      }
    }
  })
})

describe('websockets', () => {
  const paths = Object.entries(sockets).filter(([, { http }]) => pathFields(route(http).path).length > 0)
  const address = (one: Named, query = '') => {
    const [field] = pathFields(route(one.http).path)
    const id = thingsFor(one, field!)[0]!
    return `${homes.baseUrl.replace('http', 'ws')}${route(one.http).path.replace(`{${field}}`, id)}${query}`
  }

  /** 101, or the status of the refusal. */
  const statusOf = (url: string, headers: Record<string, string> = {}) =>
    new Promise<number>((resolve, reject) => {
      const socket = new WebSocket(url, { headers })
      socket.once('open', () => {
        socket.close()
        resolve(101)
      })
      socket.once('unexpected-response', (_request, response) => {
        response.resume()
        resolve(response.statusCode!)
      })
      socket.once('error', reject)
    })

  test.each(paths)('%s: opens for its own key or token, and for nobody else', async (_, socket) => {
    const one = socket as unknown as Named
    expect(await statusOf(address(one), { 'x-api-key': other.key })).toBe(404)
    expect(await statusOf(address(one), { authorization: `Bearer ${other.key}` })).toBe(404)
    expect(await statusOf(address(one))).toBe(401)
    expect(await statusOf(address(one, '?token=ft_wrong'))).toBe(401)
    expect(await statusOf(address(one, `?token=${mine.key}`))).toBe(401)
    expect(await statusOf(address(one), { 'x-api-key': mine.key })).toBe(101)
    if (one.http.includes('{session_id}')) expect(await statusOf(address(one, `?token=${things.frameToken}`))).toBe(101)
  })

  test('a browser is brought by a relay token, or by a key with that scope', async () => {
    const url = `${homes.baseUrl.replace('http', 'ws')}/relay/connect`
    const scrapes = await keyHolder(homes, ['scrape'])
    const { token } = await mine.client.createRelayToken({})
    expect(await statusOf(url)).toBe(401)
    expect(await statusOf(url, { authorization: `Bearer rlt_${'A'.repeat(43)}` })).toBe(401)
    expect(await statusOf(url, { 'x-api-key': scrapes.key })).toBe(403)
    expect(await statusOf(url, { 'x-api-key': other.key })).toBe(101)
    expect(await statusOf(url, { authorization: `Bearer ${token}` })).toBe(101)
    await homes.engine.keys.revoke(scrapes.keyId)
    expect(await statusOf(url, { 'x-api-key': scrapes.key })).toBe(401)
  })
})

describe('an engine that is started anew on the same folder', () => {
  test('knows what belongs to whom', async () => {
    const { stateDir } = homes
    const later = createEngine({ home: 'server', stateDir, cacheDir: stateDir, display: false, writeAnywhere: false, log: () => {} }) // prettier-ignore
    const asked = (who: KeyHolder) => {
      const call = callOf(later.keys.callerOf(who.key))
      const kept: Promise<unknown>[] = [
        later.profiles.get(things.profile, call),
        later.crawls.accounts(things.crawl, call),
      ]
      if (things.artifact) kept.push(later.shells.artifacts.get(things.artifact, call))
      return Promise.allSettled(kept)
    }
    const statuses = async (who: KeyHolder) => [...new Set((await asked(who)).map(({ status }) => status))]
    expect([await statuses(mine), await statuses(admin), await statuses(other)]).toEqual([
      ['fulfilled'],
      ['fulfilled'],
      ['rejected'],
    ])
    await later.close()
  })
})

describe('the stream of a session', () => {
  const follow = (query: string, headers: Record<string, string> = {}) => {
    const gone = new AbortController()
    const url = `${homes.baseUrl}/stream/sse?session_id=${things.session}${query}`
    return fetch(url, { headers, signal: gone.signal }).then((response) => {
      gone.abort()
      return response.status
    })
  }

  test('is open to its frame token in the address, and to no key there', async () => {
    expect(await follow(`&token=${things.frameToken}`)).toBe(200)
    expect(await follow('&token=ft_wrong')).toBe(401)
    expect(await follow('')).toBe(401)
    expect(await follow(`&token=${mine.key}`)).toBe(401)
    expect(await follow('', { 'x-api-key': mine.key })).toBe(200)
  })
})

/** Isolation between keys: tests every operation that takes an ID or a name. */
import { WebSocket } from 'ws'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, download, openStream, upload } from '../../src/client/client.ts'
import { isAllowed } from '../../src/core/access/caller.ts'
import type { BaxError } from '../../src/core/errors/errors.ts'
import { pathFields, route } from '../../src/core/operation/route.ts'
import { createEngine } from '../../src/engine/index.ts'
import { operations, sockets, streams, transfers } from '../../src/operations/index.ts'
import {
  type OwnedObjects,
  commonName,
  commonRelayName,
  type KeyHolder,
  keyHolder,
  createOwnedObjects,
} from '../support/owned-objects.ts'
import { waitingApproval } from '../support/approvals.ts'
import { callOf } from '../support/call.ts'
import { shellConfig } from '../support/docker.ts'
import { type Homes, isFleet, openHomes } from '../support/homes.ts'
import { titled } from '../support/needs.ts'
import { busybox } from '../support/shell.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let site: Site
let owner: KeyHolder
let other: KeyHolder
let admin: KeyHolder
let objects: OwnedObjects

beforeAll(async () => {
  site = await serveSite({
    '/': '<title>Home</title><p>Home',
    // Never responds.
    '/held': () => {},
  })
  // Two slots: the third session waits for one, as a provision.
  homes = await openHomes({
    pool: { warm: 0, browsers: 1, contextsPerBrowser: 2 },
    shell: { ...shellConfig, warm: 0 },
  })
  owner = await keyHolder(homes)
  other = await keyHolder(homes)
  admin = await keyHolder(homes, ['admin'])
  objects = await createOwnedObjects(homes, owner, site.url)
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})

interface Named {
  readonly http: string
  readonly input: { readonly shape: object }
  readonly sample?: object
  readonly scope: Parameters<typeof isAllowed>[1]['scope']
}

/** ID fields that select something within an object. */
const within = new Set(['target_id'])

/** Fields that no request may have. */
const refused = new Set(['append_to_id'])

/** Returns the fields of an operation that identify an object. */
const namesIn = ({ input }: Named): string[] =>
  Object.keys(input.shape).filter((field) => /(^|_)id$/.test(field) && !within.has(field) && !refused.has(field))

/** Returns the ID of the object that a field identifies, and its names. */
function namesFor({ http }: Named, field: string): (string | undefined)[] {
  const { path } = route(http)
  if (field === 'id' && path.startsWith('/relay/')) return [objects.relay, commonRelayName]
  if (field === 'id' && /^\/v\d\/crawl\//.test(path)) return [objects.crawl]
  if (field === 'id' && /^\/v\d\/batch\//.test(path)) return [objects.batch]
  if (field === 'id' && /^\/v\d\/extract\//.test(path)) return [objects.extraction]
  if (field === 'session_id' && path.startsWith('/shell/')) return [objects.shell, commonName]
  if (field === 'session_id') return [objects.session, objects.relay, commonName, commonRelayName]
  const single = {
    provision_id: objects.provision,
    profile_id: objects.profile,
    token_id: objects.relayToken,
    exec_id: objects.exec,
    artifact_id: objects.artifact,
    approval_id: objects.approval,
    handoff_id: objects.handoff,
  } as Record<string, string | undefined>
  if (Object.hasOwn(single, field)) return [single[field]]
  throw new Error(`${http} names something by ${field}: say here what that is`)
}

const all = Object.entries({ ...operations, ...streams, ...transfers } as unknown as Record<string, Named>)
const named = all.filter(([, one]) => namesIn(one).length > 0 && one.scope !== 'admin')
const testable = named.filter(([, { http }]) => busybox.absent === null || !route(http).path.startsWith('/shell/'))
const listing = all.filter(([name, one]) => name.startsWith('list') && namesIn(one).length === 0)

/** Calls any operation; returns the code of its error, undefined if it succeeded. */
async function codeOf(caller: KeyHolder, name: string, one: Named, input: object): Promise<string | undefined> {
  const controller = new AbortController()
  const options = { signal: controller.signal }
  const fields = { ...one.sample, ...input }
  try {
    if (name in streams) await openStream(caller.transport, one.http, fields, options)
    else if (!(name in transfers)) await call(caller.transport, one.http, fields, options)
    else if ('receive' in one) await upload(caller.transport, one.http, fields, bytes(), options)
    else await download(caller.transport, withRest(one.http, fields), fields, options)
    return undefined
  } catch (error) {
    return (error as BaxError).code
  } finally {
    controller.abort()
  }
}

async function* bytes() {
  yield Buffer.from('x')
}

/** Fills in a path field that takes the rest; the client gets such paths from responses. */
const withRest = (http: string, fields: Record<string, unknown>): string =>
  http.replaceAll(/\{(\w+)\*\}/g, (_, field: string) => String(fields[field]))

describe('another key', () => {
  /** Returns the objects of `mine` that an operation does not hide from a caller, with the code of its response. */
  async function leaksTo(caller: KeyHolder, name: string, one: Named) {
    const leaks: [thing: string | undefined, code: string | undefined][] = []
    for (const field of namesIn(one)) {
      for (const thing of namesFor(one, field)) {
        const code = await codeOf(caller, name, one, { [field]: thing })
        if (!/^\w+_not_found$/.test(code ?? '')) leaks.push([thing, code])
      }
    }
    return leaks
  }

  test.each(testable)('%s does not find the object', async (name, one) => {
    expect(await leaksTo(other, name, one)).toEqual([])
  })

  test('detects an operation that responds to another key, and an unknown ID field', async () => {
    expect(await leaksTo(owner, 'getSession', operations.getSession as unknown as Named)).not.toEqual([])
    const planted: Named = { http: 'GET /things/{thing_id}', input: { shape: { thing_id: null } }, scope: 'browser' }
    await expect(leaksTo(other, 'getThing', planted)).rejects.toThrow('names something by thing_id')
  })

  test.for(listing)('%s lists none of the objects, except for admins', async ([name, one], { skip }) => {
    if (name === 'listShellImages' && busybox.absent) skip(busybox.absent)
    const answer = async (caller: KeyHolder) => JSON.stringify(await call(caller.transport, one.http, {}))
    const ids = Object.values(objects)
    if (
      isAllowed({ keyId: other.keyId, name: null, scopes: ['browser', 'scrape', 'shell', 'relay'], admin: false }, one)
    ) {
      const listed = await answer(other)
      expect(ids.filter((id) => listed.includes(id))).toEqual([])
    }
    // Nobody but its own key sees a credential.
    const kept = new Set(['listKeys', 'listShellImages', 'listCredentials'])
    const isShell = name === 'listShells' && busybox.absent !== null
    const all = await answer(admin)
    if (!kept.has(name) && !isShell) expect(ids.filter((id) => all.includes(id))).not.toEqual([])
  })

  test('gets no cached page of the owner', async () => {
    const input = { url: site.url, max_age: 60_000 }
    await owner.client.scrape(input)
    const [again, others] = await Promise.all([owner, other].map(({ client }) => client.scrape(input)))
    // Another worker may answer.
    if (!isFleet) expect(again!.data!.metadata.cached_at).toBeDefined()
    expect(others!.data!.metadata.cached_at).toBeUndefined()
  })

  test('does not find a crawl that is running', async () => {
    const { id } = (await owner.client.crawl({ url: `${site.url}/held`, async: true })) as { id: string }
    expect(await owner.client.getCrawl({ id })).toMatchObject({ status: 'scraping' })
    for (const name of ['getCrawl', 'getCrawlErrors', 'cancelCrawl'] as const)
      await expect(other.client[name]({ id }), name).rejects.toMatchObject({ code: 'crawl_not_found' })
    await owner.client.cancelCrawl({ id })
  })

  test('cannot compare a crawl with one of the owner', async () => {
    const crawl = other.client.crawl({ url: site.url, since: objects.crawl, async: true })
    await expect(crawl).rejects.toMatchObject({ code: 'crawl_not_found' })
  })

  test('may use the same names for its own objects', async () => {
    const { token } = await other.client.createRelayToken({ name: 'laptop' })
    expect(token).toMatch(/^rlt_/)
    const made = await other.client.saveProfile({ name: 'login' })
    expect((await other.client.listProfiles()).profiles.map(({ profile_id }) => profile_id)).toEqual([made.profile_id])
    expect(await owner.client.getProfile({ profile_id: objects.profile })).toMatchObject({ name: 'login' })
  })
})

describe('the owner and an admin', () => {
  const reading = testable.filter(([, { http }]) => http.startsWith('GET '))
  test.each(reading)('%s finds the object', async (name, one) => {
    const input = Object.fromEntries(namesIn(one).map((field) => [field, namesFor(one, field)[0]]))
    for (const caller of [owner, admin]) {
      const code = await codeOf(caller, name, one, input)
      expect(code ?? 'answered').not.toMatch(/_not_found$|unauthorized|forbidden/)
    }
  })
})

describe('websockets', () => {
  const paths = Object.entries(sockets).filter(([, { http }]) => pathFields(route(http).path).length > 0)
  const address = (one: Named, query = '') => {
    const [field] = pathFields(route(one.http).path)
    const id = namesFor(one, field!)[0]!
    return `${homes.baseUrl.replace('http', 'ws')}${route(one.http).path.replace(`{${field}}`, id)}${query}`
  }

  /** Returns 101, or the status of the rejection. */
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

  test.each(paths)('%s accepts only its own key or token', async (_, socket) => {
    const one = socket as unknown as Named
    expect(await statusOf(address(one), { 'x-api-key': other.key })).toBe(404)
    expect(await statusOf(address(one), { authorization: `Bearer ${other.key}` })).toBe(404)
    expect(await statusOf(address(one))).toBe(401)
    expect(await statusOf(address(one, '?token=ft_wrong'))).toBe(401)
    expect(await statusOf(address(one, `?token=${owner.key}`))).toBe(401)
    expect(await statusOf(address(one), { 'x-api-key': owner.key })).toBe(101)
    if (one.http.includes('{session_id}'))
      expect(await statusOf(address(one, `?token=${objects.frameToken}`))).toBe(101)
  })

  test('a browser connects with a relay token, or with a key that has the scope', async () => {
    const url = `${homes.baseUrl.replace('http', 'ws')}/relay/connect`
    const scrapes = await keyHolder(homes, ['scrape'])
    const { token } = await owner.client.createRelayToken({})
    expect(await statusOf(url)).toBe(401)
    expect(await statusOf(url, { authorization: `Bearer rlt_${'A'.repeat(43)}` })).toBe(401)
    expect(await statusOf(url, { 'x-api-key': scrapes.key })).toBe(403)
    expect(await statusOf(url, { 'x-api-key': other.key })).toBe(101)
    expect(await statusOf(url, { authorization: `Bearer ${token}` })).toBe(101)
    await homes.engine.keys.revoke(scrapes.keyId)
    expect(await statusOf(url, { 'x-api-key': scrapes.key })).toBe(401)
  })
})

const noFolder = isFleet ? 'a fleet has no state folder' : null

describe.skipIf(noFolder)(titled('a new engine on the same folder', noFolder), () => {
  test('preserves the owners of all objects', async () => {
    const { stateDir } = homes
    const restarted = createEngine({
      home: 'server',
      stateDir,
      cacheDir: stateDir,
      display: false,
      writeAnywhere: false,
      log: () => {},
    })
    const readAll = (caller: KeyHolder) => {
      const call = callOf(restarted.keys.callerOf(caller.key))
      const kept: Promise<unknown>[] = [
        restarted.profiles.get(objects.profile, call),
        restarted.crawls.accounts(objects.crawl, call),
      ]
      if (objects.artifact) kept.push(restarted.shells.artifacts.get(objects.artifact, call))
      return Promise.allSettled(kept)
    }
    const statuses = async (caller: KeyHolder) => [...new Set((await readAll(caller)).map(({ status }) => status))]
    expect([await statuses(owner), await statuses(admin), await statuses(other)]).toEqual([
      ['fulfilled'],
      ['fulfilled'],
      ['rejected'],
    ])
    await restarted.close()
  })
})

describe('the stream of a session', () => {
  const follow = (query: string, headers: Record<string, string> = {}) => {
    const controller = new AbortController()
    const url = `${homes.baseUrl}/stream/sse?session_id=${objects.session}${query}`
    return fetch(url, { headers, signal: controller.signal }).then((response) => {
      controller.abort()
      return response.status
    })
  }

  test('accepts its frame token in the URL, but no key there', async () => {
    expect(await follow(`&token=${objects.frameToken}`)).toBe(200)
    expect(await follow('&token=ft_wrong')).toBe(401)
    expect(await follow('')).toBe(401)
    expect(await follow(`&token=${owner.key}`)).toBe(401)
    expect(await follow('', { 'x-api-key': owner.key })).toBe(200)
  })
})

test('keys with sessions of the same name have handoffs and approvals of their own', async () => {
  const own = await openHomes()
  try {
    const [ann, bob] = [await keyHolder(own), await keyHolder(own)]
    const open = async ({ client }: KeyHolder): Promise<string> =>
      (
        await client.createSession({
          headless: true,
          requested_name: commonName,
          confirm: ['eval'],
          start_url: site.url,
        })
      ).session_id!
    const [mine, theirs] = [await open(ann), await open(bob)]
    const commands = [{ command: 'evaluate', data: { expression: '6 * 7' } }]
    const acted = ann.client.runCommands({ session_id: mine, commands })
    const { approval_id } = await waitingApproval(ann.client)
    const { handoff_id } = await ann.client.requestHandoff({ session_id: commonName, reason: 'log in' })

    for (const session_id of [theirs, commonName]) {
      for (const name of ['getHandoff', 'withdrawHandoff'] as const)
        await expect(bob.client[name]({ session_id, handoff_id })).rejects.toMatchObject({ code: 'handoff_not_found' })
      for (const name of ['approveAction', 'rejectAction'] as const)
        await expect(bob.client[name]({ session_id, approval_id })).rejects.toMatchObject({
          code: 'approval_not_found',
        })
    }
    expect(await bob.client.listApprovals({})).toEqual({ approvals: [], total: 0 })
    expect(await bob.client.listHandoffs({})).toEqual({ handoffs: [], total: 0 })

    // The handoff and the approval of one key delay no command of the other key.
    const title = await bob.client.runCommands({ session_id: commonName, commands: [{ command: 'get_title' }] })
    expect(title).toMatchObject({ success: true })
    const asked = await bob.client.requestHandoff({ session_id: commonName, reason: 'accept the terms' })
    expect((await ann.client.listHandoffs({})).handoffs.map((one) => one.handoff_id)).toEqual([handoff_id])
    await bob.client.withdrawHandoff({ session_id: commonName, handoff_id: asked.handoff_id })
    const { events } = await bob.client.getSessionLog({ session_id: commonName })
    for (const id of [mine, approval_id, handoff_id]) expect(JSON.stringify(events)).not.toContain(id)

    expect(await ann.client.getHandoff({ session_id: mine, handoff_id })).toMatchObject({ status: 'waiting' })
    await ann.client.approveAction({ session_id: mine, approval_id })
    expect(await acted).toMatchObject({ success: true })
  } finally {
    await own.close()
  }
})

test('another key does not find a session that has ended', async () => {
  // Other tests use the session of the owner.
  const own = await openHomes({ pool: { warm: 0 } })
  try {
    const [ann, bob] = [await keyHolder(own), await keyHolder(own)]
    const { session_id: id } = await ann.client.createSession({ requested_name: commonName })
    await ann.client.closeSession({ session_id: id! })
    expect(await ann.client.getSession({ session_id: id! })).toMatchObject({ status: 'stopped' })
    for (const session_id of [id!, commonName]) {
      const commands = [{ command: 'get_title' }]
      for (const work of [bob.client.getSession({ session_id }), bob.client.runCommands({ session_id, commands })])
        await expect(work).rejects.toMatchObject({ code: 'session_not_found' })
    }
  } finally {
    await own.close()
  }
})

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../support/client.ts'
import { type Homes, openHomes, usualHomes } from '../support/homes.ts'
import { failureOf, valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let site: Site

beforeAll(async () => {
  ;[homes, site] = await Promise.all([openHomes(), serveSite({ '/': '<title>Shop</title>' })])
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const logIn = `(async () => {
  document.cookie = 'login=ann; max-age=3600'
  localStorage.setItem('theme', 'dark')
  const database = await new Promise((resolve, reject) => {
    const request = indexedDB.open('cart', 1)
    request.onupgradeneeded = () => request.result.createObjectStore('items', {keyPath: 'id'})
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  await new Promise((resolve) => {
    const change = database.transaction('items', 'readwrite')
    change.objectStore('items').put({id: 1, name: 'lamp'})
    change.oncomplete = resolve
  })
  database.close()
})()`

const readState = `(async () => {
  const names = (await indexedDB.databases()).map(({name}) => name)
  let items = []
  if (names.includes('cart')) {
    const database = await new Promise((resolve) => {
      const request = indexedDB.open('cart')
      request.onsuccess = () => resolve(request.result)
    })
    items = await new Promise((resolve) => {
      const request = database.transaction('items').objectStore('items').getAll()
      request.onsuccess = () => resolve(request.result)
    })
    database.close()
  }
  return {cookie: document.cookie, theme: localStorage.getItem('theme'), items}
})()`

const loggedIn = { cookie: 'login=ann', theme: 'dark', items: [{ id: 1, name: 'lamp' }] }

describe.each(usualHomes)('profiles (%s)', (home) => {
  const client = (): Client => homes.clients[home]
  const create = async (input: Parameters<Client['createSession']>[0] = {}) =>
    (await client().createSession({ headless: true, start_url: site.url, ...input })).session_id!
  afterEach(async () => {
    const { profiles } = await client().listProfiles({})
    await Promise.all(profiles.map(({ profile_id }) => client().deleteProfile({ profile_id })))
  })

  test('saves cookies, local storage and IndexedDB of a session, and loads them into another', async () => {
    const from = await create()
    await valueOf(client(), from, logIn)
    const saved = await client().saveProfile({ name: 'ann', session_id: from })
    expect(saved).toMatchObject({ name: 'ann', cookies: 1, origins: [site.url] })
    expect(await client().getSession({ session_id: from })).toMatchObject({ tabs: 1, url: `${site.url}/` })

    const to = await create({ profile_id: saved.profile_id })
    expect(await valueOf(client(), to, readState)).toEqual(loggedIn)
    expect((await client().getSession({ session_id: to })).profile_id).toBe(saved.profile_id)
    const other = await create()
    expect(await valueOf(client(), other, readState)).toEqual({ cookie: '', theme: null, items: [] })
  })

  test('is selected by its name, by the ID in records', async () => {
    const { profile_id } = await client().saveProfile({ name: 'work' })
    const session = await create({ profile_id: 'work', save_profile: true })
    expect((await client().getSession({ session_id: session })).profile_id).toBe(profile_id)
    await valueOf(client(), session, logIn)
    await client().closeSession({ session_id: session })
    expect(await client().getProfile({ profile_id: 'work' })).toMatchObject({ profile_id, cookies: 1 })
    const unknown = await failureOf(create({ profile_id: 'wor' }))
    expect(unknown).toMatchObject({
      code: 'profile_not_found',
      message: 'no profile is named "wor" (did you mean "work"?)',
    })
    const { session_id } = await client().createSession({ headless: true, profile: 'work' } as object)
    expect((await client().getSession({ session_id: session_id! })).profile_id).toBe(profile_id)
    await client().deleteProfile({ profile_id: 'work' })
    expect((await client().listProfiles({})).total).toBe(0)
  })

  test('cannot be named like an ID', async () => {
    const name = '5f0c8a4e-3b52-4d1b-9c7a-2f6e1d0b8a93'
    expect(await failureOf(client().saveProfile({ name }))).toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'name' }],
    })
  })

  test('save_profile saves the state of a session when it ends', async () => {
    const { profile_id } = await client().saveProfile({ name: 'kept' })
    const first = await create({ profile_id, save_profile: true })
    await valueOf(client(), first, logIn)
    await client().closeSession({ session_id: first })
    expect(await client().getProfile({ profile_id })).toMatchObject({ cookies: 1, name: 'kept' })
    const second = await create({ profile_id })
    expect(await valueOf(client(), second, readState)).toEqual(loggedIn)
  })

  test('without save_profile the profile of a session is unchanged', async () => {
    const { profile_id } = await client().saveProfile({ name: 'untouched' })
    const session = await create({ profile_id })
    await valueOf(client(), session, logIn)
    await client().closeSession({ session_id: session })
    expect(await client().getProfile({ profile_id })).toMatchObject({ cookies: 0, origins: [] })
  })

  test('lists, shows and deletes profiles, whose names are unique', async () => {
    const first = await client().saveProfile({ name: 'one' })
    const second = await client().saveProfile({ name: 'two' })
    const { profiles, total } = await client().listProfiles({})
    expect(total).toBe(2)
    expect(new Set(profiles.map(({ name }) => name))).toEqual(new Set(['one', 'two']))
    expect(await client().getProfile({ profile_id: first.profile_id })).toEqual(first)
    expect(await failureOf(client().saveProfile({ name: 'one' }))).toMatchObject({
      code: 'already_exists',
      status: 409,
    })
    await client().deleteProfile({ profile_id: second.profile_id })
    const gone = await failureOf(client().getProfile({ profile_id: second.profile_id }))
    expect(gone).toMatchObject({ code: 'profile_not_found', status: 404 })
    expect(await failureOf(client().deleteProfile({ profile_id: second.profile_id }))).toMatchObject({ status: 404 })
  })

  test('only one of several concurrent calls gets a name', async () => {
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => client().saveProfile({ name: 'race' })))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('stores a profile as a private file, and leaves no temporary files', async () => {
    await client().saveProfile({ name: 'private' })
    const folder = join(homes.stateDir, 'profiles')
    const files = await readdir(folder)
    expect(files).toHaveLength(1)
    expect((await stat(join(folder, files[0]!))).mode & 0o777).toBe(0o600)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
  })

  test('saving an unknown session returns 404, an ended one 410', async () => {
    const save = (session_id: string) => client().saveProfile({ name: 'never', session_id })
    expect(await failureOf(save('ses_unknown'))).toMatchObject({ code: 'session_not_found' })
    const ended = await create()
    await client().closeSession({ session_id: ended })
    expect(await failureOf(save(ended))).toMatchObject({ code: 'session_closed' })
    expect((await client().listProfiles({})).total).toBe(0)
  })
})

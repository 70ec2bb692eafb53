import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keylessCaller } from '../../../src/core/access/caller.ts'
import { ProfileStore } from '../../../src/engine/store/profiles.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-profiles-'))
})
afterEach(() => rm(folder, { recursive: true }))

const state = {
  cookies: [
    {
      name: 'login',
      value: 'ann-is-in',
      domain: 'example.com',
      path: '/',
      expires: -1,
      httpOnly: true,
      secure: true,
      sameSite: 'Lax' as const,
    },
  ],
  origins: [],
}
const empty = { cookies: [], origins: [] }
const [secret, other] = ['a secret of the operator', 'another secret of somebody']

/** Returns the text of all files. */
async function onDisk(): Promise<string> {
  const files = await readdir(join(folder, 'profiles'))
  return (await Promise.all(files.map((name) => readFile(join(folder, 'profiles', name), 'utf8')))).join('\n')
}

describe('a profile name', () => {
  const ann = { ...keylessCaller, keyId: 'ann', admin: false }
  const admin = { ...keylessCaller, keyId: 'admin' }

  test('selects a profile of the own key only, also for admins', async () => {
    const store = new ProfileStore(folder)
    const { profile_id } = await store.add('work', state, ann)
    expect(await store.load('work', ann)).toMatchObject({ profile_id, state })
    expect(await store.get('work', ann)).toMatchObject({ profile_id })
    await expect(store.get('work', admin)).rejects.toMatchObject({ code: 'profile_not_found' })
    expect(await store.get(profile_id, admin)).toMatchObject({ name: 'work' })
    const other = await store.add('work', empty, admin)
    expect(await store.get('work', admin)).toMatchObject({ profile_id: other.profile_id })
    await store.delete('work', ann)
    await expect(store.load('work', ann)).rejects.toMatchObject({ code: 'profile_not_found' })
    expect(await store.get('work', admin)).toMatchObject({ profile_id: other.profile_id })
  })

  test('is suggested for a similar one, and ambiguous if a file was copied', async () => {
    const store = new ProfileStore(folder)
    const { profile_id } = await store.add('work', state, ann)
    await expect(store.get('wor', ann)).rejects.toThrow('no profile is named "wor" (did you mean "work"?)')
    const copy = '11111111-1111-4111-8111-111111111111'
    const path = (id: string) => join(folder, 'profiles', `${id}.json`)
    await writeFile(path(copy), await readFile(path(profile_id)))
    await expect(store.delete('work', ann)).rejects.toMatchObject({
      code: 'conflict',
      hint: 'use the id instead of the name',
    })
    await store.delete(copy, ann)
    expect(await store.get('work', ann)).toMatchObject({ profile_id })
  })
})

describe('encrypted profiles', () => {
  test('contain nothing readable on disk, and load with the same key after a restart', async () => {
    const { profile_id } = await new ProfileStore(folder, secret).add('annabel', state, keylessCaller)
    expect(await onDisk()).not.toMatch(/annabel|login|example/)
    const restarted = new ProfileStore(folder, secret)
    expect(await restarted.load(profile_id, keylessCaller)).toMatchObject({ state })
    expect(await restarted.list(keylessCaller)).toMatchObject([{ name: 'annabel', cookies: 1 }])
    await restarted.update(profile_id, () => empty)
    expect((await new ProfileStore(folder, secret).load(profile_id, keylessCaller)).state).toEqual(empty)
  })

  test('do not load with another key, or without one, and give a hint', async () => {
    const { profile_id } = await new ProfileStore(folder, secret).add('ann', state, keylessCaller)
    const refusal = { code: 'profile_locked', status: 503, hint: expect.stringContaining('BAX_PROFILE_KEY') }
    for (const wrong of [new ProfileStore(folder, other), new ProfileStore(folder)]) {
      await expect(wrong.load(profile_id, keylessCaller)).rejects.toMatchObject(refusal)
      await expect(wrong.list(keylessCaller)).rejects.toMatchObject(refusal)
      await expect(wrong.update(profile_id, () => empty)).rejects.toMatchObject(refusal)
    }
    expect(await new ProfileStore(folder, secret).load(profile_id, keylessCaller)).toMatchObject({ state })
  })

  test('replace unencrypted ones when those are saved again', async () => {
    const { profile_id } = await new ProfileStore(folder).add('ann', state, keylessCaller)
    const store = new ProfileStore(folder, secret)
    expect(await store.load(profile_id, keylessCaller)).toMatchObject({ state })
    expect(await onDisk()).toContain('ann-is-in')
    await store.update(profile_id, () => state)
    expect(await onDisk()).not.toContain('ann-is-in')
  })

  test('do not load from a file that was changed or swapped', async () => {
    const store = new ProfileStore(folder, secret)
    const [ann, bob] = [await store.add('ann', state, keylessCaller), await store.add('bob', empty, keylessCaller)]
    const path = (id: string) => join(folder, 'profiles', `${id}.json`)
    await writeFile(path(bob.profile_id), await readFile(path(ann.profile_id)))
    await expect(store.load(bob.profile_id, keylessCaller)).rejects.toMatchObject({ code: 'profile_locked' })
    const {
      $bax: _,
      $check: __,
      ...sealed
    } = JSON.parse(await readFile(path(ann.profile_id), 'utf8')) as { data: string } & Record<string, unknown>
    const bytes = Buffer.from(sealed.data, 'base64')
    bytes[0]! ^= 1
    await writeFile(path(ann.profile_id), JSON.stringify({ ...sealed, data: bytes.toString('base64') }))
    await expect(store.load(ann.profile_id, keylessCaller)).rejects.toMatchObject({ code: 'profile_locked' })
  })
})

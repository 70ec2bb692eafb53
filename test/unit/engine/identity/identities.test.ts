import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keylessCaller } from '../../../../src/core/access/caller.ts'
import { noIdentity } from '../../../../src/core/identity.ts'
import { Identities } from '../../../../src/engine/scrape/identity/identities.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-identities-'))
})
afterEach(() => rm(folder, { recursive: true }))

const input = { ...noIdentity, url: 'https://site.example/', cookies: 'a=secret' }
const identitiesIn = (name: string) => new Identities({ stateDir: join(folder, name) })

test('an identity is read by those who have its key, and others report what is locked', async () => {
  const { input: sealed } = await identitiesIn('one').seal(input, keylessCaller)
  expect(JSON.stringify(sealed)).not.toContain('secret')
  const opened = await identitiesIn('one').unseal(sealed)
  expect(opened!.identity.cookiesFor(input.url)).toBe('a=secret')
  await expect(identitiesIn('two').unseal(sealed)).rejects.toMatchObject({
    code: 'profile_locked',
    message: 'the identity of the crawl cannot be decrypted',
    hint: expect.stringContaining('start the crawl again'),
  })
})

test('a state folder that could not be used once is used later', async () => {
  const identities = identitiesIn('state')
  await writeFile(join(folder, 'state'), 'no folder')
  await expect(identities.seal(input, keylessCaller)).rejects.toThrow(/EEXIST|ENOTDIR/)
  await rm(join(folder, 'state'))
  expect(await identities.seal(input, keylessCaller)).toHaveProperty('input.identity.sealed')
})

/** Commands that list and manage what a server has. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { busybox } from '../support/shell.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { testUnless } from '../support/needs.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let site: Site
let admin: string
beforeAll(async () => {
  ;[homes, site] = await Promise.all([openHomes(), serveSite({ '/': '<title>Tea</title><p>A page about tea.' })])
  admin = (await homes.engine.keys.create({ name: 'admin', scopes: ['admin'] })).key
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const run = async (...argv: string[]) => {
  const { code, stdout, stderr } = await bax(argv, { env: { BAX_SERVER: homes.baseUrl, BAX_API_KEY: admin } })
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

test('keys are created, listed and revoked', async () => {
  const { key_id } = JSON.parse(await run('key', 'create', 'laptop', '--scopes', 'scrape', '--json'))
  expect(await run('key', 'list')).toMatch(new RegExp(`${key_id} +laptop +active +scrape `))
  await run('key', 'revoke', key_id)
  expect(await run('key', 'list')).toMatch(new RegExp(`${key_id} +laptop +revoked `))
})

test('tokens of a relay are created, listed and revoked', async () => {
  const { token_id } = JSON.parse(await run('relay', 'tokens', 'create', '--name', 'laptop', '--json'))
  expect(await run('relay', 'tokens', 'list')).toContain(token_id)
  await run('relay', 'tokens', 'revoke', token_id)
  expect(JSON.parse(await run('relay', 'tokens', 'list', '--json'))).toEqual({ tokens: [] })
})

test('crawls are listed', async () => {
  await run('crawl', site.url)
  expect(await run('crawl', 'list')).toMatch(new RegExp(`^crl_\\S+ +completed +1 +1 +0 +${site.url} `, 'm'))
})

test.each(['bash', 'zsh', 'fish'])('the completion script for %s is printed', async (shell) => {
  expect(await run('completion', shell)).toContain(' complete -- ')
})

// A server does not build images for its callers.
testUnless(busybox.absent)('an image for shell sessions is built on this machine, and listed', async () => {
  const env = { BAX_STATE_DIR: homes.stateDir }
  const built = await bax(['shell', 'image', 'build', '--which', 'busybox', '--embedded', '--json'], { env })
  expect(built).toMatchObject({ code: 0, stdout: expect.stringContaining('"bax-shell:busybox"') })
  expect(await run('shell', 'image', 'list')).toContain('bax-shell:busybox')
})

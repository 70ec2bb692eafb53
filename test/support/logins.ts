/** Tests of the command `login` on a site, whose forms two files share. */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Given } from './commands.ts'
import { account } from './login-site.ts'

export const both = ['username', 'password']

/** Adds the credentials of the tests, and gives each test a new session. */
export function withCredentials(given: Given): void {
  beforeAll(async () => {
    const origins = [given.site().url]
    const { username, password } = account
    await given.client().addCredential({ name: 'ann', origins, ...account })
    await given.client().addCredential({ name: 'plain', origins, username, password })
    await given.client().addCredential({ name: 'wrong', origins, username, password: 'incorrect' })
    await given.client().addCredential({ name: 'stranger', origins, username: 'bob', password: 'incorrect' })
    await given.client().addCredential({ name: 'code', origins, ...account, totp: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' })
  })
  beforeEach(() => given.restart())
}

/** Tests log-ins on pages, each with the fields that it asks for. */
export function testLogins(given: Given, pages: readonly (readonly [path: string, filled: readonly string[]])[]): void {
  test.each(pages)('logs in on %s with what the site asks for', async (path, filled) => {
    await given.open(path)
    expect(await given.do('login', { credential: 'ann' })).toEqual({ url: expect.any(String), filled })
    expect(JSON.stringify(await given.run([['get_html']]))).toMatch(path === '/framed' ? /iframe/ : /Welcome Ann/)
  })
}

/** Tests failing log-ins with a credential on a page, each with the reason. */
export function testRefusals(
  given: Given,
  refusals: readonly (readonly [credential: string, path: string, why: string])[],
): void {
  test.each(refusals)('says why %s could not log in on %s', async (credential, path, why) => {
    await given.open(path)
    expect(await given.fails('login', { credential })).toMatchObject({
      code: 'login_failed',
      error: `could not log in with ${credential}: ${why}`,
    })
  })
}

/** Log-ins on sites of many kinds; see login.test.ts. */
import { expect, test } from 'vitest'
import { account as demoAccount } from '../../src/demo/shop/shop.ts'
import { demoSite } from '../../src/demo/site.ts'
import { listen } from '../../src/server/process/listen.ts'
import { inUsualHomes } from '../support/commands.ts'
import { loginPages } from '../support/login-site.ts'
import { both, testLogins, testRefusals, withCredentials } from '../support/logins.ts'

inUsualHomes(loginPages, (given) => {
  withCredentials(given)

  testLogins(given, [
    ['/steps', both],
    ['/together', [...both, 'totp']],
    ['/shadow', both],
    ['/app', both],
    ['/spinner', both],
    ['/late', both],
    ['/own-checks', both],
  ])

  testRefusals(given, [
    ['wrong', '/with-code', 'the page asks for username and password again: Wrong user name or password'],
    ['wrong', '/app', 'the page asks for username and password again: Try again'],
    ['stranger', '/steps', 'the page asks for username again: No such user'],
    ['code', '/with-code', 'the page asks for totp again: Wrong code'],
    ['wrong', '/spinner', 'the site answered with status 401'],
    ['ann', '/broken', 'the site answered with status 500'],
    ['wrong', '/late-notice', 'the page asks for username and password again: Wrong password'],
    ['ann', '/dropped', 'the page after it did not load: net::ERR_EMPTY_RESPONSE'],
    ['ann', '/picture', 'the browser does not submit the form: Word in the picture: Please fill out this field.'],
    ['ann', '/terms', 'the browser does not submit the form: I agree: Please check this box if you want to proceed.'],
  ])

  test('logs in with a form whose other fields are filled', async () => {
    await given.open('/picture')
    await given.do('fill', { selector: '[name=word]', text: 'tulip' })
    expect(await given.do('login', { credential: 'ann' })).toMatchObject({ filled: both })
    expect(await given.evaluate('document.body.textContent')).toContain('Welcome Ann')
  })

  test.each(['/account', '/register'])('finds no log-in on %s', async (path) => {
    await given.open(path)
    expect(await given.fails('login', { credential: 'ann', timeout_ms: 3000 })).toMatchObject({
      code: 'login_failed',
      error: 'could not log in with ann: the page has no log-in form',
    })
  })

  test('logs in to the shop of `bax demo`', async () => {
    const demo = await listen(demoSite(), { host: '127.0.0.1', port: 0 })
    const { name: username, password } = demoAccount
    await given.client().addCredential({ name: 'tea', origins: [demo.address], username, password })
    await given.do('navigate_to', { url: `${demo.address}/shop/login?next=/shop/orders` })
    expect(await given.do('login', { credential: 'tea' })).toEqual({ url: `${demo.address}/shop/orders`, filled: both })
    await demo.close()
  })
})

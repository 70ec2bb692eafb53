import { expect, test } from 'vitest'
import { noIdentity } from '../../../../src/core/identity.ts'
import { treeFromHtml } from '../../../../src/engine/extract/html-tree.ts'
import { ReadIdentity } from '../../../../src/engine/render/identity/identity.ts'
import { isLoginForm, loginOf, loginUrl } from '../../../../src/engine/scrape/identity/login.ts'
import type { LoadedPage } from '../../../../src/engine/scrape/loaded-page.ts'
import { withLoginWarning } from '../../../../src/engine/scrape/page-warnings.ts'
import type { ScrapePlan } from '../../../../src/engine/scrape/plan.ts'

const isLogin = (html: string) => isLoginForm(treeFromHtml(html, 'https://site.example/').root)
const form = '<form><input name=user><input type=password name=pass><button>Log in</button></form>'
const long = `<p>${'A sentence of the page. '.repeat(60)}</p>`

test.each([
  ['a form', form],
  ['a form with a heading, navigation and footer', `<nav>${long}</nav><h1>Log in</h1>${form}<footer>${long}</footer>`],
  [
    'a form in the header of a page without content',
    `<header><h1>Intranet</h1>${form}</header><footer>${long}</footer>`,
  ],
  ['a password without a form', '<main><p>Unlock</p><input type=password></main>'],
  [
    'a form for an address alone',
    '<title>Sign in - Accounts</title><form><input type=email name=identifier><button>Next</button></form>',
  ],
  [
    'a form for a name alone, below its headline',
    '<h1>Anmelden</h1><form role=search><input name=q></form><form><input autocomplete="username webauthn"><input type=checkbox name=keep></form>',
  ],
  ['a form for a name alone, in Japanese', '<h1>ログインする</h1><form><input name=user_id></form>'],
  ['a page in a form', `<form><h1>Welcome</h1><input type=text><input type=password></form><script>${long}</script>`],
])('%s is a login', (_, html) => {
  expect(isLogin(html)).toBe(true)
})

test.each([
  ['a short page with a form in its header', `<header>${form}</header><main><p>Welcome back, Ann</p></main>`],
  ['an article with a form beside it', `<aside>${form}</aside><article><p>News</p></article>`],
  ['a long page with a form', `<div>${form}</div>${long}`],
  ['a long page within one form', `<form><input><input type=password>${long}</form>`],
  ['a form for a new password', '<form><input name=user><input type=password autocomplete=new-password></form>'],
  ['a registration', '<form><input name=user><input type=password><input type=password></form>'],
  ['a newsletter', '<title>News</title><form><input type=email name=email><button>Next</button></form>'],
  ['a forgotten password', '<title>Reset your password</title><form><input type=email name=email></form>'],
  ['a registration for an address', '<h1>Sign up</h1><form><input type=email name=email></form>'],
  ['a message', '<title>Sign in or write to us</title><form><input name=email><input name=subject></form>'],
  ['a filter below a title', '<title>Login history</title><form><input name=q></form><p>Ann, yesterday</p>'],
  ['an article with a newsletter', `<h1>How to sign in</h1><form><input name=email></form>${long}`],
  ['a page without a password', '<form><input name=q></form>'],
])('%s is none', (_, html) => {
  expect(isLogin(html)).toBe(false)
})

const site = 'https://site.example'
/** Returns the login that a page at a URL asks for. */
const loginIn = (html: string, { url = `${site}/orders`, status = 200 } = {}) =>
  loginOf(treeFromHtml(html, url), { url, status })
const refresh = (content: string) => `<title>Wait</title><meta http-equiv=refresh content="${content}"><p>Wait</p>`

test.each([
  ['a form below a long explanation', `${long}<form><input name=user><input type=password></form>`],
  ['a form in the header', `<header>${form}</header><h1>Forbidden</h1>${long}`],
])('a page with status 403 and %s asks for a login', (_, html) => {
  expect(loginIn(html, { status: 403 })).toBe(`${site}/orders`)
  expect(loginIn(html)).toBeUndefined()
})

test.each([
  ['no form', `<h1>Forbidden</h1><p>Log in to read this page: <a href="/login">Log in</a>.</p>`],
  ['a form for a new password', '<form><input type=password autocomplete=new-password></form>'],
  ['a search', '<form action="/search"><input name=q></form>'],
])('a page with status 403 and %s asks for none', (_, html) => {
  expect(loginIn(html, { status: 403 })).toBeUndefined()
})

test.each([
  ['10; url=/login?next=/orders', `${site}/login?next=/orders`],
  ["7;URL='https://sso.example/auth/'", 'https://sso.example/auth/'],
  ['900; url=/login?expired=1', undefined],
  ['10; url=/news', undefined],
])('a page that leads to %s asks for the login %s', (content, expected) => {
  expect(loginIn(refresh(content))).toBe(expected)
})

const sentTo = (url: string, requested = `${site}/orders`) =>
  loginUrl(requested, {
    url,
    status: 200,
    document: { isPage: true, tree: treeFromHtml('<p>Hello</p>', url) },
  } as never)

test.each([
  '/login',
  '/users/sign_in',
  '/wp-login.php?redirect_to=%2Forders',
  '/wiki/Special:UserLogin?returnto=Orders',
  '/wiki/Special%3AUserLogin',
  '/index.php?title=Special:UserLogin&returnto=Orders',
  '/wiki/Spezial:Anmelden',
  '/wiki/Sp%C3%A9cial:Connexion',
  '/wiki/%E7%89%B9%E5%88%A5:%E3%83%AD%E3%82%B0%E3%82%A4%E3%83%B3',
  '/index.php?route=account/login',
  '/doku.php?id=orders&do=login',
  '/app#/login',
  '/app#!/sign-in?next=/orders',
  '/admin/login_form',
  '/account/LogOn.aspx',
])('a page that was sent to %s asks for a login', (path) => {
  expect(sentTo(site + path)).toBe(site + path)
})

test.each([
  '/orders/2',
  '/blog/how-to-log-in',
  '/wiki/Login_page_design',
  '/wiki/Help:Logging_in',
  '/app#login',
  '/app#/orders?from=/login',
  '/orders?returnUrl=/login',
  '/authors/ann',
  '/loginless',
])('a page that was sent to %s asks for none', (path) => {
  expect(sentTo(site + path)).toBeUndefined()
})

test('a login that was requested asks for none without a form', () => {
  expect(sentTo(`${site}/app#/login`, `${site}/app#/login`)).toBeUndefined()
  expect(sentTo(`${site}/wiki/Special:UserLogin`, `${site}/index.php?title=Special:UserLogin`)).toBeUndefined()
})

test('the warning about a login keeps the code of an earlier warning', () => {
  const url = 'https://site.example/'
  const identity = new ReadIdentity({ input: { ...noIdentity, cookies: 'a=1' }, start: new URL(url) })
  const page = { url, status: 401, warnings: ['incomplete'], warningCode: 'render_failed' } as unknown as LoadedPage
  expect(withLoginWarning({ url, identity } as ScrapePlan, page)).toMatchObject({
    warnings: ['incomplete', `the page asks for a login: ${url}`],
    warningCode: 'render_failed',
  })
})

import { expect, test } from 'vitest'
import { noIdentity } from '../../../../src/core/identity.ts'
import { treeFromHtml } from '../../../../src/engine/extract/html-tree.ts'
import { ReadIdentity } from '../../../../src/engine/render/identity/identity.ts'
import { isLoginForm } from '../../../../src/engine/scrape/identity/login.ts'
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
  ['a page without a password', '<form><input name=q></form>'],
])('%s is none', (_, html) => {
  expect(isLogin(html)).toBe(false)
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

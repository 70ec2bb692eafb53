/** Recognizes pages that ask for a login, where a page for somebody who is logged in was expected. */
import {
  attribute,
  collapse,
  elementsOf,
  type ElementNode,
  isElement,
  isSilent,
  rawText,
  type Tree,
  wordSet,
} from '../../extract/tree.ts'
import { decodeUrlPart } from '../../../core/net/urls.ts'
import { metaRefresh } from '../../render/http/web-url.ts'
import type { LoadedPage } from '../loaded-page.ts'

const loginName =
  /^(?:(?:wp-|user-?|sso-?|account-?|admin-?|member-?|customer-?|central-?|service-?|do-?)?(?:log-?in|sign-?in|log-?on|sign-?on)(?:-?(?:page|form))?|auth(?:enticate|orize)?|aanmelden|anmelden|anmeldung|einloggen|connexion|iniciar-sesion|accedi|entra|entrar|inloggen|inloggning|logga-in|zaloguj|вход|ログイン|登录|登入|로그인)$/i

/** Parameters with the page that follows a login, or that a link was on. */
const otherPage = /return|redirect|continue|next|back|ref|from|dest|target|goto|service|callback|url|uri|origin/i

/** Returns the URL of the login that a page asks for; undefined if it asks for none. */
export function loginUrl(requested: string, page: LoadedPage): string | undefined {
  if (page.status === 401 || page.status === 407) return page.url
  if (namesLogin(page.url) && !namesLogin(requested)) return page.url
  const { reading, document } = page
  return reading ? reading.loginUrl : document.isPage ? loginOf(document.tree, page) : undefined
}

/** Returns the URL of the login that an HTML page shows, or leads to by itself; undefined without one. */
export function loginOf(tree: Tree, { url, status }: Pick<LoadedPage, 'url' | 'status'>): string | undefined {
  // Sites answer with this status when they ask for another login.
  if (status === 403 ? hasPassword(tree.root) : isLoginForm(tree.root)) return url
  const next = metaRefresh(tree, url, slowRefreshSecs)
  return next !== undefined && namesLogin(next) && !namesLogin(url) ? next : undefined
}

/** Maximum delay of a page that leads to a login. Pages of somebody who is logged in do so after minutes. */
const slowRefreshSecs = 30

/** Whether the path, the query or the route of a URL names a login. */
function namesLogin(href: string): boolean {
  const { pathname, searchParams, hash } = new URL(href)
  const fields = [...searchParams].filter(([name]) => !otherPage.test(name)).map(([, value]) => value)
  // A fragment without a slash is the name of an element.
  const [, route = ''] = /^#!?\/([^?&]*)/.exec(hash) ?? []
  return [pathname, route, ...fields]
    .flatMap((path) => path.split(/[/:]|%3a/i))
    .some((part) =>
      loginName.test(
        decodeUrlPart(part)
          .replace(/\.\w+$/, '')
          .replaceAll('_', '-'),
      ),
    )
}

const hasPassword = (root: ElementNode): boolean =>
  passwordsIn(root).some((input) => !/new-password/i.test(attribute(input, 'autocomplete')))

/** Whether a page is a form for a login: for a name, a password or both. */
export const isLoginForm = (root: ElementNode): boolean => asksForPassword(root) || asksForName(root)

/** Whether a page is a form for a name and one password, or for nothing but a password. */
function asksForPassword(root: ElementNode): boolean {
  const forms = elementsOf(root).filter(({ tag }) => tag === 'form')
  const groups = forms.map((form) => ({ passwords: passwordsIn(form), hasName: inputsIn(form, nameTypes).length > 0 }))
  const inForms = new Set(groups.flatMap(({ passwords }) => passwords))
  // Pages that send passwords with scripts often have no form.
  const loose = { passwords: passwordsIn(root).filter((input) => !inForms.has(input)), hasName: false }
  const asking = [...groups, loose].filter(({ passwords }) => passwords.length > 0)
  const found = asking.filter(
    ({ passwords: [only, ...others], hasName }) =>
      others.length === 0 &&
      !/new-password/i.test(attribute(only!, 'autocomplete')) &&
      // Beside a form for a new password, another one confirms something, such as the end of the account.
      (hasName || asking.length === 1),
  )
  if (found.length === 0) return false
  // Many pages with content of their own have a small form in their header.
  const beside = new Set(elementsOf(root).filter(isBeside).flatMap(passwordsIn))
  const length = ownTextLength(root)
  return found.some(({ passwords: [only] }) => length <= (beside.has(only!) ? 0 : mostText))
}

/** Length of the text of a login page, with its explanations. */
const mostText = 1000

/** Whether a page is a form for a name alone, before the next one asks for the password: its title or headline says so. */
function asksForName(root: ElementNode): boolean {
  const forms = elementsOf(root).filter(({ tag }) => tag === 'form')
  const fields = forms.map((form) => inputsIn(form, nameTypes)).filter((inputs) => inputs.some(isForName))
  if (fields.length !== 1 || fields[0]!.length !== 1 || passwordsIn(root).length > 0) return false
  const titles = elementsOf(root).filter(({ tag }) => tag === 'title' || tag === 'h1')
  return titles.some((title) => loginTitle.test(collapse(rawText(title)))) && ownTextLength(root) <= mostTextBesideName
}

/** Length of the text of a page that asks for a name alone; newsletters stand on longer ones. */
const mostTextBesideName = 500

const loginTitle =
  /(?<!\p{L})(?:log[ -]?[io]n|sign[ -]?[io]n|anmeld(?:en|ung)|einloggen|connexion|se connecter|inicia(?:r)? sesión|accedi|entrar|inloggen|logga in|zaloguj|вход|войти)(?!\p{L})|ログイン|登录|登入|로그인/iu

const isForName = (input: ElementNode): boolean =>
  /username|webauthn/i.test(attribute(input, 'autocomplete')) ||
  /^(?:user|login|e?-?mail|identifier|account)/i.test(attribute(input, 'name') || attribute(input, 'id'))

const besideTags = wordSet('header nav footer aside')
const isBeside = ({ tag }: ElementNode): boolean => besideTags.has(tag)

/** Returns the length of the text of a page without its header, navigation and footer. */
function ownTextLength(root: ElementNode): number {
  const isOwn = (element: ElementNode) => !isBeside(element) && !isSilent(element)
  const texts = elementsOf(root, isOwn).filter(isOwn)
  return texts
    .flatMap(({ children }) => children)
    .reduce((sum, child) => sum + (isElement(child) ? 0 : collapse(child.text).trim().length), 0)
}

const nameTypes = /^(?:|text|email|tel)$/

const inputsIn = (element: ElementNode, types: RegExp): ElementNode[] =>
  elementsOf(element).filter((one) => one.tag === 'input' && types.test(attribute(one, 'type').toLowerCase()))

const passwordsIn = (element: ElementNode): ElementNode[] => inputsIn(element, /^password$/)

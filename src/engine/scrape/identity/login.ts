/** Recognizes pages that ask for a login, where a page for somebody who is logged in was expected. */
import { attribute, collapse, elementsOf, type ElementNode, isElement, isSilent, wordSet } from '../../extract/tree.ts'
import type { LoadedPage } from '../loaded-page.ts'

const loginName =
  /^(?:(?:wp-|user-?|sso-?|account-?)?(?:log-?in|sign-?in|log-?on|sign-?on)|auth(?:enticate|orize)?|anmelden|anmeldung|einloggen|connexion|iniciar-sesion|accedi|entrar|inloggen|logga-in|zaloguj)$/i

/** Returns the URL of the page if it asks for a login; undefined if it does not. */
export function loginUrl(requested: string, page: LoadedPage): string | undefined {
  if (page.status === 401 || page.status === 407) return page.url
  const isRedirected = namesLogin(page.url) && !namesLogin(requested)
  return isRedirected || hasLoginForm(page) ? page.url : undefined
}

const hasLoginForm = ({ document, reading }: LoadedPage): boolean =>
  reading ? (reading.isLoginForm ?? false) : document.isPage && isLoginForm(document.tree.root)

/** Whether the path or the query of a URL names a login. */
function namesLogin(href: string): boolean {
  const { pathname, searchParams } = new URL(href)
  const words = [...pathname.split('/').map((part) => part.replace(/\.\w+$/, '')), ...searchParams.values()]
  return words.some((word) => loginName.test(word.replaceAll('_', '-')))
}

/** Whether a page is a form for a name and one password, or for nothing but a password. */
export function isLoginForm(root: ElementNode): boolean {
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

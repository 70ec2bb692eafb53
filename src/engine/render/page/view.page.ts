/** Reads off a document how much of its content it shows. */
import { isNotice, loadingName } from '../decide/notices.ts'

/** Main content; some text, which may be all of it; nothing but an empty page, a spinner or a notice. */
export type View = 'content' | 'some' | 'nothing'

/** Characters that are the main content of a page. */
const enough = 250
/** Characters beside which a spinner stands for a part of the page. */
const ample = 1200
/** Characters beside which a spinner stands for the page itself. */
const little = 120
/** Texts read, and levels followed, for one view: a page may have millions. */
const mostTexts = 5000
const deepest = 300

const silent = 'script,style,noscript,template,svg,textarea,select,datalist,[hidden]'
const chrome = 'nav,footer,aside,[role="navigation"],[role="banner"],[role="contentinfo"],[role="search"],button'
const loadingSigns =
  'progress,[role="progressbar"],[aria-busy="true"],[class*="load" i],[class*="spinner" i],[class*="skeleton" i],[class*="shimmer" i],[id*="load" i],[id*="spinner" i]'
const outlets =
  'main,[role="main"],app-root,#root,#app,#react-root,#react-app,#main-app,#__next,#___gatsby,#__nuxt,#svelte,#q-app,#ember-app,#mount,#application,#vue-app,#spa-root'
const media = 'img[src],video,iframe[src],iframe[srcdoc],frame,object,embed,input'

export function viewOf(): View {
  const body = document.querySelector('body,frameset')
  if (!body) return 'nothing'
  const isLoading = isAnyShown(body, loadingSigns, isLoadingSign)
  const text = textOf(body, isLoading ? ample : enough, isChrome)
  if (text.length >= enough) return (isLoading && text.length < ample) || hasEmptyOutlet(body) ? 'some' : 'content'
  if (isNotice(text) || (isLoading && text.length <= little)) return 'nothing'
  if (text !== '') return 'some'
  if (hasEmptyOutlet(body)) return 'nothing'
  // Menus, and pages of pictures.
  return textOf(body, 1) !== '' || isAnyShown(body, media) ? 'some' : 'nothing'
}

const isVisible = (element: Element): boolean => element.checkVisibility()

function isAnyShown(body: Element, selector: string, accepts?: (element: Element) => boolean): boolean {
  for (const element of body.querySelectorAll(selector)) {
    if ((accepts?.(element) ?? true) && isVisible(element)) return true
  }
  return false
}

/** Whether an element says that content is loading, and holds none itself. */
function isLoadingSign(element: Element): boolean {
  const { id, localName } = element
  if (localName === 'progress' || element.getAttribute('role') === 'progressbar') {
    // A bar with a value may be a picture of what somebody can do.
    return !element.hasAttribute('value') && !element.hasAttribute('aria-valuenow')
  }
  const isNamed = loadingName.test(id) || loadingName.test(element.getAttribute('class') ?? '')
  if (!isNamed && element.getAttribute('aria-busy') !== 'true') return false
  return textOf(element, little).length < little && element.querySelector(media) === null
}

const hasEmptyOutlet = (body: Element): boolean =>
  isAnyShown(body, outlets, (element) => textOf(element, 1) === '' && element.querySelector(media) === null)

/** The parts of a page that stand around its content. */
const isChrome = (element: Element): boolean =>
  element.matches(chrome) || (element.localName === 'header' && element.closest('main,article') === null)

/** Visible text below an element, of about so many characters. */
function textOf(element: Element, most: number, isLeft: (element: Element) => boolean = () => false): string {
  let text = ''
  let left = mostTexts
  const visit = (node: Node, depth: number): void => {
    for (let child = node.firstChild; child && text.length < most && left > 0; child = child.nextSibling) {
      if (child instanceof Text) {
        const part = child.data.trim()
        if (part === '') continue
        left--
        if (isVisible(child.parentElement ?? element)) text += `${text === '' ? '' : ' '}${part}`
      } else if (child instanceof Element && depth < deepest && !child.matches(silent) && !isLeft(child)) {
        visit(child.shadowRoot ?? child, depth + 1)
      }
    }
  }
  visit(element, 0)
  return text.replaceAll(/\s+/g, ' ')
}

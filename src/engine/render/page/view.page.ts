/** Detects how much of its content a page shows. */
import { isNotice, loadingName } from '../decide/notices.ts'

/** `content`: main content; `some`: some text, which may be all; `nothing`: an empty page, a spinner or a notice. */
export type View = 'content' | 'some' | 'nothing'

/** Minimum length of main content, in characters. */
const contentChars = 250
/** With this much text, in characters, a spinner stands for a part of the page. */
const partialChars = 1200
/** With at most this much text, in characters, a spinner stands for the whole page. */
const spinnerChars = 120
/** Maximum number of texts and levels to read, as a page can have millions. */
const maxTexts = 5000
const maxDepth = 300

const silent = 'script,style,noscript,template,svg,textarea,select,datalist,[hidden]'
const boilerplate = 'nav,footer,aside,[role="navigation"],[role="banner"],[role="contentinfo"],[role="search"],button'
const loadingSigns =
  'progress,[role="progressbar"],[aria-busy="true"],[class*="load" i],[class*="spinner" i],[class*="skeleton" i],[class*="shimmer" i],[id*="load" i],[id*="spinner" i]'
const outlets =
  'main,[role="main"],app-root,#root,#app,#react-root,#react-app,#main-app,#__next,#___gatsby,#__nuxt,#svelte,#q-app,#ember-app,#mount,#application,#vue-app,#spa-root'
const media = 'img[src],video,iframe[src],iframe[srcdoc],frame,object,embed,input'

export function viewOf(): View {
  const body = document.querySelector('body,frameset')
  if (!body) return 'nothing'
  const isLoading = isAnyShown(body, loadingSigns, isLoadingSign)
  const text = textOf(body, isLoading ? partialChars : contentChars, isBoilerplate)
  if (text.length >= contentChars)
    return (isLoading && text.length < partialChars) || hasEmptyOutlet(body) ? 'some' : 'content'
  if (isNotice(text) || (isLoading && text.length <= spinnerChars)) return 'nothing'
  if (text !== '') return 'some'
  if (hasEmptyOutlet(body)) return 'nothing'
  // Menus, and pages of images.
  return textOf(body, 1) !== '' || isAnyShown(body, media) ? 'some' : 'nothing'
}

const isVisible = (element: Element): boolean => element.checkVisibility()

function isAnyShown(body: Element, selector: string, accepts?: (element: Element) => boolean): boolean {
  for (const element of body.querySelectorAll(selector)) {
    if ((accepts?.(element) ?? true) && isVisible(element)) return true
  }
  return false
}

/** Returns whether an element indicates loading and has no content itself. */
function isLoadingSign(element: Element): boolean {
  const { id, localName } = element
  if (localName === 'progress' || element.getAttribute('role') === 'progressbar') {
    // A bar with a value may show, for example, somebody's skills.
    return !element.hasAttribute('value') && !element.hasAttribute('aria-valuenow')
  }
  const isNamed = loadingName.test(id) || loadingName.test(element.getAttribute('class') ?? '')
  if (!isNamed && element.getAttribute('aria-busy') !== 'true') return false
  return textOf(element, spinnerChars).length < spinnerChars && element.querySelector(media) === null
}

const hasEmptyOutlet = (body: Element): boolean =>
  isAnyShown(body, outlets, (element) => textOf(element, 1) === '' && element.querySelector(media) === null)

/** Returns whether an element is boilerplate around the content. */
const isBoilerplate = (element: Element): boolean =>
  element.matches(boilerplate) || (element.localName === 'header' && element.closest('main,article') === null)

/** Returns about `maxChars` characters of visible text in an element. */
function textOf(element: Element, maxChars: number, isSkipped: (element: Element) => boolean = () => false): string {
  let text = ''
  let textsLeft = maxTexts
  const visit = (node: Node, depth: number): void => {
    for (let child = node.firstChild; child && text.length < maxChars && textsLeft > 0; child = child.nextSibling) {
      if (child instanceof Text) {
        const part = child.data.trim()
        if (part === '') continue
        textsLeft--
        if (isVisible(child.parentElement ?? element)) text += `${text === '' ? '' : ' '}${part}`
      } else if (child instanceof Element && depth < maxDepth && !child.matches(silent) && !isSkipped(child)) {
        visit(child.shadowRoot ?? child, depth + 1)
      }
    }
  }
  visit(element, 0)
  return text.replaceAll(/\s+/g, ' ')
}

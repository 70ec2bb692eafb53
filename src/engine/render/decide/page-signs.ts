/** What a page's markup says about how complete it is without its scripts. */
import { attribute, elementsOf, type ElementNode, isElement, isSilent, oneLine, rawText } from '../../extract/tree.ts'
import { loadingName } from './notices.ts'

export interface PageSigns {
  /** Characters a reader would see, white space collapsed. */
  readonly textLength: number
  /** The same, without links, navigation, headers and footers. */
  readonly proseLength: number
  /** Scripts of every kind, trackers included. */
  readonly scripts: number
  /** Scripts that the page loads and that are its own rather than a tracker's. */
  readonly externalScripts: number
  /** Texts of the inline scripts that are the page's own. */
  readonly inlineScripts: readonly string[]
  /** Scripts of type module, or a framework's bundle by its name. */
  readonly application: boolean
  /** Text that is shown when scripts are off. */
  readonly noscript: string
  /** Elements with an id or name of their own, or a custom tag, that hold nothing to read. */
  readonly empties: readonly ElementNode[]
  /** Elements that say they are still loading. */
  readonly loading: number
  /** `{{ name }}` in the text, or attributes of a template language. */
  readonly templates: number
}

const frame = new Set(['nav', 'header', 'footer', 'aside'])
const containers = new Set('div section main article ul ol dl table tbody p span'.split(' '))
const dataScript = /json|template|x-handlebars|x-tmpl|speculationrules|importmap|ld\+/i
const tracker =
  /google-?analytics|googletagmanager|gtag\/js|gtm\.js|doubleclick|googlesyndication|adsbygoogle|facebook\.net|fbevents|hotjar|clarity\.ms|segment\.(com|io)|mixpanel|matomo|piwik|plausible|umami|cloudflareinsights|newrelic|nr-data|sentry|cookie-?(consent|law|bot)|onetrust|recaptcha|polyfill|jquery|bootstrap|prism|highlight\.|mathjax|katex|lazysizes|modernizr|html5shiv|wp-embed|wp-emoji|comment-reply|disqus/i
/** What the snippets of trackers, consent tools and ads are known by. */
const trackerCode =
  /\b(?:dataLayer|gtag\(|fbq\(|_hsq|_gaq|GoogleAnalyticsObject|hotjar|hj\(|adsbygoogle|googletag|NREUM|newrelic|optimizely|OneTrust|OptanonWrapper|_wpemojiSettings|twemoji|clarity\(|ttq\.|_linkedin|pintrk|Intercom\(|drift\.|_satellite|Cookiebot|__cmp|__tcfapi|prebid|pbjs)\b/ // prettier-ignore
/** Snippets of hosts, caches, forms and ad servers, which write frames, links and messages, not content. */
const snippet = /__CF\$cv\$params|wp-skip-link|nitroBeaconUrl|NITROPACK_STATE|\bNPRL\b|_vwo_code|_fs_script|\bAdButler\b|\bm3_u\b|gformInitSpinner|gform_pre_post_render|RocketElementorAnimation|RocketPreloadLinks|\blazyLoadThumb\b|createRootURLMiddleware/ // prettier-ignore
/** A program that is longer is more than such a snippet. */
const longestSnippet = 12_000
const bundle = /(?:^|[/._-])(?:app|main|index|bundle|chunk|runtime|vendors?|polyfills|client|entry|webpack|_next\/static|_nuxt|_app)[^/]{0,200}\.(?:m?js)/i // prettier-ignore
const templateAttribute = /^(?:v-(?:for|if|text|html|cloak)|ng-(?:app|repeat|bind|cloak|view|controller)|data-ng-|data-bind|x-for|\*ng|data-reactroot-empty)/ // prettier-ignore

/** Reads the signs in one walk over the tree. */
export function signsOf(root: ElementNode): PageSigns {
  const reader = new SignReader()
  reader.visit(root, false)
  return reader.signs()
}

class SignReader {
  #text = 0
  #prose = 0
  #scripts = 0
  #external = 0
  readonly #inline: string[] = []
  #application = false
  readonly #noscript: string[] = []
  readonly #empties: ElementNode[] = []
  #loading = 0
  #templates = 0

  signs(): PageSigns {
    return {
      textLength: this.#text,
      proseLength: this.#prose,
      scripts: this.#scripts,
      externalScripts: this.#external,
      inlineScripts: this.#inline,
      application: this.#application,
      noscript: this.#noscript.join(' '),
      empties: this.#empties,
      loading: this.#loading,
      templates: this.#templates,
    }
  }

  visit(element: ElementNode, inFrame: boolean): void {
    if (element.tag === 'script') return this.#script(element)
    if (element.tag === 'noscript') return void this.#noscript.push(rawText(element).trim())
    if (isSilent(element) && element.tag !== 'svg') return this.#silent(element)
    const aside = inFrame || frame.has(element.tag) || element.tag === 'a' || element.tag === 'button'
    const before = this.#text
    this.#attributes(element)
    for (const child of element.children) {
      if (isElement(child)) this.visit(child, aside)
      else this.#read(child.text, aside)
    }
    if (this.#text === before && isHollow(element)) this.#empties.push(element)
  }

  #read(text: string, aside: boolean): void {
    const length = text.trim() === '' ? 0 : oneLine(text).length
    this.#text += length
    if (!aside) this.#prose += length
    if (length > 4 && text.includes('{{') && /\{\{[^{}]+\}\}/.test(text)) this.#templates++
  }

  #attributes(element: ElementNode): void {
    const { attributes } = element
    if (attributes['aria-busy'] === 'true' || loadingName.test(attribute(element, 'class'))) this.#loading++
    for (const name in attributes) if (templateAttribute.test(name)) this.#templates++
    // Alpine fills these; what they hold already, the server has filled in.
    if (element.children.length === 0 && ('x-text' in attributes || 'x-html' in attributes)) this.#templates++
  }

  #script(element: ElementNode): void {
    const { attributes } = element
    const type = attribute(element, 'type')
    if (dataScript.test(type)) return
    this.#scripts++
    const source = attributes['src']
    if (source === undefined) {
      const text = rawText(element)
      if (text.trim() !== '' && !isForeign(text)) this.#inline.push(text)
      return
    }
    if (tracker.test(source)) return
    this.#external++
    if (type === 'module' || bundle.test(source)) this.#application = true
  }

  /** The head holds scripts too; other silent elements say nothing. */
  #silent(element: ElementNode): void {
    if (element.tag !== 'head') return
    for (const child of elementsOf(element)) if (child.tag === 'script') this.#script(child)
  }
}

const isForeign = (code: string): boolean =>
  trackerCode.test(code) || (code.length <= longestSnippet && snippet.test(code))

/** Whether an element without text looks like a place that something is to be put into. */
function isHollow(element: ElementNode): boolean {
  const { tag, attributes, children } = element
  if (tag.includes('-')) return true
  if (!containers.has(tag)) return false
  if (children.some((child) => isElement(child) && /^(?:img|picture|video|audio|iframe|svg|canvas|input|form|object|embed)$/.test(child.tag))) return false // prettier-ignore
  return attributes['id'] !== undefined || tag === 'main' || tag === 'article' || tag === 'tbody' || tag === 'ul'
}

/** Signs in the HTML of a page of how complete it is without scripts. */
import { attribute, elementsOf, type ElementNode, isElement, isSilent, oneLine, rawText } from '../../extract/tree.ts'
import { loadingName } from './notices.ts'

export type PageSigns = ReturnType<typeof noSigns>

const noSigns = () => ({
  /** Visible text in characters, white space collapsed. */
  textLength: 0,
  /** Visible text without links, navigation, headers and footers, in characters. */
  proseLength: 0,
  /** Number of scripts, including trackers. */
  scripts: 0,
  /** Number of external scripts except trackers. */
  externalScripts: 0,
  /** Inline scripts except trackers. */
  inlineScripts: [] as string[],
  /** Whether there are module scripts or bundles of frameworks, by name. */
  application: false,
  /** Texts shown when scripts are disabled. */
  noscripts: [] as string[],
  /** Elements without text that look like containers for content. */
  empties: [] as ElementNode[],
  /** Number of loading indicators. */
  loading: 0,
  /** Number of `{{ name }}` placeholders and template attributes. */
  templates: 0,
})

const boilerplateTags = new Set(['nav', 'header', 'footer', 'aside'])
const containers = new Set('div section main article ul ol dl table tbody p span'.split(' '))
const dataScript = /json|template|x-handlebars|x-tmpl|speculationrules|importmap|ld\+/i
const tracker =
  /google-?analytics|googletagmanager|gtag\/js|gtm\.js|doubleclick|googlesyndication|adsbygoogle|facebook\.net|fbevents|hotjar|clarity\.ms|segment\.(com|io)|mixpanel|matomo|piwik|plausible|umami|cloudflareinsights|newrelic|nr-data|sentry|cookie-?(consent|law|bot)|onetrust|recaptcha|polyfill|jquery|bootstrap|prism|highlight\.|mathjax|katex|lazysizes|modernizr|html5shiv|wp-embed|wp-emoji|comment-reply|disqus/i
/** Identifiers in snippets of trackers, consent tools and ads. */
const trackerCode =
  /\b(?:dataLayer|gtag\(|fbq\(|_hsq|_gaq|GoogleAnalyticsObject|hotjar|hj\(|adsbygoogle|googletag|NREUM|newrelic|optimizely|OneTrust|OptanonWrapper|_wpemojiSettings|twemoji|clarity\(|ttq\.|_linkedin|pintrk|Intercom\(|drift\.|_satellite|Cookiebot|__cmp|__tcfapi|prebid|pbjs)\b/
/** Identifiers in snippets of hosts, caches, forms and ad servers, which do not write content. */
const snippet =
  /__CF\$cv\$params|wp-skip-link|nitroBeaconUrl|NITROPACK_STATE|\bNPRL\b|_vwo_code|_fs_script|\bAdButler\b|\bm3_u\b|gformInitSpinner|gform_pre_post_render|RocketElementorAnimation|RocketPreloadLinks|\blazyLoadThumb\b|createRootURLMiddleware/
/** Maximum length of such a snippet, in characters. */
const maxSnippetChars = 12_000
const bundle =
  /(?:^|[/._-])(?:app|main|index|bundle|chunk|runtime|vendors?|polyfills|client|entry|webpack|_next\/static|_nuxt|_app)[^/]{0,200}\.(?:m?js)/i
const templateAttribute =
  /^(?:v-(?:for|if|text|html|cloak)|ng-(?:app|repeat|bind|cloak|view|controller)|data-ng-|data-bind|x-for|\*ng|data-reactroot-empty)/

/** Collects the signs in one walk over the tree. */
export function signsOf(root: ElementNode): PageSigns {
  const signs = noSigns()
  visit(signs, root, false)
  return signs
}

function visit(signs: PageSigns, element: ElementNode, inBoilerplate: boolean): void {
  const { tag } = element
  if (tag === 'script') return addScript(signs, element)
  if (tag === 'noscript') return void signs.noscripts.push(rawText(element).trim())
  if (isSilent(element) && tag !== 'svg') {
    // The head is the only element without visible text that contains scripts and notices about them.
    if (tag === 'head')
      for (const child of elementsOf(element)) if (/^(?:no)?script$/.test(child.tag)) visit(signs, child, false)
    return
  }
  const isBoilerplate = inBoilerplate || boilerplateTags.has(tag) || tag === 'a' || tag === 'button'
  const before = signs.textLength
  addAttributes(signs, element)
  for (const child of element.children) {
    if (isElement(child)) visit(signs, child, isBoilerplate)
    else addText(signs, child.text, isBoilerplate)
  }
  if (signs.textLength === before && isContainer(element)) signs.empties.push(element)
}

function addText(signs: PageSigns, text: string, isBoilerplate: boolean): void {
  const length = text.trim() === '' ? 0 : oneLine(text).length
  signs.textLength += length
  if (!isBoilerplate) signs.proseLength += length
  if (length > 4 && text.includes('{{') && /\{\{[^{}]{1,1000}\}\}/.test(text)) signs.templates++
}

function addAttributes(signs: PageSigns, element: ElementNode): void {
  const { attributes } = element
  const names = attributes['class']
  if (attributes['aria-busy'] === 'true' || (names !== undefined && loadingName.test(names))) signs.loading++
  for (const name in attributes) if (templateAttribute.test(name)) signs.templates++
  // Alpine fills these elements; if they have content, the server has already filled them.
  if (element.children.length === 0 && ('x-text' in attributes || 'x-html' in attributes)) signs.templates++
}

function addScript(signs: PageSigns, element: ElementNode): void {
  const type = attribute(element, 'type')
  if (dataScript.test(type)) return
  signs.scripts++
  const source = element.attributes['src']
  if (source === undefined) {
    const text = rawText(element)
    const isThirdParty = trackerCode.test(text) || (text.length <= maxSnippetChars && snippet.test(text))
    if (text.trim() !== '' && !isThirdParty) signs.inlineScripts.push(text)
  } else if (!tracker.test(source)) {
    signs.externalScripts++
    if (type === 'module' || bundle.test(source)) signs.application = true
  }
}

/** Returns whether an element without text looks like a container that scripts fill. */
function isContainer(element: ElementNode): boolean {
  const { tag, attributes, children } = element
  if (tag.includes('-')) return true
  if (!containers.has(tag)) return false
  if (
    children.some(
      (child) =>
        isElement(child) && /^(?:img|picture|video|audio|iframe|svg|canvas|input|form|object|embed)$/.test(child.tag),
    )
  )
    return false
  return attributes['id'] !== undefined || tag === 'main' || tag === 'article' || tag === 'tbody' || tag === 'ul'
}

/**
 * Runs in an isolated world of a page: copies its document as HTML that shows the same without scripts and requests.
 * Sandbox and policy of the replay protect its reader; what is removed here would only be dead or misleading there.
 */
import { shownAlerts } from './alerts.page.ts'
import { holdsSecret } from '../elements/secret-field.page.ts'

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface SnapshotRequest {
  /** Prefix of the places for images and style sheets, which the page cannot guess. */
  readonly token: string
  /** The element to mark, in CSS pixels of the viewport. */
  readonly box?: Box | undefined
  readonly maxChars: number
}

export interface PageSnapshot {
  /** Missing when the document is too large or no HTML. */
  readonly html?: string
  readonly title: string
  readonly width: number
  readonly height: number
  readonly scrollX: number
  readonly scrollY: number
  /** URLs of the images and style sheets of other origins, by the number of their place. */
  readonly images: readonly string[]
  readonly sheets: readonly string[]
  /** Values that the copy does not show. */
  readonly secrets: readonly string[]
  readonly hiddenFrames: number
  /** Messages of errors that the page shows. */
  readonly alerts: readonly string[]
}

const dropped = new Set(
  (
    'script noscript link meta base object embed applet template noembed noframes audio source track param animate ' +
    'animatetransform animatemotion set head'
  ).split(' '),
)
const renamed: Readonly<Record<string, string>> = { xmp: 'pre', plaintext: 'pre', listing: 'pre', frameset: 'div' }
const empty = new Set(['area', 'br', 'col', 'hr', 'img', 'input', 'wbr'])
/** Attributes that load, lead elsewhere, or act. */
const acting = new Set(
  (
    'href src srcset srcdoc action formaction poster data background cite ping longdesc manifest imagesrcset xlink:href ' +
    'lowsrc dynsrc classid codebase archive nonce integrity autofocus autoplay target download is popover sandbox allow'
  ).split(' '),
)

export function snapshot(request: SnapshotRequest): PageSnapshot {
  const copy = new Copy(request, elementIn(request.box))
  const html = document.documentElement?.namespaceURI === 'http://www.w3.org/1999/xhtml' ? copy.document(document) : ''
  return {
    ...(html !== '' && !copy.full && { html }),
    title: document.title,
    width: innerWidth,
    height: innerHeight,
    scrollX,
    scrollY,
    images: copy.images,
    sheets: copy.sheets,
    secrets: [...copy.secrets],
    hiddenFrames: copy.hiddenFrames,
    alerts: shownAlerts(),
  }
}

/** Returns the innermost element with exactly this box. */
function elementIn(box: Box | undefined): Element | undefined {
  if (!box) return undefined
  const near = (a: number, b: number) => Math.abs(a - b) < 1
  const fits = (element: Element) => {
    const { x, y, width, height } = element.getBoundingClientRect()
    return near(x, box.x) && near(y, box.y) && near(width, box.width) && near(height, box.height)
  }
  const found: Element[] = []
  const visit = (root: Document | ShadowRoot) => {
    for (const element of root.querySelectorAll('*')) {
      if (fits(element)) found.push(element)
      if (element.shadowRoot) visit(element.shadowRoot)
    }
  }
  visit(document)
  return found.at(-1)
}

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one]!)

/** Removes what a style would fetch; the policy of the replay would refuse it anyway. */
const safeCss = (css: string): string =>
  css
    .replace(/url\(\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^)]*)\s*\)/gi, (url) =>
      /^url\(\s*["']?data:image\//i.test(url) && url.length < 20_000 ? url : 'none',
    )
    .replace(/:(?:any-link|link|-webkit-any-link)\b/g, '[data-bax-link]')
    .replace(/<\//g, '<\\/')

class Copy {
  readonly images: string[] = []
  readonly sheets: string[] = []
  readonly secrets = new Set<string>()
  hiddenFrames = 0
  readonly #request: SnapshotRequest
  readonly #target: Element | undefined
  #chars = 0
  #depth = 0

  constructor(request: SnapshotRequest, target: Element | undefined) {
    this.#request = request
    this.#target = target
  }

  get full(): boolean {
    return this.#chars > this.#request.maxChars
  }

  document(source: Document): string {
    const sheets = [...source.styleSheets].map((sheet) => this.#sheet(sheet)).join('')
    const { documentElement: root, body } = source
    const content = body ? this.#element(body) : ''
    const mode = source.compatMode === 'BackCompat' ? '' : '<!doctype html>'
    return `${mode}<html${this.#attributes(root)}><head>${sheets}${this.#adopted(source)}</head>${content}</html>`
  }

  #sheet(sheet: CSSStyleSheet): string {
    if (sheet.disabled) return ''
    const media = sheet.media.mediaText
    const open = media ? `<style media="${escaped(media)}">` : '<style>'
    return `${open}${this.#rules(sheet)}</style>`
  }

  #rules(sheet: CSSStyleSheet): string {
    let rules: CSSRuleList
    try {
      rules = sheet.cssRules
    } catch {
      // Scripts cannot read style sheets of other origins; the browser's copy is inserted here.
      return sheet.href ? this.#place('sheet', this.sheets, sheet.href) : ''
    }
    const text = Array.from(rules, (rule) => {
      if (rule instanceof CSSImportRule) return rule.styleSheet ? this.#rules(rule.styleSheet) : ''
      return rule instanceof CSSFontFaceRule ? '' : safeCss(rule.cssText)
    }).join('\n')
    this.#chars += text.length
    return text
  }

  #adopted(root: Document | ShadowRoot): string {
    return Array.from(root.adoptedStyleSheets, (sheet) => this.#sheet(sheet)).join('')
  }

  #place(kind: string, list: string[], url: string): string {
    let at = list.indexOf(url)
    if (at < 0) at = list.push(url) - 1
    return `${this.#request.token}-${kind}-${at};`
  }

  #nodes(nodes: NodeListOf<ChildNode>): string {
    let html = ''
    for (const node of nodes) {
      if (this.full) return html
      if (node.nodeType === Node.TEXT_NODE) {
        this.#chars += node.nodeValue!.length
        html += escaped(node.nodeValue!)
      } else if (node.nodeType === Node.ELEMENT_NODE) html += this.#element(node as Element)
    }
    return html
  }

  #element(element: Element): string {
    const { localName } = element
    const lower = localName.toLowerCase()
    // Styles of the document are copied from its list, which has the rules that scripts have added.
    if (dropped.has(lower)) return ''
    if (lower === 'style') return element.getRootNode() instanceof ShadowRoot ? this.#styleOf(element) : ''
    if (lower === 'iframe' || lower === 'frame' || lower === 'canvas' || lower === 'video') return this.#box(element)
    const name = renamed[lower] ?? (/^[a-z][\w.-]*$/i.test(localName) ? localName : 'span')
    const open = `<${name}${this.#attributes(element)}>`
    this.#chars += open.length + name.length
    if (empty.has(lower)) return open
    if (lower === 'textarea') return `${open}${this.#typed(element as HTMLTextAreaElement)}</${name}>`
    return `${open}${this.#shadow(element)}${this.#nodes(element.childNodes)}</${name}>`
  }

  #styleOf(element: Element): string {
    const { sheet } = element as HTMLStyleElement
    return sheet ? this.#sheet(sheet) : ''
  }

  #shadow({ shadowRoot }: Element): string {
    if (!shadowRoot) return ''
    const content = `${this.#adopted(shadowRoot)}${this.#nodes(shadowRoot.childNodes)}`
    return `<template shadowrootmode="open">${content}</template>`
  }

  /** Copies a frame, or fills the place of an element whose content scripts draw. */
  #box(element: Element): string {
    const { width, height } = element.getBoundingClientRect()
    const size = `width:${Math.round(width)}px;height:${Math.round(height)}px`
    const inner = element.localName.endsWith('frame') ? this.#frame(element as HTMLIFrameElement) : undefined
    if (inner !== undefined) return `<iframe sandbox${this.#attributes(element)} srcdoc="${escaped(inner)}"></iframe>`
    const what = element.localName.endsWith('frame') ? 'frame of another site' : element.localName
    return `<div${this.#attributes(element)} data-bax-missing="${what}: not recorded"><div style="${size}"></div></div>`
  }

  #frame(element: HTMLIFrameElement): string | undefined {
    const source = element.contentDocument
    if (!source || this.#depth >= 3) {
      this.hiddenFrames++
      return undefined
    }
    this.#depth++
    const html = this.document(source)
    this.#depth--
    return html
  }

  #attributes(element: Element): string {
    let text = ''
    for (const { name, value } of element.attributes) {
      const lower = name.toLowerCase()
      if (lower.startsWith('on') || lower.startsWith('data-bax-') || !/^[a-z_][\w:.-]*$/i.test(name)) continue
      if (acting.has(lower) && !(lower.endsWith('href') && value.startsWith('#') && !isLink(element))) continue
      if (['value', 'checked', 'selected'].includes(lower) && element.matches('input,option')) continue
      text += ` ${name}="${escaped(lower === 'style' ? safeCss(value) : value)}"`
    }
    return text + this.#state(element)
  }

  /** Returns attributes for what the page shows and its attributes do not say. */
  #state(element: Element): string {
    let text = element === this.#target ? ' data-bax-target' : ''
    if (isLink(element) && element.hasAttribute('href')) text += ' data-bax-link'
    if (element.localName === 'img') text += this.#image(element as HTMLImageElement)
    if (element.localName === 'option' && (element as HTMLOptionElement).selected) text += ' selected'
    if (element.localName !== 'input') return text
    const { type, checked } = element as HTMLInputElement
    if (checked) text += ' checked'
    return type === 'file' ? text : `${text} value="${this.#typed(element as HTMLInputElement)}"`
  }

  /** Returns the text of a field, unless it must not be stored. */
  #typed(field: HTMLInputElement | HTMLTextAreaElement): string {
    const { value } = field
    if (value === '' || !holdsSecret(field)) return escaped(value)
    this.secrets.add(value)
    return '********'
  }

  #image(image: HTMLImageElement): string {
    const { currentSrc: url } = image
    if (url === '') return ''
    if (url.startsWith('data:image/') && url.length < 100_000) return ` src="${escaped(url)}"`
    const { width, height } = image.getBoundingClientRect()
    const size =
      image.hasAttribute('width') || width === 0 ? '' : ` width="${Math.round(width)}" height="${Math.round(height)}"`
    return `${size} src="${this.#place('image', this.images, url)}"`
  }
}

const isLink = (element: Element): boolean => element.localName === 'a' || element.localName === 'area'

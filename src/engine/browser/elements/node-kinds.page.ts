/**
 * Runs in the page: recognizes kinds of nodes. Pages move elements into frames, as editors of web pages do; there,
 * `instanceof` does not recognize them, since each frame has constructors of its own.
 */

/** `instanceof` comes first: a form can hide its properties behind fields of the same name. */
export const isElement = (at: unknown): at is Element => at instanceof Element || (at as Node | null)?.nodeType === 1

export const isHtml = (at: unknown): at is HTMLElement =>
  at instanceof HTMLElement || (isElement(at) && at.namespaceURI === 'http://www.w3.org/1999/xhtml')

export const isInput = (at: unknown): at is HTMLInputElement => isHtml(at) && at.localName === 'input'

export const isShadowRoot = (at: Node): at is ShadowRoot =>
  at instanceof ShadowRoot || (at.nodeType === 11 && (at as ShadowRoot).host !== undefined)

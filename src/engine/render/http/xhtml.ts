/** Decides whether a page is parsed as XML, by its media type and its root element. */

const namespace = 'http://www.w3.org/1999/xhtml'

/** Length of a start tag of `<html>` with all its namespaces, in characters. */
const maxTag = 4096

/**
 * `declared`: by its media type, or by an XML declaration where no type tells. `possible`: a file without either whose
 * root element is in the XHTML namespace; many such pages were written for HTML parsers.
 */
export type XhtmlSyntax = 'declared' | 'possible' | undefined

/** Returns whether a page is XHTML. Browsers parse all `text/html` as HTML, whatever the page declares. */
export function xhtmlSyntax(text: string, mediaType: string): XhtmlSyntax {
  if (mediaType === 'text/html') return undefined
  if (/^(?:application|text)\/(?:[\w.-]+\+)?xml$/.test(mediaType)) return 'declared'
  if (!hasXhtmlRoot(text)) return undefined
  return /^\ufeff?<\?xml\s/.test(text) ? 'declared' : 'possible'
}

/** Whether the root element is `<html>` in the XHTML namespace. */
export function hasXhtmlRoot(text: string): boolean {
  const at = rootOffset(text)
  const tag = /^<(?:[\w.-]+:)?html\s[^>]*/.exec(text.slice(at, at + maxTag))?.[0]
  return tag !== undefined && tag.includes(namespace)
}

/** Returns the offset of the root element: after the XML declaration, comments and the document type. */
export function rootOffset(text: string): number {
  let at = 0
  for (;;) {
    at = endOf(/\s*/y, text, at)
    let end = at
    if (text.startsWith('<?', at)) end = after(text, '?>', at)
    else if (text.startsWith('<!--', at)) end = after(text, '-->', at)
    else if (text.startsWith('<!', at)) end = endOf(documentType, text, at)
    if (end === at) return at
    at = end
  }
}

/** A document type, which may contain declarations in brackets. */
const documentType = /<!doctype(?:[^>["']|"[^"]*"|'[^']*'|\[(?:[^\]"']|"[^"]*"|'[^']*')*\])*>/iy

/** Returns the end of a match at an offset, or the offset. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return at + (pattern.exec(text)?.[0].length ?? 0)
}

/** Returns the offset after a mark, or `from` without one. */
function after(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from)
  return at < 0 ? from : at + mark.length
}

/** Encodes the queries of a page's URLs in the encoding of the page, as the URL Standard requires. */

/** Encodes a query, without its question mark. */
export type QueryEncoder = (query: string) => string

/** Attributes that are a URL. */
const urlNames = /^(?:href|xlink:href|src|action|formaction|cite|poster|data|background|longdesc)$/
/** Attributes that are lists of URLs with descriptors, and those in which scripts keep the URLs of images. */
const listNames = /^(?:(?:image)?srcset$|data-.*(?:src|url|href|image|img|lazy|original|thumb))/

/** A query with characters outside ASCII. Their encoding in other parts of URLs is always UTF-8. */
const queryToEncode = /^[^?#]*\?[^#]*[^\0-\u007f]/
/** A scheme whose queries are always UTF-8. */
const otherScheme = /^(?!https?:|ftp:|file:)[a-z][a-z\d+.-]*:/i

/** Encodes the queries in the attributes of an element. */
export function encodeQueries(tag: string, attributes: Record<string, string>, encode: QueryEncoder): void {
  const encoded = (url: string): string => (queryToEncode.test(url) ? encodedUrl(url, encode) : url)
  for (const [name, value] of Object.entries(attributes)) {
    if (isAscii.test(value)) continue
    const isRefresh = name === 'content' && tag === 'meta' && attributes['http-equiv']?.toLowerCase() === 'refresh'
    if (urlNames.test(name)) attributes[name] = encoded(value)
    else if (listNames.test(name))
      attributes[name] = value
        .split(/([\t\n\f\r ])/)
        .map(encoded)
        .join('')
    else if (isRefresh)
      attributes[name] = value
        .split(/([\s"'])/)
        .map(encoded)
        .join('')
  }
}

const isAscii = /^[\0-\u007f]*$/

function encodedUrl(typed: string, encode: QueryEncoder): string {
  // Parsers remove line breaks and tabs first, and white space around the URL.
  const url = typed.replaceAll(/[\t\n\r]/g, '').replace(/^[\0- ]+/, '')
  if (otherScheme.test(url)) return typed
  let end = url.length
  while (url.charCodeAt(end - 1) <= 0x20) end--
  return url.slice(0, end).replace(/^([^?#]*\?)([^#]*)/, (_, before: string, query: string) => before + encode(query))
}

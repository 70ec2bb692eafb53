/** Links in the `Link` headers of a response (RFC 8288). */
import type { ResponseHeaders } from '../egress/response-headers.ts'
import { resolveUrl } from '../extract/urls.ts'

interface HeaderLink {
  readonly url: string
  /** Lower-case relation types, separated by spaces. */
  readonly rel: string
  readonly type: string
}

/** Characters of a header that are read. */
const maxHeader = 16_384

/** Target and parameters of a link. */
const link = /<([^>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s",;]+))*)/g

/** Returns the links in the headers of a page; URLs are absolute. */
export const headerLinks = (headers: ResponseHeaders, base: string): HeaderLink[] =>
  headers.all('link').flatMap((line) =>
    [...line.slice(0, maxHeader).matchAll(link)].flatMap(([, href = '', params = '']) => {
      const url = resolveUrl(href.trim(), base)
      return url ? [{ url, rel: paramOf(params, 'rel').toLowerCase(), type: paramOf(params, 'type') }] : []
    }),
  )

/** Whether a list of relation types contains one. */
export const hasRelation = (rel: string, relation: string): boolean => rel.toLowerCase().split(/\s/).includes(relation)

const paramOf = (params: string, name: string): string => {
  const [, quoted, plain] = new RegExp(`;\\s*${name}\\s*=\\s*(?:"([^"]*)"|([^\\s",;]+))`, 'i').exec(params) ?? []
  return quoted ?? plain ?? ''
}

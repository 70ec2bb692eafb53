/** Finds the ends of markup that contains no tags: the text of elements such as `<script>`, and document types. */
import type { Token } from 'parse5'

/** Returns the offset of the end tag of an element such as `<title>`, or of the end of the text. */
export function tagEnd(text: string, from: number, name: string): number {
  const pattern = new RegExp(`</${name}(?=[\\t\\n\\f />])`, 'gi')
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? text.length
}

/** Returns the offset of the end tag of a script; `<!-- <script>` hides one. */
export function scriptEnd(text: string, from: number): number {
  const pattern = /<!--|-->|<\/?script(?=[\t\n\f />])/gi
  pattern.lastIndex = from
  let state: 'data' | 'escaped' | 'double' = 'data'
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const [mark] = found
    if (mark === '<!--') {
      if (state === 'data') state = 'escaped'
      // `<!-->` is also its end.
      pattern.lastIndex = found.index + 2
    } else if (mark === '-->') state = 'data'
    else if (mark.length === '<script'.length) {
      if (state === 'escaped') state = 'double'
    } else if (state === 'double') state = 'escaped'
    else return found.index
  }
  return text.length
}

/** Returns the text and the end of a comment after `<!--`. */
export function commentIn(text: string, from: number): { data: string; end: number } {
  const abrupt = /-?>/y
  abrupt.lastIndex = from
  if (abrupt.test(text)) return { data: '', end: abrupt.lastIndex }
  const close = /--!?>/g
  close.lastIndex = from
  const found = close.exec(text)
  if (found) return { data: text.slice(from, found.index), end: close.lastIndex }
  // At the end of the text, the beginning of an end mark is not part of the comment.
  return { data: text.slice(from).replace(/(?:--!|--?)$/, ''), end: text.length }
}

type Doctype = Pick<Token.DoctypeToken, 'name' | 'publicId' | 'systemId' | 'forceQuirks'>

/** Parses a document type after `<!doctype`. */
export function doctypeIn(text: string, from: number): { token: Doctype; end: number } {
  // A quoted identifier ends at `>` too.
  const close = text.indexOf('>', from)
  const isClosed = close >= 0
  const source = text.slice(from, isClosed ? close : text.length).replaceAll('\0', '\ufffd')
  const token: Doctype = { name: null, publicId: null, systemId: null, forceQuirks: !isClosed }
  const end = isClosed ? close + 1 : text.length
  const named = withoutSpace(source)
  if (named === '') return { token: { ...token, forceQuirks: true }, end }
  const nameEnd = named.search(space)
  const name = nameEnd === -1 ? named : named.slice(0, nameEnd)
  token.name = name.replaceAll(/[A-Z]{1,100}/g, (letters) => letters.toLowerCase())
  const rest = withoutSpace(named.slice(name.length))
  if (rest === '') return { token, end }
  const [keyword] = /^(?:public|system)/i.exec(rest) ?? []
  if (keyword === undefined) return { token: { ...token, forceQuirks: true }, end }
  const isPublic = keyword.toLowerCase() === 'public'
  const [first, ...others] = identifiers(withoutSpace(rest.slice(keyword.length)))
  if (first?.id === undefined) return { token: { ...token, forceQuirks: true }, end }
  if (!isPublic)
    return {
      token: { ...token, systemId: first.id, forceQuirks: !first.isClosed || (!isClosed && others.length === 0) },
      end,
    }
  const [second, third] = others
  token.publicId = first.id
  token.systemId = second?.id ?? null
  // Text after the identifiers is ignored, also at the end of the text; text in place of the second identifier has no `id`.
  const isValid = first.isClosed && (!second || (second.id !== undefined && second.isClosed))
  return { token: { ...token, forceQuirks: !isValid || (!isClosed && !third) }, end }
}

const space = /[\t\n\f ]/

/** Removes white space from the beginning of a text, which may have millions of characters of it. */
function withoutSpace(text: string): string {
  const start = text.search(/[^\t\n\f ]/)
  return start === -1 ? '' : text.slice(start)
}

interface Identifier {
  /** Undefined for text without quotes. */
  readonly id: string | undefined
  readonly isClosed: boolean
}

/** Returns up to three quoted identifiers at the beginning of a text, and what is not quoted as the last one. */
function identifiers(text: string, most = 3): Identifier[] {
  if (text === '' || most === 0) return []
  const quote = text[0]!
  if (quote !== '"' && quote !== "'") return [{ id: undefined, isClosed: false }]
  const close = text.indexOf(quote, 1)
  if (close === -1) return [{ id: text.slice(1), isClosed: false }]
  return [{ id: text.slice(1, close), isClosed: true }, ...identifiers(withoutSpace(text.slice(close + 1)), most - 1)]
}

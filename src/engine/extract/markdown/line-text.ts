/** Writes the tokens of a line as Markdown; emphasis that cannot be expressed is moved or omitted, text never is. */
import {
  canOpen,
  codeSpan,
  type Edge,
  escapeUrl,
  escapeLineStart,
  escapeText,
  firstChar,
  isDefinedByCode,
  lastChar,
  leadingPunctuation,
  mayBeMarkup,
  trailingPunctuation,
} from './escape.ts'

export type Mark = 'strong' | 'em' | 'del'
export type Span = { readonly mark: Mark } | { readonly url: string }

export type Token =
  | { kind: 'text'; value: string }
  | { kind: 'code'; value: string }
  | { kind: 'atom'; readonly value: string }
  | { kind: 'open' | 'close'; readonly span: Span }
  | { kind: 'break' }

const delimiters: Record<Mark, string> = { strong: '**', em: '*', del: '~~' }

/** The context of a line: a paragraph, where blocks may begin, a heading, or a table cell. */
export type LineContext = 'paragraph' | 'heading' | 'cell'

/** Returns the line as Markdown. */
export function lineText(source: Token[], place: LineContext): string {
  const tokens = readable(source)
  // A code span in a table cell cannot contain a backslash followed by a bar.
  if (place === 'cell' && tokens.some((token) => token.kind === 'code' && token.value.includes('\\|')))
    return asWords(source, place)
  let out = ''
  let inLink = 0
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!
    switch (token.kind) {
      case 'text':
        out += mayBeMarkup(token.value)
          ? escapeText(token.value, edgeBefore(tokens, at), edgeAfter(tokens, at), inLink > 0)
          : token.value
        break
      case 'code':
        out += codeSpan(token.value)
        break
      case 'atom':
        out += token.value
        break
      case 'break':
        out += `\\\n`
        break
      default:
        out += delimiter(token)
        if ('url' in token.span) inLink += token.kind === 'open' ? 1 : -1
    }
  }
  const text = withoutBreaks(out)
  if (place === 'cell') return text.replaceAll('|', '\\|')
  if (place === 'heading') return text
  if (!text.includes('\n')) return isDefinedByCode(text) ? asWords(source, place) : escapeLineStart(text)
  const lines = text.split('\n')
  return lines.some(isDefinedByCode) ? asWords(source, place) : lines.map(escapeLineStart).join('\n')
}

/** Returns the line with the code in it as text. */
const asWords = (source: Token[], place: LineContext): string => lineText(source.map(withoutCode), place)

/** Removes hard breaks and white space at both ends. */
function withoutBreaks(line: string): string {
  let text = line.trimStart()
  while (text.startsWith('\\\n')) text = text.slice(2).trimStart()
  for (;;) {
    const rest = text.trimEnd()
    if (!rest.endsWith('\\') || text[rest.length] !== '\n') return rest
    text = rest.slice(0, -1)
  }
}

const withoutCode = (token: Token): Token => (token.kind === 'code' ? { kind: 'text', value: token.value } : token)

function delimiter({ kind, span }: { kind: 'open' | 'close'; span: Span }): string {
  if ('mark' in span) return delimiters[span.mark]
  return kind === 'open' ? '[' : `](${escapeUrl(span.url)})`
}

/** Moves punctuation out of emphasis (`**“a”**b` is not bold) and drops emphasis that remains unreadable. */
function readable(source: Token[]): Token[] {
  if (!source.some(isMark) || isReadable(source)) return source
  const tokens = source.map((token) => (token.kind === 'text' ? { ...token } : token))
  for (let at = 0; at < tokens.length; at++) if (isMark(tokens[at]!)) movePunctuation(tokens, at)
  const filled = tokens.filter((token) => token.kind !== 'text' || token.value !== '')
  const dropped = new Set<Span>(emptySpans(filled))
  let rest = filled
  // Marks that are dropped change what is beside the others.
  for (let size = -1; size < dropped.size;) {
    size = dropped.size
    rest = rest.filter((token) => !isMark(token) || !dropped.has(token.span))
    for (const [at, token] of rest.entries()) if (isMark(token) && !flanks(rest, at)) dropped.add(token.span)
  }
  return merged(rest)
}

/** Whether a line, as most, needs no changes: all emphasis is readable, nothing is empty, and nothing can be merged. */
function isReadable(tokens: Token[]): boolean {
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!
    const next = tokens[at + 1]?.kind
    if (token.kind === 'open' && (next === 'close' || next === 'break')) return false
    if ((token.kind === 'text' || token.kind === 'code') && (token.value === '' || token.kind === next)) return false
    if (isMark(token) && !flanks(tokens, at)) return false
  }
  return true
}

/** Merges adjacent text tokens and adjacent code tokens. */
function merged(tokens: Token[]): Token[] {
  const out: Token[] = []
  for (const token of tokens) {
    const last = out.at(-1)
    const joins = (token.kind === 'text' || token.kind === 'code') && last?.kind === token.kind
    if (joins) out[out.length - 1] = { ...token, value: last.value + token.value }
    else out.push(token)
  }
  return out
}

function isMark(token: Token): token is { kind: 'open' | 'close'; span: { readonly mark: Mark } } {
  return (token.kind === 'open' || token.kind === 'close') && 'mark' in token.span
}

/** Yields spans without content. */
function* emptySpans(tokens: Token[]): Generator<Span> {
  const filledAt = new Map<Span, number>()
  let filled = 0
  for (const token of tokens) {
    if (token.kind === 'text' || token.kind === 'code' || token.kind === 'atom') filled++
    else if (token.kind === 'open') filledAt.set(token.span, filled)
    else if (token.kind === 'close' && filledAt.get(token.span) === filled) yield token.span
  }
}

function movePunctuation(tokens: Token[], at: number): void {
  const { kind } = tokens[at] as { kind: 'open' | 'close' }
  const [inside, outside] = kind === 'open' ? [tokens[at + 1], tokens[at - 1]] : [tokens[at - 1], tokens[at + 1]]
  if (inside?.kind !== 'text' || outside?.kind !== 'text' || flanks(tokens, at)) return
  if (kind === 'open') {
    const length = leadingPunctuation(inside.value)
    outside.value += inside.value.slice(0, length)
    inside.value = inside.value.slice(length)
  } else {
    const from = trailingPunctuation(inside.value)
    outside.value = inside.value.slice(from) + outside.value
    inside.value = inside.value.slice(0, from)
  }
}

const isDeletionMark = (token: Token | undefined): boolean =>
  token !== undefined && isMark(token) && token.span.mark === 'del'

/** Whether the delimiter run that contains this token can open or close its span. */
function flanks(tokens: Token[], at: number): boolean {
  const isDeletion = isDeletionMark(tokens[at])
  const continues = (other: Token | undefined) =>
    other !== undefined && isMark(other) && isDeletionMark(other) === isDeletion
  let start = at
  while (continues(tokens[start - 1])) start--
  let end = at
  while (continues(tokens[end + 1])) end++
  // `**a***b*`: a run that ends one span and begins another is ambiguous.
  const isFirst = tokens[start]!.kind === tokens[at]!.kind
  const before = edgeBefore(tokens, start)
  const after = edgeAfter(tokens, end)
  return tokens[at]!.kind === 'open' ? isFirst && canOpen(before, after) : canOpen(after, before)
}

/** Returns the output character before a token; undefined at the start of a line. */
const edgeBefore = (tokens: Token[], at: number): Edge => edge(tokens[at - 1], lastChar, undefined, ')')

/** Returns the output character after a token; a hard break is written as a backslash. */
const edgeAfter = (tokens: Token[], at: number): Edge => edge(tokens[at + 1], firstChar, '\\', ']')

function edge(token: Token | undefined, charOf: (text: string) => Edge, lineBreak: Edge, linkEnd: string): Edge {
  if (token === undefined) return undefined
  if (token.kind === 'break') return lineBreak
  if (token.kind === 'code') return '`'
  if (token.kind === 'text' || token.kind === 'atom') return charOf(token.value)
  return 'mark' in token.span ? '*' : token.kind === 'open' ? '[' : linkEnd
}

/** Escapes text, with a backslash only where Markdown would read a character as markup. */

const markup = /\*{1,1000}|_{1,1000}|~{1,1000}|`{1,1000}|[\\[\]<&!]|https?:\/\/|www\./gi
/** A URL, up to the next white space, that GitHub's Markdown turns into a link as a whole. */
const bareUrl =
  /(?:https?:\/\/|www\.)[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63})+(?:[/?#:](?:[\w./?#=&%+,:;@!$()-]*[a-z\d/=&%+@$-])?)?[.,:;!?)]*(?!\S)/iy
/** In words longer than `longWord` only `maxUrls` possible URLs are matched, because each is read to its end. */
const longWord = 2000
const maxUrls = 20
/** Longer words are no links: matching millions of characters throws a RangeError. */
const longestUrl = 100_000
const entities = /&((?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});)/gi
const entity = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/iy
const punctuation = /[\p{P}\p{S}]/u
const gap = /\s/
const nextGap = /\s/g

export type Edge = string | undefined

const isGap = (char: Edge): boolean => char === undefined || char === '' || gap.test(char)
const isPunctuation = (char: Edge): boolean => char !== undefined && punctuation.test(char)

/** Returns how parsers may classify a character: some see surrogate halves, and do not recognize them as symbols. */
const readings = (char: Edge): Edge[] => (isSimple(char) ? [char] : ['a', '!'])

/** Whether all parsers classify a character alike. */
const isSimple = (char: Edge): boolean => char === undefined || char.length <= 1

const opens = (before: Edge, after: Edge): boolean =>
  !isGap(after) && (!isPunctuation(after) || isGap(before) || isPunctuation(before))

/** Whether in every parser a run of `*` or `~` can open emphasis between these characters, or close it in reverse. */
export const canOpen = (before: Edge, after: Edge): boolean =>
  isSimple(before) && isSimple(after)
    ? opens(before, after)
    : readings(before).every((left) => readings(after).every((right) => opens(left, right)))

const mayOpen = (before: Edge, after: Edge): boolean =>
  isSimple(before) && isSimple(after)
    ? opens(before, after)
    : readings(before).some((left) => readings(after).some((right) => opens(left, right)))

/** Returns the length of the punctuation at the start of a text. */
export function leadingPunctuation(text: string): number {
  const at = text.search(/[^\p{P}\p{S}\s]/u)
  return at === -1 ? text.length : at
}

/** Returns the offset of the punctuation at the end of a text. */
export function trailingPunctuation(text: string): number {
  let at = text.length
  while (at > 0) {
    const size = at > 1 && /[\udc00-\udfff]/.test(text[at - 1]!) ? 2 : 1
    if (!/^[\p{P}\p{S}\s]$/u.test(text.slice(at - size, at))) break
    at -= size
  }
  return at
}

/** Return the first or last whole character of a text. */
export const firstChar = (text: string): Edge => (text === '' ? undefined : String.fromCodePoint(text.codePointAt(0)!))
export const lastChar = (text: string): Edge => {
  const low = /[\udc00-\udfff]/.test(text.at(-1) ?? '')
  return text === '' ? undefined : text.slice(low ? -2 : -1)
}

/** Whether `escapeText` may change a text; most texts stay as they are. The colon is that of a URL. */
export const mayBeMarkup = (text: string): boolean => /[*_~\\`[\]<&!:]|[Ww]{3}\./.test(text)

/** Escapes running text between two characters of the output; `inLink`: whether it is inside `[…]`. */
export function escapeText(text: string, before: Edge, after: Edge, inLink: boolean): string {
  let out = ''
  let done = 0
  const word = { end: 0, tries: 0 }
  markup.lastIndex = 0
  for (let found = markup.exec(text); found; found = markup.exec(text)) {
    const at = found.index
    const [sign] = found
    if (/^[hw]/i.test(sign)) {
      if (inLink) continue
      if (at >= word.end) Object.assign(word, { end: gapAfter(text, at), tries: 0 })
      const rest = word.end - at
      const isRead = rest <= longWord || (rest <= longestUrl && word.tries++ < maxUrls)
      const length = isRead ? urlLength(text, at, before, after) : 0
      // A URL that would not become a link as a whole is escaped at its start, and then treated as text.
      if (length > 0) markup.lastIndex = at + length
      else {
        const end = at + sign.search(/[:.]/)
        out += `${text.slice(done, end)}\\`
        done = end
      }
      continue
    }
    if (!needsEscape(text, at, sign, before, after, inLink)) continue
    out += text.slice(done, at) + (sign.length === 1 ? `\\${sign}` : sign.replaceAll(/./g, String.raw`\$&`))
    done = at + sign.length
  }
  return out + text.slice(done)
}

function gapAfter(text: string, from: number): number {
  nextGap.lastIndex = from
  return nextGap.exec(text)?.index ?? text.length
}

function urlLength(text: string, at: number, before: Edge, after: Edge): number {
  if (/[a-z\d]/i.test(text[at - 1] ?? before ?? '')) return 0
  bareUrl.lastIndex = at
  const length = bareUrl.exec(text)?.[0].length ?? 0
  const whole = at + length < text.length || isGap(after)
  return whole && text.slice(at, at + length).search(entities) < 0 ? length : 0
}

function needsEscape(text: string, at: number, sign: string, before: Edge, after: Edge, inLink: boolean): boolean {
  const next = at + 1 < text.length ? text[at + 1] : after
  switch (sign[0]) {
    case '`':
      return true
    case '\\':
      return next === undefined || /[!-/:-@[-`{-~\n]/.test(next)
    case '<':
      return next !== undefined && /[a-z/!?]/i.test(next)
    case '&':
      entity.lastIndex = at
      return entity.test(text)
    case '!':
      return next === '['
    case '[':
      return inLink || next === '^'
    case ']':
      return inLink || next === '(' || (next === '[' && at + 1 >= text.length)
    default:
      return runNeedsEscape(text, at, sign, before, after)
  }
}

/** `*`, `_` and `~` are markup when their run can open or close something. */
function runNeedsEscape(text: string, at: number, run: string, before: Edge, after: Edge): boolean {
  const end = at + run.length
  const left = at > 0 ? lastChar(text.slice(Math.max(0, at - 2), at)) : before
  const right = end < text.length ? firstChar(text.slice(end, end + 2)) : after
  const starts = mayOpen(left, right)
  const ends = mayOpen(right, left)
  // An underscore inside a word is not markup.
  if (run[0] === '_' && starts && ends) return [left, right].some((side) => readings(side).some(isPunctuation))
  return starts || ends
}

/** Whether a line would be read as a definition because of a code span, where nothing can be escaped. */
export const isDefinedByCode = (line: string): boolean => definedBy(line)?.replaceAll(/\\./g, '').includes('`') === true

/** Returns the label of a line that would be read as a definition: `a` of `[a]: b`. */
function definedBy(line: string): string | undefined {
  if (line[0] !== '[') return undefined
  const sign = /[[\]\\\n]/g
  sign.lastIndex = 1
  for (let found = sign.exec(line); found; found = sign.exec(line)) {
    const at = found.index
    if (line[at] === ']') return line[at + 1] === ':' && at > 1 ? line.slice(1, at) : undefined
    if (line[at] !== '\\' || !/./.test(line[at + 1] ?? '')) return undefined
    sign.lastIndex = at + 2
  }
  return undefined
}

/** Characters with which no markup begins. */
const plainStart = /[a-z\u0080-\uffff]/i

/** Escapes the start of a paragraph's line that would be read as a heading, list item, rule, quote or definition. */
export function escapeLineStart(line: string): string {
  const first = line[0]
  if (first === undefined || plainStart.test(first)) return line
  if (/^>|^(?:#{1,6}|[-+*])(?:\s|$)|^~{3}/.test(line)) return `\\${line}`
  if (first === '=' && !/[^=]/.test(line.trimEnd())) return `\\${line}`
  if ((first === '_' || first === '*') && !/[^_* \t]/.test(line) && /(?:[_*][ \t]{0,9}){3}/.test(line))
    return `\\${line}`
  if ((first === '-' || first === ':' || first === '|') && !/[^-:| \t]/.test(line) && line.includes('-'))
    return `\\${line}`
  const number = /^(\d{1,9})([.)](?:\s|$))/.exec(line)
  if (number) return `${number[1]}\\${line.slice(number[1]!.length)}`
  const label = definedBy(line)
  return label === undefined ? line : `[${label}]\\${line.slice(label.length + 2)}`
}

/** Returns a code span with exactly this text. */
export function codeSpan(text: string): string {
  const fence = '`'.repeat(freeRun(text))
  const isSpaced = text.startsWith(' ') && text.endsWith(' ')
  const padded = (isSpaced || text.startsWith('`') || text.endsWith('`')) && text.trim() !== '' ? ` ${text} ` : text
  return `${fence}${padded}${fence}`
}

/** Returns the length of the shortest run of backticks that does not occur in the text. */
function freeRun(text: string): number {
  const taken = new Set((text.match(/`{1,1000000}/g) ?? []).map((run) => run.length))
  let length = 1
  while (taken.has(length)) length++
  return length
}

/** Escapes a run of # at the end of a heading, which Markdown reads as its closing sequence. */
export function escapeHeadingEnd(text: string): string {
  let end = text.length
  while (text[end - 1] === '#') end--
  const closes = end < text.length && (end === 0 || /\s/.test(text[end - 1]!))
  return closes ? `${text.slice(0, end)}\\${text.slice(end)}` : text
}

/** Escapes a URL for the parentheses of a link. */
export function escapeUrl(url: string): string {
  if (!/[\s<>\\&()]/.test(url)) return url
  const safe = url.replaceAll(/[\s<>\\]/g, (char) => encodeURIComponent(char)).replaceAll(entities, '&amp;$1')
  return balanced(safe) ? safe : safe.replaceAll('(', '%28').replaceAll(')', '%29')
}

function balanced(url: string): boolean {
  let open = 0
  for (const char of url) {
    if (char === '(') open++
    if (char === ')' && --open < 0) return false
    if (open > 30) return false
  }
  return open === 0
}

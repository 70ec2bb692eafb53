/** Escaping of text: a backslash exactly where Markdown would read a character as markup. */

const markup = /\*+|_+|~+|[\\`[\]<&!]|https?:\/\/|www\./gi
/** An address that GitHub's Markdown turns into a link by itself, with all its characters, up to the next gap. */
const bareAddress =
  /(?:https?:\/\/|www\.)[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63})+(?:[/?#:](?:[\w./?#=&%+,:;@!$()-]*[a-z\d/=&%+@$-])?)?[.,:;!?)]*(?!\S)/iy
/** Beginnings of addresses that are looked at in a word longer than this: each is read up to its end. */
const longWord = 2000
const mostAddresses = 20
const entities = /&((?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});)/gi
const entity = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/iy
const punctuation = /[\p{P}\p{S}]/u
const gap = /\s/
const nextGap = /\s/g

export type Edge = string | undefined

const isGap = (char: Edge): boolean => char === undefined || char === '' || gap.test(char)
const isPunctuation = (char: Edge): boolean => char !== undefined && punctuation.test(char)

/** Some readers look at halves of wide characters, and then do not see that a symbol is one: it may be either. */
const readings = (char: Edge): Edge[] => (char !== undefined && char.length > 1 ? ['a', '!'] : [char])

const opens = (before: Edge, after: Edge): boolean =>
  !isGap(after) && (!isPunctuation(after) || isGap(before) || isPunctuation(before))

/** Whether every reader lets a run of `*` or `~` between these characters open emphasis. */
export const canOpen = (before: Edge, after: Edge): boolean =>
  readings(before).every((left) => readings(after).every((right) => opens(left, right)))

/** Whether every reader lets a run of `*` or `~` between these characters close emphasis. */
export const canClose = (before: Edge, after: Edge): boolean => canOpen(after, before)

const mayOpen = (before: Edge, after: Edge): boolean =>
  readings(before).some((left) => readings(after).some((right) => opens(left, right)))

/** Length of the punctuation at the start of a text. */
export const leadingPunctuation = (text: string): number => /^[\p{P}\p{S}\s]*/u.exec(text)![0].length

/** Where the punctuation at the end of a text begins. */
export function trailingPunctuation(text: string): number {
  let at = text.length
  while (at > 0) {
    const size = at > 1 && /[\udc00-\udfff]/.test(text[at - 1]!) ? 2 : 1
    if (!/^[\p{P}\p{S}\s]$/u.test(text.slice(at - size, at))) break
    at -= size
  }
  return at
}

/** The first or last whole character of a text. */
export const firstChar = (text: string): Edge => (text === '' ? undefined : String.fromCodePoint(text.codePointAt(0)!))
export const lastChar = (text: string): Edge => {
  const low = /[\udc00-\udfff]/.test(text.at(-1) ?? '')
  return text === '' ? undefined : text.slice(low ? -2 : -1)
}

/** Escapes a piece of running text that stands between two characters of the output; `inLink` inside `[…]`. */
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
      const isRead = word.end - at <= longWord || word.tries++ < mostAddresses
      const length = isRead ? addressLength(text, at, before, after) : 0
      // Where the address would not be read as it stands, its beginning is escaped, and it is text like any other.
      if (length > 0) markup.lastIndex = at + length
      else {
        const end = at + sign.search(/[:.]/)
        out += `${text.slice(done, end)}\\`
        done = end
      }
      continue
    }
    if (!needsEscape(text, at, sign, before, after, inLink)) continue
    out += text.slice(done, at) + sign.replaceAll(/./g, String.raw`\$&`)
    done = at + sign.length
  }
  return out + text.slice(done)
}

function gapAfter(text: string, from: number): number {
  nextGap.lastIndex = from
  return nextGap.exec(text)?.index ?? text.length
}

function addressLength(text: string, at: number, before: Edge, after: Edge): number {
  if (/[a-z\d]/i.test(text[at - 1] ?? before ?? '')) return 0
  bareAddress.lastIndex = at
  const length = bareAddress.exec(text)?.[0].length ?? 0
  const whole = at + length < text.length || isGap(after)
  return whole && text.slice(at, at + length).search(entities) < 0 ? length : 0
}

function needsEscape(text: string, at: number, sign: string, before: Edge, after: Edge, inLink: boolean): boolean {
  const next = at + 1 < text.length ? text[at + 1] : after
  switch (sign) {
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
  const left = at > 0 ? charBefore(text, at) : before
  const right = end < text.length ? firstChar(text.slice(end, end + 2)) : after
  const starts = mayOpen(left, right)
  const ends = mayOpen(right, left)
  // Inside a word an underscore is only an underscore.
  if (run[0] === '_' && starts && ends) return [left, right].some((side) => readings(side).some(isPunctuation))
  return starts || ends
}

const charBefore = (text: string, at: number): Edge => lastChar(text.slice(Math.max(0, at - 2), at))

/** Whether a line would be read as a definition because of what stands in a code span, where nothing can be escaped. */
export const isDefinedByCode = (line: string): boolean => definedBy(line)?.replaceAll(/\\./g, '').includes('`') === true

/** The label of the definition as which a line would be read: `a` of `[a]: b`. */
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

/** No markup begins with these. */
const plainStart = /[a-z\u0080-\uffff]/i

/** Escapes what would make a block of a line of a paragraph: a heading, a list item, a rule, a quote, a definition. */
export function escapeLineStart(line: string): string {
  const first = line[0]
  if (first === undefined || plainStart.test(first)) return line
  if (/^(?:#{1,6}|[-+*])(?:\s|$)/.test(line) || first === '>') return `\\${line}`
  if (
    (/^[-:|][-:| \t]*$/.test(line) && line.includes('-')) ||
    /^=+\s*$/.test(line) ||
    /^(?:(?:[_*][ \t]*){3,}$|~{3})/.test(line)
  )
    return `\\${line}`
  const number = /^(\d{1,9})([.)](?:\s|$))/.exec(line)
  if (number) return `${number[1]}\\${line.slice(number[1]!.length)}`
  const label = definedBy(line)
  if (label !== undefined) return `[${label}]\\${line.slice(label.length + 2)}`
  return line
}

/** A code span that holds exactly this text. */
export function codeSpan(text: string): string {
  const fence = '`'.repeat(freeRun(text))
  const padded = /^`|`$|^ .* $/.test(text) && text.trim() !== '' ? ` ${text} ` : text
  return `${fence}${padded}${fence}`
}

/** Length of the shortest run of backticks that does not occur in the text. */
function freeRun(text: string): number {
  const taken = new Set((text.match(/`+/g) ?? []).map((run) => run.length))
  let length = 1
  while (taken.has(length)) length++
  return length
}

/** An address as it stands between the parentheses of a link. */
export function escapeAddress(url: string): string {
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

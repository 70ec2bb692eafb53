/** Converts selectors of Playwright's recorder to the documented forms of bax; others stay, as bax accepts them. */
import { withoutIcons } from '../elements/icons.ts'
import { splitParts } from '../elements/selectors.ts'

/** Facts about the element of a selector, read in the page. */
interface Known {
  /** Full names of the elements that the role and the name in the selector match. */
  readonly names: readonly string[]
}

const quoted = '("(?:\\\\.|[^"\\\\])*")'
const role = new RegExp(
  `^internal:role=([\\w-]+)(?:\\[name=${quoted}([is])\\])?(?:\\[description=${quoted}([is])\\])?$`,
)
const attribute = new RegExp(`^internal:(?:attr|testid)=\\[([\\w-]+)=${quoted}([is])\\]$`)
const text = new RegExp(`^internal:text=${quoted}i$`)
const hasText = new RegExp(`^internal:has-text=${quoted}i$`)
const label = new RegExp(`^internal:label=${quoted}([is])$`)
const enterFrame = 'internal:control=enter-frame'

/** Converts a selector so that it matches the same elements. */
export function convertSelector(selector: string, known: Known): string {
  const parts = splitParts(selector)
  const frames: string[] = []
  for (let at = parts.indexOf(enterFrame); at >= 0; at = parts.indexOf(enterFrame)) {
    const part = onePart(parts.splice(0, at + 1).slice(0, -1))
    if (part === undefined) return selector
    frames.push(`frame=${part}`)
  }
  const lastRole = parts.findLastIndex((part) => part.startsWith('internal:role='))
  const converted = parts.map((part, at) => convertPart(part, at === lastRole ? known.names : []))
  return [...frames, ...withTexts(converted)].join(' >> ')
}

/** Joins conditions on the text of an element to the CSS before them. */
function withTexts(parts: readonly string[]): string[] {
  const joined: string[] = []
  for (const part of parts) {
    const [, value] = hasText.exec(part) ?? []
    const before = joined.at(-1)
    if (value !== undefined && isPlain(value) && before !== undefined && isCss(before) && !before.includes(','))
      joined.splice(-1, 1, `${before}:has-text(${value})`)
    else joined.push(part)
  }
  return joined
}

/** Returns the selector of a frame as the single part that `frame=` takes; undefined when it has no such form. */
function onePart([frame = '', position, ...more]: readonly string[]): string | undefined {
  const part = convertPart(frame, [])
  if (part.startsWith('internal:') || part.includes('>>') || more.length > 0) return undefined
  if (position === undefined) return part
  const [, index] = /^nth=(\d+)$/.exec(position) ?? []
  return index !== undefined && isCss(part) ? `:nth-match(${part}, ${Number(index) + 1})` : undefined
}

function convertPart(part: string, names: readonly string[]): string {
  const byRole = role.exec(part)
  if (byRole) {
    const [, name, value, mode, described, describedMode] = byRole
    const description = described === undefined ? '' : valueIn('description', described, describedMode)
    if (value === undefined) return `role=${name}${description}`
    // Only an exact name when all elements whose name contains the recorded one have it.
    const [full, other] = names
    // It matches without the icons around; one of nothing else stays.
    return mode === 'i' && full !== undefined && other === undefined && isPlain(full)
      ? `role=${name}[name=${JSON.stringify(withoutIcons(full) || full)}]${description}`
      : `role=${name}${valueIn('name', value, mode)}${description}`
  }
  const byAttribute = attribute.exec(part)
  if (byAttribute && isPlain(byAttribute[2]!)) {
    const [, name, value, mode] = byAttribute
    return valueIn(name!, value!, mode)
  }
  const byText = text.exec(part)
  if (byText) {
    const value = JSON.parse(byText[1]!) as string
    return isBare(value) ? `text=${value}` : isPlain(value) ? `:text(${byText[1]})` : part
  }
  const byLabel = label.exec(part)
  if (byLabel) {
    const [, value, mode] = byLabel
    const bare = JSON.parse(value!) as string
    if (mode === 's') return `label=${value}`
    return isBare(bare) ? `label=${bare}` : part
  }
  return part
}

const isCss = (part: string): boolean => /^[a-z[#.]/.test(part) && !/^(?:internal:|\w+=)/.test(part)

/** Returns the condition for an attribute: its whole value, or a part in any case. */
const valueIn = (name: string, value: string, mode: string | undefined): string =>
  mode === 's' ? `[${name}=${value}]` : `[${name}*=${value} i]`

/** Whether a text has the same meaning in CSS strings and in JSON: no control characters. */
const isPlain = (value: string) => !/[\u0000-\u001f\u007f-\u009f]/.test(value) // oxlint-disable-line no-control-regex

/** Whether a text can be written without quotes. */
const isBare = (value: string) =>
  isPlain(value) && value.trim() === value && !/^[/"']|["'`]|>>/.test(value) && value !== ''

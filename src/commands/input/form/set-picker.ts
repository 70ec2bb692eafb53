/** Sets text fields that open a calendar or a clock, which take their text with the Enter key or when they are left. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ElementHandle } from 'playwright'
import type { CallLimit } from '../../../core/operation/command.ts'
import { BaxError } from '../../../core/errors/errors.ts'

/** Returns whether a text may be a date or a time, or a range of them; not a decimal number. */
export const mayBePicked = (text: string): boolean =>
  /^\s*\d+[-/.:]\d+(?:[\s\d\-/.:,~–]|T(?=\d)|Z\b|to\b|[ap]\.?m\b\.?)*$/i.test(text) &&
  !/^\s*\d+\.\d{1,3}\s*$/.test(text)

/**
 * Sets a date or time in a field that opens a calendar or clock; returns false for other fields. `more` keeps the focus
 * in the field. @throws BaxError unless the field then shows the date or time.
 */
export async function setPicker(field: ElementHandle, picking: Picking, limit: CallLimit): Promise<boolean> {
  const { selector, text, more } = picking
  try {
    if (!(await enterDate(field, picking, limit))) return false
  } catch (error) {
    // This error is the one to report.
    await close(field, limit).catch(() => {})
    throw error
  }
  if (more || !(await close(field, limit))) return true
  const shown = await field.evaluate(shownIn)
  if (!isSameDate(shown, text)) throw notTaken(selector, text, shown, '')
  return true
}

interface Picking {
  readonly selector: string
  readonly text: string
  /** Whether the field is followed by others of its control. */
  readonly more: boolean
}

/** Closes the calendar of a field, which may cover the next one; returns whether it was open. */
async function close(field: ElementHandle, limit: CallLimit): Promise<boolean> {
  if (!(await field.evaluate((node) => (node as Element).ariaExpanded === 'true'))) return false
  // The Escape key could close the dialog around it, too.
  await field.press('Tab', limit)
  await field.evaluate(leave)
  return true
}

function notTaken(selector: string, text: string, shown: string, format: string): BaxError {
  const now = shown === '' ? 'is empty' : `shows ${JSON.stringify(shown)}`
  return new BaxError('action_failed', `${selector} ${now} after ${JSON.stringify(text)} was entered`, {
    hint: `${format ? `its format is ${format}; ` : ''}click on the field to choose from what it opens`,
    details: { selector, delivered: true },
  })
}

async function enterDate(field: ElementHandle, { selector, text, more }: Picking, limit: CallLimit): Promise<boolean> {
  if (!mayBePicked(text)) return false
  const isTaken = (shown: string) => isSameDate(shown, text)
  const first = await field.evaluate(commitPicked, { text, isTyped: false })
  if (first === null) return false
  // Some restore the old text when they are left.
  if (isTaken(first.shown) && (more || isTaken(await field.evaluate(leave)))) return true
  // Some take only keys, and others open a calendar with the first Enter key.
  let shown = ''
  let format = ''
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    await field.selectText(limit)
    await field.type(first.written, limit)
    const outcome = await field.evaluate(commitPicked, { text, isTyped: true })
    if (outcome === null) return true
    format = outcome.format
    shown = more ? outcome.shown : await field.evaluate(leave)
    if (isTaken(shown)) return true
  }
  // Until a calendar has closed, which can take time, some show the day under the pointer.
  for (let waited = 0; waited < closesMs; waited += intervalMs) {
    await pause(intervalMs)
    shown = await field.evaluate(shownIn)
    if (isTaken(shown)) return true
  }
  throw notTaken(selector, text, shown, format)
}

/** Some clocks set the current time when they have opened, also over what was typed meanwhile. */
const attempts = 3

/** Time for a calendar to close, and between looks at its field, in milliseconds. */
const closesMs = 1000
const intervalMs = 50

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const monthName = new RegExp(String.raw`\b(${months.join('|')})[a-z]*`, 'gi')

/** Returns whether a field shows a date or time, also with the name of the month, or with a year of two digits. */
function isSameDate(shown: string, text: string): boolean {
  const found = numbersIn(
    shown.replaceAll(monthName, (_, name: string) => `${months.indexOf(name.toLowerCase()) + 1} `),
  )
  return [text, text.replaceAll(/\b\d\d(?=\d\d\b)/g, '')].some((one) => numbersIn(one) === found)
}

/** Returns the numbers of a date and time in any order, with hours of 24, and without zeros: formats differ. */
function numbersIn(text: string): string {
  const plain = text.replace(/(\d+)(:\d+(?::\d+)?)\s*([ap])\.?m/i, (_, hour: string, rest: string, half: string) => {
    const of12 = Number(hour) % 12
    return `${half.toLowerCase() === 'p' ? of12 + 12 : of12}${rest}`
  })
  const numbers = [...plain.matchAll(/\d+/g)].map(([digits]) => Number(digits)).filter((number) => number !== 0)
  return numbers.toSorted((a, b) => a - b).join(' ')
}

/**
 * Runs in a page: sets the text in the format of a field, and enters it as the Enter key and the next field do; null for
 * other fields. Self-contained: only the text of the function reaches the page.
 */
async function commitPicked(
  node: Node,
  { text, isTyped }: { readonly text: string; readonly isTyped: boolean },
): Promise<{ readonly shown: string; readonly format: string; readonly written: string } | null> {
  const field = node instanceof HTMLLabelElement && node.control ? node.control : node
  if (!(field instanceof HTMLInputElement) || field.type !== 'text' || field.readOnly) return null
  const around: Element[] = []
  for (let at: Element | null = field; at && around.length < 5; at = at.parentElement) around.push(at)
  const letters = /^[ymdhs]{1,4}\W+[ymdhs]{1,4}/i
  const isPicker =
    ['dialog', 'grid'].includes(field.ariaHasPopup ?? '') ||
    letters.test(field.placeholder) ||
    around.some((at) => /picker|\bdate|-date\b|calendar|flatpickr/i.test(at.getAttribute('class') ?? ''))
  if (!isPicker) return null

  const pause = () =>
    new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))
  const parts = /^\s*(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ]+(\d{1,2}):(\d{2}))?/.exec(text)
  const time = /^\s*(\d{1,2}):(\d{2})/.exec(text)
  const [, year, month, day] = parts ?? []
  const [hour, minute] = (parts ? parts.slice(4) : (time?.slice(1) ?? [])) as (string | undefined)[]
  const two = (part: string | number) => String(part).padStart(2, '0')
  /** Writes the date in a format such as `MM/DD/YYYY hh:mm aa`. */
  const inFormat = (format: string): string =>
    format
      .replace(/y{4}|yy/i, (found) => year?.slice(-found.length) ?? '')
      .replace(/dd?(?!d)/i, day === undefined ? '' : two(day))
      .replace(/hh:mm/i, (found) => {
        const isHalf = /a{1,2}\b/i.test(format) && found.startsWith('h')
        const shown = isHalf ? Number(hour) % 12 || 12 : Number(hour)
        return hour === undefined ? found : `${two(shown)}:${minute}`
      })
      .replace(/(?<![a-z:])mm?(?![a-z])/i, month === undefined ? '' : two(month))
      .replace(/a{1,2}$/i, hour === undefined ? '' : Number(hour) < 12 ? 'AM' : 'PM')
      .replace(/(?<![a-z])mmmm?(?![a-z])/i, (found) => {
        const style = found.length === 3 ? 'short' : 'long'
        return month === undefined ? '' : new Date(2000, Number(month) - 1).toLocaleString('en', { month: style })
      })
  // Fields made of sections show their format in these.
  const group = field.closest('[role=group]') ?? field.parentElement?.querySelector('[role=group]')
  const units = [...(group?.querySelectorAll('[role=spinbutton]') ?? [])]
  let list = units[0]?.parentElement
  while (list && !list.contains(units.at(-1)!)) list = list.parentElement
  const sections = list?.innerText ?? ''
  const shownFormat = sections.replaceAll(/[^\w/:. -]/g, '').trim()
  const format = letters.test(field.placeholder) ? field.placeholder : letters.test(shownFormat) ? shownFormat : ''
  const isIso = parts !== null || time !== null
  const written = format && isIso ? inFormat(format) : text.replace(/T(?=\d\d:)/, ' ')

  if (!isTyped) {
    field.focus()
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(field, written)
    const input = { bubbles: true, composed: true, inputType: 'insertText', data: written }
    field.dispatchEvent(new InputEvent('input', input))
  }
  await pause()
  field.dispatchEvent(new Event('change', { bubbles: true }))
  // Handlers of the page receive it; the form is not submitted by an event of a script.
  const enter = { key: 'Enter', code: 'Enter', keyCode: 13, which: 13, bubbles: true, cancelable: true, composed: true }
  field.dispatchEvent(new KeyboardEvent('keydown', enter))
  field.dispatchEvent(new KeyboardEvent('keyup', enter))
  await pause()
  return { shown: field.value, format, written }
}

/** Runs in a page: returns the text that a field shows. */
function shownIn(node: Node): string {
  const field = node instanceof HTMLLabelElement && node.control ? node.control : node
  return (field as HTMLInputElement).value
}

/** Runs in a page: leaves the field; returns the text that it then shows. */
export async function leave(node: Node): Promise<string> {
  const field = node instanceof HTMLLabelElement && node.control ? node.control : node
  ;(document.activeElement as HTMLElement | null)?.blur()
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))
  return (field as HTMLInputElement).value
}

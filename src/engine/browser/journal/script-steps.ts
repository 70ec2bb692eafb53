/** Converts the commands of a session to the steps of a script. */
import { catalogue } from '../../../commands/index.ts'
import type { RecordedStep } from '../../../core/shapes/recording.ts'
import { startSteps } from '../../../core/text/script/write-script.ts'
import { waitGlob } from '../script-recorder/wait-glob.ts'
import type { JournalEntry } from '../ports/journal.ts'
import { remarkOnPerson } from './kept-entries.ts'

/** A step with what other formats need besides. */
export interface ScriptStep extends RecordedStep {
  /** Playwright's selectors by those of the step. */
  readonly playwright?: Readonly<Record<string, string>>
  /** Fields whose texts are templates. */
  readonly templates?: readonly string[]
  /** Whether the step opens a tab, which becomes the active one. */
  readonly opensTab?: boolean
  /** Number of the tab that is active afterwards, from 1. */
  readonly tab?: number
  readonly dialogs?: JournalEntry['dialogs']
  readonly isDownload?: boolean
}

/** Returns the steps; the last one waits for `endUrl`, if it is the URL that they lead to. */
export function scriptSteps(entries: readonly JournalEntry[], endUrl?: string): ScriptStep[] {
  const steps: ScriptStep[] = []
  const [first] = entries
  if (!first) return steps
  if (first.command !== 'navigate_to') steps.push(...startSteps(first.urlBefore))
  let url = first.urlBefore
  let tab = first.tabs[0]
  const known = new Set([tab])
  const waitUntil = (next: string, isSameTab: boolean) => {
    const glob = next === url || !isSameTab ? undefined : waitGlob(next, url)
    if (glob !== undefined && steps.length > 0) steps.push({ command: 'wait_for', data: { url: glob } })
    url = next
  }
  for (const entry of entries) {
    const start = steps.length
    // A tab may open after the command that caused it has ended.
    if (!known.has(entry.tabs[0]) && !entry.isAfterPerson) opens(steps, entry.tabs[0])
    waitUntil(entry.urlBefore, entry.tabs[0] === tab)
    const made = stepsOf(entry)
    // A dialog is answered before the step that opens it.
    const opener = entry.command === 'answer_dialog' ? openerIn(steps) : -1
    if (opener >= 0) steps.splice(opener, 0, ...made)
    else steps.push(...made)
    if (entry.isAfterPerson) remark(steps, start, remarkOnPerson)
    if (leaves(entry)) url = entry.urlAfter
    tab = entry.tabs[1]
    for (const number of entry.tabs) known.add(number)
  }
  if (endUrl !== undefined) waitUntil(endUrl, true)
  return steps
}

/** Notes that the last action has opened a tab. */
function opens(steps: ScriptStep[], tab: number): void {
  const at = steps.findLastIndex(({ command }) => command !== 'verify' && command !== 'wait_for')
  if (at >= 0) steps[at] = { ...steps[at]!, tab, opensTab: true }
}

/** Adds a comment to a step. */
function remark(steps: ScriptStep[], at: number, text: string): void {
  const step = steps[at]!
  steps[at] = { ...step, comment: step.comment === undefined ? text : `${text}\n${step.comment}` }
}

/** Returns whether the URL afterwards is a part of the command, so that nothing has to wait for it. */
const leaves = ({ command, tabs }: JournalEntry): boolean =>
  catalogue.get(command)?.leaves === true || /^(?:go_back|go_forward|refresh)$/.test(command) || tabs[0] !== tabs[1]

/** Returns the position of the last step if it has opened a dialog that waited for an answer. */
const openerIn = (steps: readonly ScriptStep[]): number =>
  steps.at(-1)?.dialogs?.some(({ answer }) => answer === 'open') ? steps.length - 1 : -1

function stepsOf(entry: JournalEntry): ScriptStep[] {
  const { command, data, dialogs, downloads, proof, tabs } = entry
  if (proof) return [verification(entry)]
  const isDownload = downloads.length > 0
  const more = {
    ...(tabs[0] !== tabs[1] && { tab: tabs[1], ...(!command.endsWith('tab') && { opensTab: true }) }),
    ...(dialogs && { dialogs }),
    ...(isDownload && { isDownload, comment: downloads.map((name) => `downloads ${JSON.stringify(name)}`).join('\n') }),
  }
  if (command === 'fill_form')
    return formSteps(entry).map((step, at, { length }) => (at < length - 1 ? step : { ...step, ...more }))
  return [{ ...stepOn(entry, command, data), ...more }]
}

/** Returns a step whose selectors are those of its elements. */
function stepOn(
  { targets, templates, matches }: Pick<JournalEntry, 'targets' | 'templates' | 'matches'>,
  command: string,
  given: JournalEntry['data'],
): ScriptStep {
  const data: Record<string, unknown> = { ...withoutDefaults(command, given) }
  const playwright: Record<string, string> = {}
  for (const field of ['selector', 'target_selector']) {
    const selector = data[field]
    const target = typeof selector === 'string' ? targets.get(selector) : undefined
    if (!target || !isBetter({ command, matches }, target.selector, String(selector))) continue
    data[field] = target.selector
    playwright[target.selector] = target.playwright
  }
  const target = targets.get(String(given['selector']))
  return {
    command,
    data,
    ...(target && command !== 'verify' && { fingerprint: target.fingerprint }),
    ...(Object.keys(playwright).length > 0 && { playwright }),
    ...(templates.length > 0 && { templates }),
  }
}

/**
 * Returns whether to use a generated selector instead of the caller's. A position among others tells less. A wait keeps its
 * condition: the text of what has appeared, which a generated selector may have, can differ each time.
 */
function isBetter(
  { command, matches = 1 }: { readonly command: string; readonly matches: number | undefined },
  generated: string,
  given: string,
): boolean {
  if (/^\s*ref=/.test(given)) return true
  const isCondition = catalogue.get(command)?.waits === true && matches === 1
  return !isCondition && !/>> nth=\d+$/.test(generated)
}

function verification({ proof = {}, targets }: JournalEntry): ScriptStep {
  const { selector } = proof
  const target = typeof selector === 'string' && /^\s*ref=/.test(selector) ? targets.get(selector) : undefined
  if (!target) return { command: 'verify', data: { ...proof } }
  return {
    command: 'verify',
    data: { ...proof, selector: target.selector },
    playwright: { [target.selector]: target.playwright },
  }
}

/** Returns one step for each field of a form, so that each is found by its own facts. */
function formSteps(entry: JournalEntry): ScriptStep[] {
  const { data, fields = [], targets, used } = entry
  const values = data['fields'] as Readonly<Record<string, unknown>>
  // The values of a form are templates together.
  const on = (name: string) => ({ targets, templates: entry.templates.includes('fields') ? [name] : [] })
  if (fields.length !== used.length) return [stepOn(entry, 'fill_form', data)]
  return fields.map(({ field, kind }, at) => {
    const value = values[field]
    const selector = used[at]!
    const { role = '', tag } = targets.get(selector)?.fingerprint ?? {}
    const isText = tag === 'input' || tag === 'textarea' || role === 'textbox'
    if (kind === 'text' && isText && typeof value !== 'object')
      return stepOn(on('text'), 'fill', { selector, text: String(value) })
    if (kind === 'select' && (tag === 'select' || /^(?:combobox|listbox)$/.test(role)))
      return stepOn(on('values'), 'select_option', { selector, values: [value].flat().map(String) })
    if ((kind === 'checkbox' || kind === 'radio') && tag === 'input' && typeof value === 'boolean')
      return stepOn({ targets, templates: [] }, value ? 'check' : 'uncheck', { selector })
    // A group of fields keeps its label, unless that is a reference.
    const name = /^\s*(?:@|ref=)/.test(field) ? stepOn(entry, 'focus', { selector }).data['selector'] : field
    return { command: 'fill_form', data: { fields: { [String(name)]: value } }, templates: on('fields').templates }
  })
}

/** Returns data without the fields that have their default. */
function withoutDefaults(command: string, data: JournalEntry['data']): JournalEntry['data'] {
  const shape = catalogue.get(command)?.data.shape as Record<string, { safeParse(value: unknown): { data?: unknown } }>
  const isDefault = (name: string, value: unknown) =>
    value === undefined || JSON.stringify(shape?.[name]?.safeParse(undefined).data) === JSON.stringify(value)
  return Object.fromEntries(Object.entries(data).filter(([name, value]) => !isDefault(name, value)))
}

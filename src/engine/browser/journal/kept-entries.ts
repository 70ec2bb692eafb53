/** Decides which commands of a session a script repeats. */
import { catalogue } from '../../../commands/index.ts'
import type { JournalEntry } from '../ports/journal.ts'

/** A command that the script does not repeat. */
export interface LeftOut {
  readonly number: number
  readonly command: string
  readonly reason: string
}

/** Comment where a person had control. */
export const remarkOnPerson = 'a person had control here: the script does not repeat all that they did'

/** Name of the entries for what a person did, instead of a command. */
export const controlByPerson = 'control'

export interface Kept {
  readonly entries: readonly JournalEntry[]
  readonly leftOut: readonly LeftOut[]
  /** Whether a person had control after the last of the entries. */
  readonly endsWithPerson: boolean
}

/** Returns the commands that a script needs: those that succeeded, and that later ones neither repeat nor undo. */
export function keptEntries(all: readonly JournalEntry[]): Kept {
  const entries: JournalEntry[] = []
  const leftOut: LeftOut[] = []
  const omit = ({ number, command }: JournalEntry, reason: string) => void leftOut.push({ number, command, reason })
  let isAfterPerson = false
  const omitLast = (reason: string) => {
    const entry = entries.pop()!
    isAfterPerson = entry.isAfterPerson === true
    omit(entry, reason)
  }
  const omitOutdated = (entry: JournalEntry) => {
    const from = entries.findLastIndex((each) => !isPassive(each) || each.isAfterPerson)
    for (const read of entries.slice(from + 1).filter((each) => isOutdated(each, entry))) {
      entries.splice(entries.indexOf(read), 1)
      omit(read, `the page itself had changed what it read by command ${entry.number}`)
    }
  }
  for (const entry of all) {
    const isPerson = entry.command === controlByPerson
    if (!isPerson && !isAfterPerson) omitOutdated(entry)
    const reason = isPerson ? 'a person had control' : uselessness(entry)
    // Commands before and after a person had control do not repeat or undo each other.
    const last = isAfterPerson ? undefined : entries.at(-1)
    isAfterPerson ||= isPerson
    if (reason !== undefined) omit(entry, reason)
    else if (entry.proof && last && isProven(entries, entry))
      omit(entry, `repeated: an earlier ${entry.command} proves the same`)
    else if (last && isUndone(last, entry)) {
      omitLast(`undone by command ${entry.number}`)
      omit(entry, `undoes command ${last.number}`)
    } else {
      if (last && isRepeated(last, entry)) omitLast(`repeated by command ${entry.number}`)
      entries.push(isAfterPerson ? { ...entry, isAfterPerson } : entry)
      isAfterPerson = false
    }
  }
  return { entries, leftOut: leftOut.toSorted((a, b) => a.number - b.number), endsWithPerson: isAfterPerson }
}

function uselessness(entry: JournalEntry): string | undefined {
  const { command, data, dialogs, failure, proof, targets, templates } = entry
  // The answer, which comes before it in a script, completes an action that has opened a dialog.
  const waits = failure === 'dialog_blocking' && dialogs?.some(({ answer }) => answer === 'open')
  if (failure !== undefined && !waits && !hadEffect(entry)) return `failed: ${failure}`
  const { kind, runsCode } = catalogue.get(command) ?? {}
  if (kind === 'extraction' && !runsCode && !proof) return 'only reads, and proves nothing that holds in every run'
  if (command === 'wait_for_navigation') return 'the script waits for the URL'
  if (/^(?:press_key|key_down|key_up)$/.test(command) && templates.includes('key'))
    return 'a key for a field with a secret'
  const unknown = [data['selector'], data['target_selector']].find(
    (each) => typeof each === 'string' && /^\s*ref=/.test(each) && !targets.has(each),
  )
  return unknown === undefined ? undefined : `the element ${String(unknown)} could not be described`
}

/** Returns whether a command that failed in time had its effect: its input arrived, or the page that it opens. */
function hadEffect({ command, delivered, failure, tabs, urlAfter, urlBefore }: JournalEntry): boolean {
  const { kind, waits } = catalogue.get(command) ?? {}
  if (failure !== 'timeout' || kind !== 'action' || waits) return false
  if (delivered !== undefined) return delivered
  return tabs[0] !== tabs[1] || (urlAfter !== urlBefore && !urlAfter.startsWith('chrome-error:'))
}

/** Returns whether a command leaves the page as it is: a read that proves something, or a wait. */
const isPassive = ({ command, proof }: JournalEntry): boolean =>
  proof !== undefined || catalogue.get(command)?.waits === true

/** Returns whether the page has changed what was read without another action: a script could read it too late. */
function isOutdated(read: JournalEntry, { command, data, proof, tabs, urlBefore }: JournalEntry): boolean {
  if (!read.proof || read.tabs[1] !== tabs[0]) return false
  if (read.urlBefore !== urlBefore) return true
  const isSame = read.command === command && JSON.stringify(read.data) === JSON.stringify(data)
  return isSame && proof !== undefined && JSON.stringify(read.proof) !== JSON.stringify(proof)
}

/** Returns whether a proof is known since the last action. */
function isProven(entries: readonly JournalEntry[], { proof }: JournalEntry): boolean {
  const since = entries.slice(entries.findLastIndex((entry) => !entry.proof) + 1)
  return since.some((entry) => JSON.stringify(entry.proof) === JSON.stringify(proof))
}

/** Commands of which only the last one on an element counts. */
const settings: ReadonlySet<string> = new Set([
  'check',
  'clear',
  'fill',
  'focus',
  'hover',
  'scroll_into_view',
  'select_option',
  'set_viewport',
  'uncheck',
])

function isRepeated(before: JournalEntry, entry: JournalEntry): boolean {
  if (before.tabs[1] !== entry.tabs[0]) return false
  if (entry.command === 'navigate_to')
    return before.command === 'navigate_to' && before.data['url'] === entry.data['url']
  if (!settings.has(entry.command) || keyOf(before) !== keyOf(entry)) return false
  return before.urlBefore === entry.urlBefore
}

/** Returns the key of a state: commands with the same key, such as check and uncheck of one element, replace each other. */
function keyOf({ command, data, targets }: JournalEntry): string {
  const selector = String(data['selector'])
  const what = command === 'uncheck' ? 'check' : command === 'clear' ? 'fill' : command
  return JSON.stringify([what, targets.get(selector)?.playwright ?? selector])
}

/** Returns whether a step back only undoes the step before it: the opening of a page, without anything done there. */
function isUndone(before: JournalEntry, { command, tabs, urlAfter, urlBefore }: JournalEntry): boolean {
  if (command !== 'go_back' || before.tabs[0] !== tabs[1] || before.tabs[1] !== tabs[0]) return false
  const opens = before.command === 'navigate_to' || (before.command === 'click' && isLink(before))
  return opens && !hasQuery(before) && before.urlBefore === urlAfter && before.urlBefore !== urlBefore
}

/** Returns whether opening a page may have done something, such as adding a product to a cart, that stays done. */
const hasQuery = ({ data, targets, urlAfter }: JournalEntry): boolean => {
  const href = targets.get(String(data['selector']))?.fingerprint.attributes?.['href']
  return [data['url'], href, urlAfter].some((url) => String(url).includes('?'))
}

const isLink = ({ data, targets }: JournalEntry): boolean => targets.get(String(data['selector']))?.isLink === true

/** Flags of the steps of a replay: facts that may explain a later failure. They are listed, and never judged. */
import { escapeHtml } from '../../../core/html/page.ts'
import { matchesNotes, warningNotes } from '../../../core/text/result-notes.ts'
import type { Missing } from './capture.ts'
import { type LogLine, newTab } from './logs.ts'
import type { ReplayStep, StoredPage } from './recorder.ts'
import type { Redaction } from './redaction.ts'

/** Flags that one list shows, and their characters. */
const [listedFlags, flagChars] = [10, 300]

interface FlagSources {
  /** Missing for what happened before the first command. */
  readonly step?: ReplayStep
  readonly logs: readonly LogLine[]
  /** Messages that the page began to show. */
  readonly alerts: readonly string[]
}

/** Returns the flags of a step, each once, with how often it occurred. */
export function flagsOf({ step, logs, alerts }: FlagSources): string[] {
  const opensTab = step?.call.command === 'new_tab'
  const all = [
    ...(step ? resultFlags(step) : []),
    ...logs.flatMap(({ flag }) => flag ?? []).filter((flag) => !(opensTab && flag.startsWith(newTab))),
    ...alerts.map((text) => `message of the page: ${JSON.stringify(text)}`),
  ]
  const counts = new Map<string, number>()
  for (const flag of all) counts.set(flag, (counts.get(flag) ?? 0) + 1)
  return [...counts].map(([flag, count]) => (count > 1 ? `${flag} (${count} times)` : flag))
}

function resultFlags({ call, result }: ReplayStep): string[] {
  const notes = matchesNotes(result, String(call.data?.['selector'] ?? 'the selector'))
  return [...warningNotes(result).map((text) => `warning: ${text}`), ...notes]
}

/** Returns the messages that the page began to show before the first command, and with each step. */
export function newAlerts(steps: readonly Pick<ReplayStep, 'before' | 'after'>[]): readonly (readonly string[])[] {
  const added: string[][] = [[], ...steps.map(() => [])]
  let shown: readonly string[] = []
  const compare = (page: StoredPage | Missing | undefined, number: number) => {
    if (!page || !('alerts' in page)) return
    added[number]!.push(...page.alerts.filter((text) => !shown.includes(text)))
    shown = page.alerts
  }
  for (const [at, { before, after }] of steps.entries()) {
    // A message that is new in the copy before a command belongs to the previous command.
    compare(before, at)
    compare(after, at + 1)
  }
  return added
}

/** Returns the mark of a step in the list of commands. */
export const flagMark = ({ length }: readonly string[]): string =>
  length === 0
    ? ''
    : `<span class="flag"><span aria-hidden="true">⚑ ${length}</span><span class="unseen"> ${length === 1 ? '1 flag' : `${length} flags`} </span></span>`

/** Returns the flags of a step as a list. */
export function flagList(flags: readonly string[], redaction: Redaction): string {
  if (flags.length === 0) return ''
  const items = flags.slice(0, listedFlags).map((flag) => `<li>${flagText(flag, redaction)}</li>`)
  const more = flags.length - items.length
  return `<div class="flags"><h3>Flagged here</h3><ul>${items.join('')}${more > 0 ? `<li>and ${more} more</li>` : ''}</ul></div>`
}

/** Returns all flags above the commands, up to a limit. */
export function flagSummary(
  entries: readonly { readonly number: number; readonly flags: readonly string[] }[],
  redaction: Redaction,
): string {
  const all = entries.flatMap(({ number, flags }) => flags.map((flag) => ({ number, flag })))
  if (all.length === 0) return ''
  const items = all.slice(0, listedFlags).map(({ number, flag }) => {
    const place = number === 0 ? 'before the first command' : `command ${number}`
    return `<li><a href="#s${number}">${place}</a> ${flagText(flag, redaction)}</li>`
  })
  const more = all.length - items.length
  return `<details open id="flagged"><summary>Flagged (${all.length})</summary><ul class="log">${items.join('')}${more > 0 ? `<li>and ${more} more</li>` : ''}</ul></details>`
}

/** Redacts the whole text before it is cut, so that no part of a secret remains. */
function flagText(flag: string, redaction: Redaction): string {
  const text = redaction.text(flag).replaceAll(/\s+/g, ' ')
  return escapeHtml(text.length > flagChars ? `${text.slice(0, flagChars)}…` : text)
}

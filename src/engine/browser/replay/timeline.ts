/** The commands of a replay as HTML, which explains a run even without the copies of its pages. */
import { escapeHtml } from '../../../core/html/page.ts'
import { limits } from '../../../core/limits/limits.ts'
import { readableMs } from '../../../core/text/readable-ms.ts'
import { flagList, flagMark } from './flags.ts'
import type { Missing } from './capture.ts'
import { logLists, type LogLine } from './logs.ts'
import type { ReplayObservation } from '../ports/replay.ts'
import type { ReplayStep, StoredPage } from './recorder.ts'
import type { Redaction } from './redaction.ts'
import type { Shortened } from './shortened.ts'

const { textChars, observationChars } = limits.replay

export interface TimelineStep {
  readonly step: ReplayStep
  /** From 1. */
  readonly number: number
  readonly logs: readonly LogLine[]
  readonly flags: readonly string[]
  /** Requests without a response when the command ended. */
  readonly pending: readonly LogLine[]
  readonly observations: readonly Shortened<ReplayObservation>[]
  /** Names of the copies that the replay has. */
  readonly pages: ReadonlySet<string>
}

export interface TimelineTools {
  /** When the session started, in milliseconds since the epoch. */
  readonly startedAt: number
  readonly redaction: Redaction
}

const marks = { passed: '✓', failed: '✗', skipped: '–' } as const

const statusOf = ({ result }: ReplayStep): keyof typeof marks =>
  result.skipped ? 'skipped' : result.success ? 'passed' : 'failed'

/** Returns the entry of a step in the list of commands. */
export function stepEntry({ step, number, flags }: TimelineStep, tools: TimelineTools): string {
  const status = statusOf(step)
  const ms = status === 'skipped' ? 'not run' : readableMs(step.result.duration_ms ?? 0)
  return `<li><a href="#s${number}" class="${status}${flags.length > 0 ? ' flagged' : ''}"><span class="mark" aria-label="${status}">${marks[status]}</span><span class="what"><b>${escapeHtml(step.call.command)}</b> ${escapeHtml(excerpt(argumentOf(step, tools), 80, step.omitted.call))}</span><span class="facts">${flagMark(flags)}${ms}</span></a></li>`
}

/** Returns everything that is known of a step. */
export function stepSection(entry: TimelineStep, tools: TimelineTools): string {
  const { step, number, logs, flags, pending, observations } = entry
  const { result, call, startedAt } = step
  const status = statusOf(step)
  const when = [
    `${new Date(startedAt).toISOString().slice(11, 23)} UTC`,
    `${readableMs(startedAt - tools.startedAt)} after the start of the session`,
    ...(status === 'skipped' ? [] : [`took ${readableMs(result.duration_ms ?? 0)}`]),
  ]
  const argument = argumentOf(step, tools)
  return `<section class="step" id="s${number}" data-status="${status}" data-seq="${step.seq}">
<div class="head"><h2>${number}. ${escapeHtml(call.command)} <code>${escapeHtml(excerpt(argument, 200, step.omitted.call))}</code> <span class="chip ${status}">${status}</span></h2>
<p class="facts">${when.join(' · ')}</p>
${faultBlock(step, tools)}<div class="earlier"></div>${flagList(flags, tools.redaction)}
${controlList(step, tools)}${pendingList(pending, startedAt + (result.duration_ms ?? 0), tools)}${pageFacts(entry, tools)}</div>
${block('Input', asText(inputOf(step, tools)), step.omitted.call)}${block('Result', resultOf(step, tools), step.omitted.result)}
${observations.map((seen) => observationBlock(seen, tools)).join('')}${logBlocks(logs, startedAt, tools, status === 'failed')}
</section>`
}

type EarlierEvents = Pick<TimelineStep, 'logs' | 'flags'>

const hasEarlier = ({ logs, flags }: EarlierEvents): boolean => logs.length > 0 || flags.length > 0

/** Returns the entry of the events before the first command. */
export const earlierEntry = (earlier: EarlierEvents): string =>
  hasEarlier(earlier)
    ? `<li><a href="#s0" class="passed${earlier.flags.length > 0 ? ' flagged' : ''}"><span class="mark"></span><span class="what">Before the first command</span><span class="facts">${flagMark(earlier.flags)}</span></a></li>`
    : ''

/** Returns the events before the first command. */
export const earlierSection = (earlier: EarlierEvents, tools: TimelineTools): string =>
  hasEarlier(earlier)
    ? `<section class="step" id="s0" data-status="passed"><div class="head"><h2>Before the first command</h2>${flagList(earlier.flags, tools.redaction)}</div>${logBlocks(earlier.logs, tools.startedAt, tools)}</section>`
    : ''

/** Codes of failures for which nothing matched. */
const unmatched: ReadonlySet<string | undefined> = new Set(['element_not_found', 'stale_ref'])

/** Returns what the page offered instead, when nothing matched. */
function controlList({ result, after }: ReplayStep, { redaction }: TimelineTools): string {
  const controls = after && 'controls' in after ? after.controls : undefined
  if (!controls || !unmatched.has(result.code)) return ''
  const { listed, omitted } = controls
  if (listed.length === 0) return '<p class="controls">The page had no buttons, links or fields then.</p>'
  const items = listed.map(({ role, name, count }) => {
    const text = `${role}${name === '' ? ' without a name' : ` ${JSON.stringify(redaction.text(name))}`}`
    return `<li>${escapeHtml(text)}${count > 1 ? ` (${count} times)` : ''}</li>`
  })
  const more = omitted > 0 ? `<li>and ${omitted} more, which are left out</li>` : ''
  return `<div class="controls"><h3>Buttons, links and fields of the page then</h3><ul>${items.join('')}${more}</ul></div>`
}

const listedPending = 5

/** Returns the requests that had no response when a command ended; shown where the run failed. */
function pendingList(pending: readonly LogLine[], endedAt: number, { redaction }: TimelineTools): string {
  if (pending.length === 0) return ''
  const items = pending.slice(0, listedPending).map(({ at, text }) => {
    const request = escapeHtml(excerpt(redaction.text(text), 300))
    return `<li>sent ${readableMs(endedAt - at)} before: ${request}</li>`
  })
  const more = pending.length - items.length
  return `<div class="pending"><h3>Requests without a response when the command ended</h3><ul>${items.join('')}${more > 0 ? `<li>and ${more} more</li>` : ''}</ul></div>`
}

function faultBlock({ result, call }: ReplayStep, { redaction }: TimelineTools): string {
  if (result.success || result.skipped) return ''
  const { error = `${call.command} failed`, code = '', hint, details } = result
  const rows = [
    ...(hint === undefined ? [] : [`<p>Hint: ${escapeHtml(redaction.text(hint))}</p>`]),
    ...(details === undefined
      ? []
      : [`<details><summary>Details</summary><pre>${escapeHtml(asText(redaction.value(details)))}</pre></details>`]),
  ]
  return `<div class="fault"><p><b>${escapeHtml(redaction.text(error))}</b> <code>${escapeHtml(code)}</code></p>${rows.join('')}</div>`
}

/** Returns where the step began and ended, and why a copy of the page is missing. */
function pageFacts({ step, number, pages }: TimelineStep, { redaction }: TimelineTools): string {
  const line = (label: string, page: StoredPage | Missing | undefined, name: string) => {
    if (!page) return ''
    if (!('url' in page)) return row(label, `not recorded: ${redaction.text(page.missing)}`)
    const notes = [
      ...(pages.has(name) ? [] : ['copy left out']),
      ...(page.picture === undefined ? [] : ['screenshot, because the document cannot be copied']),
      ...(page.missing > 0 ? [`images or style sheets left out: ${page.missing}`] : []),
      ...(page.hiddenFrames > 0 ? [`frames of other sites left out: ${page.hiddenFrames}`] : []),
    ]
    const note = notes.length > 0 ? ` (${notes.join('; ')})` : ''
    return row(label, `${redaction.text(page.title)} – ${redaction.text(page.url)}${note}`)
  }
  const rows = `${line('Page before', step.before, `${number}-before`)}${line('Page after', step.after, `${number}-after`)}`
  return rows === '' ? '' : `<dl class="pages">${rows}</dl>`
}

const row = (label: string, text: string): string => `<dt>${label}</dt><dd>${escapeHtml(text)}</dd>`

function resultOf({ result, isSecret }: ReplayStep, { redaction }: TimelineTools): string {
  const { data, content_type: type, matches, used_match: used, dialogs, downloads } = result
  if (isSecret && data !== undefined) return '[redacted]'
  const isBinary = /^(?:image|application\/pdf)/.test(type ?? '')
  const facts = {
    ...(data && (isBinary ? { content_type: type, omitted: 'binary content' } : data)),
    ...(matches !== undefined && { matches, used_match: used }),
    ...(dialogs && { dialogs }),
    ...(downloads && { downloads }),
  }
  return Object.keys(facts).length === 0 ? '' : asText(redaction.value(facts))
}

/** Returns the data of a command; what goes into a password field is not shown, whatever it is. */
function inputOf({ call: { data }, isSecret }: ReplayStep, { redaction }: TimelineTools): unknown {
  if (!data || Object.keys(data).length === 0) return undefined
  if (!isSecret) return redaction.value(data)
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      name === 'selector' || name === 'timeout_ms' ? redaction.value(value) : '[redacted]',
    ]),
  )
}

function argumentOf(step: ReplayStep, tools: TimelineTools): string {
  const data = inputOf(step, tools) as Record<string, unknown> | undefined
  if (!data) return ''
  const { selector, url, text, value, expression, fields } = data
  const shown = [selector, url ?? text ?? value ?? expression ?? fields].filter((part) => part !== undefined)
  return shown.length > 0 ? shown.map((part) => asText(part)).join(' ') : asText(data)
}

function observationBlock({ value, omitted }: Shortened<ReplayObservation>, { redaction }: TimelineTools): string {
  const { snapshot, text, changes } = value
  const seen = snapshot ?? text ?? asText(changes)
  if (seen === '') return ''
  const title =
    snapshot === undefined && text === undefined ? 'Changes that the caller saw' : 'Observation that the caller saw'
  return `<details><summary>${title}</summary><pre>${escapeHtml(excerpt(redaction.text(seen), observationChars, omitted))}</pre></details>`
}

function logBlocks(logs: readonly LogLine[], since: number, tools: TimelineTools, isOpen = false): string {
  const { redaction, startedAt } = tools
  const start = since === startedAt ? 'the start of the session' : 'the start of the command'
  return logLists
    .map((list) => {
      const lines = logs.filter((line) => line.list === list)
      if (lines.length === 0) return ''
      const bad = lines.filter(({ isBad }) => isBad).length
      const items = lines.map(({ at, text, isBad }) => {
        const shown = escapeHtml(excerpt(redaction.text(text), textChars))
        return `<li${isBad ? ' class="bad"' : ''}><span class="facts">+${readableMs(at - since)}</span> ${shown}</li>`
      })
      const count = bad > 0 ? `${lines.length}, ${bad} with errors` : String(lines.length)
      return `<details${isOpen || bad > 0 || list === 'People' ? ' open' : ''}><summary>${list} (${count})<span class="facts"> · times since ${start}</span></summary><ul class="log">${items.join('')}</ul></details>`
    })
    .join('')
}

const block = (title: string, text: string, omitted: number): string =>
  text === '' ? '' : `<h3>${title}</h3><pre>${escapeHtml(excerpt(text, textChars, omitted))}</pre>`

function asText(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1)
}

/** Returns the beginning of a text, and how much follows, with what has been left out of it before. */
function excerpt(text: string, chars: number, omitted = 0): string {
  const more = Math.max(0, text.length - chars) + omitted
  return more > 0 ? `${text.slice(0, chars)}… (${more} more characters)` : text
}

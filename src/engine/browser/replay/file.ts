/** The replay of a session as one HTML file. */
import { createHash } from 'node:crypto'
import { escapeHtml, htmlPage } from '../../../core/html/page.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Content } from '../../../core/operation/call.ts'
import { readableMs } from '../../../core/text/readable-ms.ts'
import { hiderOf } from '../credentials/session-secrets.ts'
import type { LiveSession } from '../ports/session.ts'
import { flagsOf, flagSummary, newAlerts } from './flags.ts'
import { logLines, type LogLine } from './logs.ts'
import { type PackedPages, packPages } from './pages.ts'
import { recorderOf, type ReplayRecorder } from './recorder.ts'
import { redactionOf } from './redaction.ts'
import { replayStyle } from './style.ts'
import {
  earlierEntry,
  earlierSection,
  stepEntry,
  stepSection,
  type TimelineStep,
  type TimelineTools,
} from './timeline.ts'
import viewerScript from './viewer.page.ts?inline'

const { fileBytes } = limits.replay

/** Builds the replay of a session. @throws BaxError `conflict` when it does not record for one. */
export async function replayFile(session: LiveSession): Promise<Content> {
  const recorder = recorderOf(session)
  if (!recorder) {
    throw new BaxError('conflict', 'the session is not recorded for a replay', {
      hint: 'create it with "bax session create --replay", or `replay: true`',
    })
  }
  const html = Buffer.from(await buildReplay(session, recorder))
  return {
    size: html.length,
    etag: createHash('sha256').update(html).digest('hex').slice(0, 32),
    contentType: 'text/html; charset=utf-8',
    fileName: 'replay.html',
    read: async function* (start, end) {
      yield html.subarray(start, end)
    },
  }
}

async function buildReplay(session: LiveSession, recorder: ReplayRecorder): Promise<string> {
  const { steps, store } = recorder
  const redaction = redactionOf(recorder.secrets, hiderOf(session.browserContext))
  const tools: TimelineTools = { startedAt: session.createdAt.getTime(), redaction }
  const frame = (packed: PackedPages) => htmlOf(session, recorder, packed, tools)
  // Everything but the copies has its size in any case.
  const none = { data: '', names: new Set<string>(), omitted: 0 }
  const rest = Buffer.byteLength(frame(none)) + 500 + 40 * steps.length
  return frame(await packPages(steps, store.parts, redaction, Math.max(0, fileBytes - rest)))
}

function htmlOf(session: LiveSession, recorder: ReplayRecorder, packed: PackedPages, tools: TimelineTools): string {
  const { earlier, entries } = timelineOf(session, recorder, packed)
  const title = tools.redaction.text(session.name ?? session.sessionId)
  const body = `${header(session, recorder, packed, tools, entries)}${flagSummary([{ number: 0, ...earlier }, ...entries], tools.redaction)}</header>
<div class="tools"><input type="search" id="search" placeholder="Search commands, logs, observations" aria-label="Search">
<label><input type="checkbox" id="failed"> failed and flagged</label><span class="facts" id="found" role="status"></span>
<span class="facts">Keys: ↑ ↓ command · ← → page before, after · f next failure · / search</span></div>
<div class="layout">
<nav aria-label="Commands"><p class="facts">Commands, and how long each took</p><ol>${earlierEntry(earlier)}${entries.map((entry) => stepEntry(entry, tools)).join('\n')}</ol></nav>
<main>
<div class="view" id="view"><div class="bar"><button id="before" type="button">Before</button><button id="after" type="button">After</button></div><div class="screen" id="screen"></div></div>
${earlierSection(earlier, tools)}
${entries.map((entry) => stepSection(entry, tools)).join('\n')}
${entries.length === 0 && earlierEntry(earlier) === '' ? '<section class="step" id="s0"><div class="head"><h2>No command was run</h2></div></section>' : ''}
</main>
</div>
<script type="application/octet-stream" id="pages">${packed.data}</script>`
  return htmlPage({ title: `Replay of ${title}`, style: replayStyle, body, script: viewerScript })
}

/** Divides what was recorded into the steps, and what came before them. */
function timelineOf(session: LiveSession, recorder: ReplayRecorder, packed: PackedPages) {
  const { steps } = recorder
  const logs = logLines(recorder.events, session.endedAt?.getTime() ?? Date.now())
  const alerts = newAlerts(steps)
  const entries = steps.map((step, at): TimelineStep => {
    const own = logsOf(logs, step.seq, steps[at + 1]?.seq)
    const endedAt = step.startedAt + (step.result.duration_ms ?? 0)
    return {
      step,
      number: at + 1,
      logs: own,
      flags: flagsOf({ step, logs: own, alerts: alerts[at + 1]! }),
      pending: step.result.skipped ? [] : pendingAt(logs, endedAt),
      observations: recorder.observations.filter((one) => one.step === at + 1),
      pages: packed.names,
    }
  })
  const earlierLogs = logsOf(logs, 0, steps[0]?.seq)
  return { entries, earlier: { logs: earlierLogs, flags: flagsOf({ logs: earlierLogs, alerts: alerts[0]! }) } }
}

/** Returns the requests without a response at a time, in milliseconds since the epoch. */
const pendingAt = (logs: readonly LogLine[], time: number): LogLine[] =>
  logs.filter(({ at, answeredAt }) => answeredAt !== undefined && at <= time && answeredAt > time)

/** Returns why the session has ended, unless its caller closed it. */
function endOf({ ended, endedAt, endReason }: LiveSession): string {
  if (!endedAt || !endReason || endReason === 'deleted') return ''
  const { message } = ended.reason as BaxError
  return `<div class="fault"><p><b>${escapeHtml(message)}</b> <code>${endReason}</code></p><p>${endedAt.toISOString()}</p></div>`
}

/** Formats a time in milliseconds since the epoch: `2026-11-29 21:17:41 UTC`. */
const utc = (time: number): string => `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** Returns the lines after one event, up to another. */
const logsOf = (logs: readonly LogLine[], after: number, until = Infinity): LogLine[] =>
  logs.filter(({ seq }) => seq > after && seq <= until)

function header(
  session: LiveSession,
  { steps, omitted }: ReplayRecorder,
  packed: PackedPages,
  { redaction, startedAt }: TimelineTools,
  entries: readonly TimelineStep[],
): string {
  const count = (status: (step: (typeof steps)[number]) => boolean) => steps.filter(status).length
  const failed = count(({ result }) => !result.success && !result.skipped)
  const skipped = count(({ result }) => result.skipped === true)
  const chips = [
    `<span class="chip passed">${steps.length - failed - skipped} passed</span>`,
    ...(failed > 0 ? [`<span class="chip failed">${failed} failed</span>`] : []),
    ...(skipped > 0 ? [`<span class="chip">${skipped} not run</span>`] : []),
  ]
  const flagged = entries.filter(({ flags }) => flags.length > 0).length
  if (flagged > 0) chips.push(`<span class="chip flaky">${flagged} flagged</span>`)
  const facts = [
    `started ${utc(startedAt)} (0.0 s)`,
    `lasted ${readableMs((session.endedAt?.getTime() ?? Date.now()) - startedAt)}`,
    `viewport ${session.viewport.width}x${session.viewport.height}`,
    session.sessionId,
  ]
  const left = [
    ...(packed.omitted > 0 ? [`${packed.omitted} copies of pages, to keep the file below ${fileBytes / 1e6} MB`] : []),
    ...(omitted.steps > 0 ? [`${omitted.steps} commands after the first ${steps.length}`] : []),
    ...(omitted.events > 0 ? [`${omitted.events} events after the first ${limits.replay.events}`] : []),
  ]
  return `<header><h1>Replay of ${escapeHtml(redaction.text(session.name ?? session.sessionId))}</h1><p>${chips.join(' ')}</p>
<p class="facts">${facts.map(escapeHtml).join(' · ')}</p>${endOf(session)}${left.length > 0 ? `<p class="note">Left out: ${left.join('; ')}.</p>` : ''}
<noscript><p class="note">Without scripts, this page lists the commands, but not the copies of the pages.</p></noscript>`
}

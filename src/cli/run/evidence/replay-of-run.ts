/** The replay of a script's session, with the outcome of its steps: a reader may have only this file. */
import { gunzipSync, gzipSync } from 'node:zlib'
import { escapeHtml } from '../../../core/html/page.ts'
import type { Mask } from '../../../core/access/mask.ts'
import type { EngineAccess } from '../call.ts'
import type { ScriptReport, ScriptStart } from '../report.ts'
import { failureBlock, stepList, stepsStyle } from '../reporters/html.ts'
import { placeText, stepTitle } from '../reporters/reporter.ts'

export type RunResults = Pick<ScriptReport, 'steps' | 'failure'>

interface ReplayTools {
  readonly mask: Mask
  readonly signal: AbortSignal
  /** Number of the last event of the session when the first step failed. */
  readonly failedAt: number | undefined
}

/** Returns the replay of the session as HTML. @throws BaxError as GET /diagnostics/{session_id}/replay */
export async function replayOfRun(
  { download, sessionId }: EngineAccess,
  script: Pick<ScriptStart, 'file' | 'name'> & RunResults,
  { mask, signal, failedAt }: ReplayTools,
): Promise<string> {
  const { bytes } = await download('replaySession', { session_id: sessionId()! }, { signal })
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  const html = Buffer.concat(chunks).toString()
  return atFailure(masked(html, mask), script, failedAt)
    .replace('</style>', () => `${style}</style>`)
    .replace('</header>', () => `${outcomeOf(script)}</header>`)
}

const style = `${stepsStyle}
.run{border:1px solid var(--line);border-radius:.5rem;margin:.6rem 0 0;padding:.6rem 1rem}
.scripted .steps .step:not(.current){display:list-item}.steps .step+.step{margin:0}
.run h2{overflow-wrap:anywhere}.run>details{margin-top:.4rem}
`

/** Returns why the script failed, and its steps, most of which are commands of the replay. */
function outcomeOf({ file, name, steps, failure }: Parameters<typeof replayOfRun>[1]): string {
  const failed = steps.filter(({ status }) => status === 'failed')
  const status = failed.length > 0 || failure ? 'failed' : 'passed'
  const faults = failed.map(
    (step) =>
      `<p>${escapeHtml(stepTitle(step))} <span class="facts">${escapeHtml(placeText(step))}</span></p>${failureBlock(step.failure!)}`,
  )
  return `<section class="run"><h2>Script ${escapeHtml(name)} <span class="chip ${status}">${status}</span></h2><p class="facts">${escapeHtml(file)}</p>
${failure ? failureBlock(failure) : ''}${faults.join('')}
<details><summary>Steps of the script (${steps.length})</summary>${stepList(steps.map((step) => ({ ...step, pictures: [] })))}</details></section>`
}

const commandSections =
  /(<section class="step" id="s\d+" data-status="(\w+)" data-seq="(\d+)")(>\n<div class="head"><h2>.*<\/h2>)/g

/** Marks the last command before the failure of a step, with which the replay opens. */
function atFailure(html: string, { steps }: RunResults, failedAt: number | undefined): string {
  const step = steps.find(({ failure }) => failure)
  if (!step || failedAt === undefined) return html
  const seqs = [...html.matchAll(commandSections)].map(([, , , seq]) => Number(seq))
  const last = seqs.findLastIndex((seq) => seq < failedAt)
  let at = -1
  return html.replace(commandSections, (whole, start: string, status: string, _seq, head: string) => {
    at += 1
    if (at !== last) return whole
    const title = `<p><b>The script failed here</b>, in step ${escapeHtml(stepTitle(step))} <span class="facts">${escapeHtml(placeText(step))}</span></p>`
    // A failed command shows its error itself.
    return `${start} data-failed-step${head}${title}${status === 'failed' ? '' : failureBlock(step.failure!)}`
  })
}

/** Blocks whose text is no text of the session, of which the last one has the copies of the pages. */
const blocks = /(<style>[^]*?<\/style>|<script\b[^>]*>[^]*?<\/script>)/
const copies = /^(<script\b[^>]*\bid="pages">)([^<]+)(<\/script>)$/

/** Masks secrets of the script, also in the compressed copies of the pages. */
function masked(html: string, mask: Mask): string {
  return html
    .split(blocks)
    .map((part) => {
      const [, open, packed, close] = copies.exec(part) ?? []
      if (packed !== undefined) return `${open}${maskedCopies(packed, mask)}${close}`
      return blocks.test(part) ? part : mask.text(part)
    })
    .join('')
}

/** Screenshots show what the page showed, as everywhere. */
function maskedCopies(packed: string, mask: Mask): string {
  const content = JSON.parse(gunzipSync(Buffer.from(packed, 'base64')).toString()) as {
    readonly parts: readonly string[]
  }
  return gzipSync(JSON.stringify({ ...content, parts: content.parts.map(mask.text) })).toString('base64')
}

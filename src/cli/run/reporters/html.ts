/** Writes a self-contained HTML report: no scripts, no requests, screenshots as data URLs. */
import {
  type Failure,
  type Screenshot,
  type RunReport,
  type ScriptReport,
  type StepReport,
  countResults,
} from '../report.ts'
import { escapeHtml, htmlPage } from '../../../core/html/page.ts'
import { readableMs } from '../../../core/text/readable-ms.ts'
import { counted } from '../../output/counted.ts'
import { placeText, type Reporter, type Sink, stepTitle } from './reporter.ts'

/** Styles of the steps of a script. */
export const stepsStyle = `
ol.steps{list-style:none;padding:0}
.steps .step{padding:.35rem 0;border-top:1px solid var(--line)}
.steps .mark{display:inline-block;width:1.2em;font-weight:bold}
.passed>.mark{color:var(--good)}.failed>.mark{color:var(--bad)}.steps .skipped{color:var(--dim)}
.steps .fault{margin-left:1.2em}
.steps .note{margin:.2rem 0 .2rem 1.2em}
.steps .step>details{margin-left:1.2em}
`

const style = `
body{max-width:70rem}
.script{border:1px solid var(--line);border-radius:.5rem;margin:1rem 0;padding:.6rem 1rem}
.note{margin:.2rem 0 .2rem 1.2em}
figure{display:inline-block;margin:.6rem 1rem .2rem 1.2em;max-width:30rem;vertical-align:top}
figure img{max-width:100%;border:1px solid var(--line)}figcaption{color:var(--dim);font-size:.85rem}${stepsStyle}`

export const htmlReporter = (sink: Sink): Reporter => ({ end: (run) => sink.write(page(run)) })

function page(run: RunReport): string {
  const { scripts, steps } = countResults(run)
  const chips = Object.entries(scripts)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `<span class="chip ${status}">${count} ${status}</span>`)
    .join(' ')
  const facts = [
    run.startedAt,
    readableMs(run.durationMs),
    counted(steps.passed + steps.failed + steps.skipped, 'step'),
    ...(run.shard ? [`shard ${run.shard.index} of ${run.shard.of}`] : []),
    run.runId,
  ]
  const title = `bax run: ${scripts.failed > 0 ? `${scripts.failed} failed` : 'passed'}`
  const body = `<header><h1>bax run</h1><p>${chips}</p><p class="facts">${facts.map(escapeHtml).join(' · ')}</p></header>
<main>
${run.scripts.map(script).join('\n')}
</main>`
  return htmlPage({ title, style, body })
}

function script(report: ScriptReport): string {
  const { name, file, status, durationMs, steps, failure, notes, artifacts, attempt } = report
  const retry = attempt > 1 ? [`attempt ${attempt}`] : []
  const facts = [file, readableMs(durationMs), counted(steps.length, 'step'), ...retry]
  const files = artifacts.map((path) => `<li><code>${escapeHtml(path)}</code></li>`).join('')
  return `<details class="script"${status === 'failed' || status === 'flaky' ? ' open' : ''}>
<summary><span class="chip ${status}">${status}</span> <b>${escapeHtml(name)}</b> <span class="facts">${facts.map(escapeHtml).join(' · ')}</span></summary>
${failure ? failureBlock(failure) : ''}${notes.map((note) => `<p class="note">${escapeHtml(note)}</p>`).join('')}
${stepList(steps)}
${files ? `<h3>Files</h3><ul>${files}</ul>` : ''}
</details>`
}

/** Returns the steps of a script with their outcomes. */
export const stepList = (steps: readonly StepReport[]): string => `<ol class="steps">${steps.map(step).join('\n')}</ol>`

function step(report: StepReport): string {
  const { status, durationMs, tries, failure, note, value, pictures, phase } = report
  const facts = [
    ...(status === 'skipped' ? [] : [readableMs(durationMs)]),
    ...(tries > 1 ? [`${tries} tries`] : []),
    ...(phase === 'finally' ? ['finally'] : []),
    placeText(report),
  ]
  const body = [
    failure ? failureBlock(failure) : '',
    note === undefined ? '' : `<p class="note">${escapeHtml(note)}</p>`,
    value === undefined || value === null
      ? ''
      : `<details><summary>result</summary><pre>${escapeHtml(asJson(value))}</pre></details>`,
    pictures.map(figure).join(''),
  ].join('')
  return `<li class="step ${status}"><span class="mark">${marks[status]}</span> ${escapeHtml(stepTitle(report))} <span class="facts">${facts.map(escapeHtml).join(' · ')}</span>${body}</li>`
}

const marks = { passed: '✓', failed: '✗', skipped: '–' } as const

export function failureBlock({ message, code, expected, actual }: Failure): string {
  const rows = [
    ...(expected === undefined ? [] : [['expected', asJson(expected)] as const]),
    ...(actual === undefined ? [] : [['actual', asJson(actual)] as const]),
  ]
  const table = rows.map(([name, text]) => `<dt>${name}</dt><dd><pre>${escapeHtml(text)}</pre></dd>`).join('')
  return `<div class="fault"><p>${escapeHtml(message)} <code>${escapeHtml(code)}</code></p>${table ? `<dl>${table}</dl>` : ''}</div>`
}

const figure = ({ label, png }: Screenshot): string =>
  `<figure><img alt="${escapeHtml(label)}" src="data:image/png;base64,${Buffer.from(png).toString('base64')}"><figcaption>${escapeHtml(label)}</figcaption></figure>`

const asJson = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

/** Writes a self-contained HTML report: no scripts, no requests, screenshots as data URLs. */
import {
  type Failure,
  type Screenshot,
  type RunReport,
  type ScriptReport,
  type StepReport,
  countResults,
} from '../report.ts'
import { counted } from '../../output/counted.ts'
import { placeText, readableMs, type Reporter, type Sink, stepTitle } from './reporter.ts'

/** With a light and a dark theme. */
const stylesheet = `
:root{color-scheme:light dark;--line:#8884;--dim:#777;--good:#1a7f37;--bad:#c62828;--odd:#9a6700;--box:#8881}
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;margin:0}h3{font-size:1rem;margin:1rem 0 .3rem}
.facts{color:var(--dim);font-size:.85rem}
.chip{display:inline-block;padding:0 .6em;border-radius:1em;color:#fff;background:var(--dim);font-size:.8rem}
.chip.passed{background:var(--good)}.chip.failed{background:var(--bad)}.chip.flaky{background:var(--odd)}
.script{border:1px solid var(--line);border-radius:.5rem;margin:1rem 0;padding:.6rem 1rem}
summary{cursor:pointer}ol{list-style:none;padding:0}
.step{padding:.35rem 0;border-top:1px solid var(--line)}
.mark{display:inline-block;width:1.2em;font-weight:bold}
.passed>.mark{color:var(--good)}.failed>.mark{color:var(--bad)}.skipped{color:var(--dim)}
.fault{border-left:3px solid var(--bad);background:var(--box);padding:.4rem .8rem;margin:.4rem 0 .4rem 1.2em}
.fault p{margin:0}.note{color:var(--dim);margin:.2rem 0 .2rem 1.2em}
.step>details{margin-left:1.2em}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--box);padding:.4rem .6rem;margin:.2rem 0;max-height:24rem;overflow:auto}
dl{display:grid;grid-template-columns:auto 1fr;gap:.2rem .8rem;margin:.4rem 0 0}dd{margin:0}
figure{display:inline-block;margin:.6rem 1rem .2rem 1.2em;max-width:30rem;vertical-align:top}
figure img{max-width:100%;border:1px solid var(--line)}figcaption{color:var(--dim);font-size:.85rem}
`

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
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>bax run: ${scripts.failed > 0 ? `${scripts.failed} failed` : 'passed'}</title>
<style>${stylesheet}</style>
</head>
<body>
<header><h1>bax run</h1><p>${chips}</p><p class="facts">${facts.map(escaped).join(' · ')}</p></header>
<main>
${run.scripts.map(script).join('\n')}
</main>
</body>
</html>
`
}

function script(report: ScriptReport): string {
  const { name, file, status, durationMs, steps, failure, notes, artifacts, attempt } = report
  const retry = attempt > 1 ? [`attempt ${attempt}`] : []
  const facts = [file, readableMs(durationMs), counted(steps.length, 'step'), ...retry]
  const files = artifacts.map((path) => `<li><code>${escaped(path)}</code></li>`).join('')
  return `<details class="script"${status === 'failed' || status === 'flaky' ? ' open' : ''}>
<summary><span class="chip ${status}">${status}</span> <b>${escaped(name)}</b> <span class="facts">${facts.map(escaped).join(' · ')}</span></summary>
${failure ? failureBlock(failure) : ''}${notes.map((note) => `<p class="note">${escaped(note)}</p>`).join('')}
<ol>${steps.map(step).join('\n')}</ol>
${files ? `<h3>Files</h3><ul>${files}</ul>` : ''}
</details>`
}

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
    note === undefined ? '' : `<p class="note">${escaped(note)}</p>`,
    value === undefined || value === null
      ? ''
      : `<details><summary>result</summary><pre>${escaped(asJson(value))}</pre></details>`,
    pictures.map(figure).join(''),
  ].join('')
  return `<li class="step ${status}"><span class="mark">${marks[status]}</span> ${escaped(stepTitle(report))} <span class="facts">${facts.map(escaped).join(' · ')}</span>${body}</li>`
}

const marks = { passed: '✓', failed: '✗', skipped: '–' } as const

function failureBlock({ message, code, expected, actual }: Failure): string {
  const rows = [
    ...(expected === undefined ? [] : [['expected', asJson(expected)] as const]),
    ...(actual === undefined ? [] : [['actual', asJson(actual)] as const]),
  ]
  const table = rows.map(([name, text]) => `<dt>${name}</dt><dd><pre>${escaped(text)}</pre></dd>`).join('')
  return `<div class="fault"><p>${escaped(message)} <code>${escaped(code)}</code></p>${table ? `<dl>${table}</dl>` : ''}</div>`
}

const figure = ({ label, png }: Screenshot): string =>
  `<figure><img alt="${escaped(label)}" src="data:image/png;base64,${Buffer.from(png).toString('base64')}"><figcaption>${escaped(label)}</figcaption></figure>`

const asJson = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character)

/** Writes JUnit XML as Jenkins and GitLab read it: a script is a suite, a step is a case. */
import { type Failure, type RunReport, type ScriptReport, type StepReport, countResults } from '../report.ts'
import { type Reporter, type Sink, stepTitle } from './reporter.ts'

export const junitReporter = (sink: Sink): Reporter => ({ end: (run) => sink.write(document(run)) })

function document(run: RunReport): string {
  const { steps } = countResults(run)
  const errors = run.scripts.filter(({ failure }) => failure).length
  const counts = {
    tests: steps.passed + steps.failed + steps.skipped + errors,
    failures: steps.failed,
    errors,
    skipped: steps.skipped,
  }
  const head = attributes({ name: 'bax run', ...counts, time: seconds(run.durationMs) })
  const suites = run.scripts.map((script) => suite(script)).join('')
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${head}>\n${suites}</testsuites>\n`
}

function suite(script: ScriptReport): string {
  const { steps, failure } = script
  const count = (status: StepReport['status']) => steps.filter((step) => step.status === status).length
  const errors = failure ? 1 : 0
  const head = attributes({
    name: script.name,
    tests: steps.length + errors,
    failures: count('failed'),
    errors,
    skipped: count('skipped'),
    time: seconds(script.durationMs),
    timestamp: script.startedAt,
    file: script.file,
  })
  const cases = [...(failure ? [sessionCase(script, failure)] : []), ...stepCases(script)]
  return `  <testsuite${head}>\n${cases.join('')}  </testsuite>\n`
}

/** Makes names unique in a suite: readers of JUnit files merge cases with the same name. */
function stepCases(script: ScriptReport): string[] {
  const seen = new Map<string, number>()
  const firstFailed = script.steps.find(({ status }) => status === 'failed')
  return script.steps.map((step) => {
    const title = stepTitle(step)
    const times = (seen.get(title) ?? 0) + 1
    seen.set(title, times)
    return stepCase(script, step, times > 1 ? `${title} #${times}` : title, step === firstFailed)
  })
}

function stepCase(script: ScriptReport, step: StepReport, name: string, hasFiles: boolean): string {
  const { place, durationMs, status, failure, note } = step
  const time = seconds(durationMs)
  const head = attributes({ classname: script.file, name, time, file: place.file, line: place.line })
  const body = [
    ...(failure ? [failureElement('failure', failure)] : []),
    ...(status === 'skipped' ? [`      <skipped${note === undefined ? '' : attributes({ message: note })}/>\n`] : []),
    ...(status !== 'skipped' && note !== undefined ? [output(note)] : []),
    ...(hasFiles && script.artifacts.length > 0 ? [attachments(script.artifacts)] : []),
  ]
  return body.length > 0 ? `    <testcase${head}>\n${body.join('')}    </testcase>\n` : `    <testcase${head}/>\n`
}

const sessionCase = (script: ScriptReport, failure: Failure): string =>
  `    <testcase${attributes({ classname: script.file, name: 'session', time: '0', file: script.file })}>\n${failureElement('error', failure)}    </testcase>\n`

function failureElement(tag: 'failure' | 'error', { message, code, expected, actual }: Failure): string {
  const lines = [
    message,
    ...(expected === undefined ? [] : [`expected: ${JSON.stringify(expected)}`]),
    ...(actual === undefined ? [] : [`actual:   ${JSON.stringify(actual)}`]),
  ]
  return `      <${tag}${attributes({ message: message.replace(/\n.*/s, ''), type: code })}>${escaped(lines.join('\n'))}</${tag}>\n`
}

/** Attaches files in the form that Jenkins and GitLab read. */
const attachments = (files: readonly string[]): string =>
  output(files.map((file) => `[[ATTACHMENT|${file}]]`).join('\n'))

const output = (text: string): string => `      <system-out>${escaped(text)}</system-out>\n`

const seconds = (ms: number): string => (ms / 1000).toFixed(3)

const attributes = (values: Readonly<Record<string, string | number>>): string =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(String(value)).replaceAll('\n', '&#10;').replaceAll('"', '&quot;')}"`)
    .join('')

/** Escapes text. XML 1.0 cannot contain most control characters or unpaired surrogates. */
const escaped = (text: string): string =>
  text
    // eslint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')

import { type AnyNode, hasChildren, isTag, isText } from 'domhandler'
import { parseDocument } from 'htmlparser2'
import { describe, expect, test } from 'vitest'
import type { RunReport, ScriptReport, StepReport } from '../../../../src/cli/run/report.ts'
import { htmlReporter } from '../../../../src/cli/run/reporters/html.ts'
import { jsonReporter } from '../../../../src/cli/run/reporters/json.ts'
import { junitReporter } from '../../../../src/cli/run/reporters/junit.ts'
import { LineReporter } from '../../../../src/cli/run/reporters/line.ts'
import { readableMs } from '../../../../src/core/text/readable-ms.ts'
import type { Reporter, Sink } from '../../../../src/cli/run/reporters/reporter.ts'
import { plainStyle } from '../../../../src/cli/output/style.ts'

const place = { file: 'a&b.yaml', line: 3, column: 5 }
const step = (more: Partial<StepReport>): StepReport => ({
  number: '1',
  name: 'click <a>',
  place,
  phase: 'steps',
  status: 'passed',
  durationMs: 12.4,
  tries: 1,
  pictures: [],
  ...more,
})
const script = (more: Partial<ScriptReport>): ScriptReport => ({
  file: 'a&b.yaml',
  name: 'Shop "one"',
  attempt: 1,
  status: 'passed',
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 1500,
  steps: [],
  artifacts: [],
  notes: [],
  ...more,
})
const failure = {
  message: 'it is "<b>"\nand \u0007\uD800 more',
  code: 'expectation_failed',
  expected: '<a>',
  actual: ['<b>'],
}
const run = (...scripts: ScriptReport[]): RunReport => ({
  runId: 'run_1',
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 61_400,
  scripts,
})

/** Returns the decoded text of a node. */
const textContent = (node: AnyNode): string =>
  isText(node) ? node.data : hasChildren(node) ? node.children.map(textContent).join('') : ''

function outputOf(make: (sink: Sink) => Reporter, report: RunReport): string {
  let text = ''
  const sink: Sink = {
    write: (chunk) => void (text += chunk),
    style: plainStyle,
    live: false,
    columns: 80,
    cwd: '/work',
  }
  make(sink).end(report)
  return text
}

describe('JUnit', () => {
  const broken = script({
    status: 'failed',
    artifacts: ['kept/a.png'],
    steps: [
      step({}),
      step({ item: { index: 1, of: 2 } }),
      step({}),
      step({ number: '2', status: 'failed', failure }),
      step({ number: '3', status: 'skipped', note: 'not "run"' }),
    ],
  })

  test('is valid XML with any text, and has unique names', () => {
    const xml = outputOf(junitReporter, run(broken))
    const document = parseDocument(xml, { xmlMode: true })
    const suites = document.children.find(isTag)!
    expect(suites.attribs).toMatchObject({ tests: '5', failures: '1', errors: '0', skipped: '1', time: '61.400' })
    const suite = suites.children.find(isTag)!
    expect(suite.attribs).toMatchObject({ name: 'Shop "one"', file: 'a&b.yaml', timestamp: '2026-01-01T00:00:00.000Z' })
    const cases = suite.children.filter(isTag)
    expect(cases.map(({ attribs }) => attribs['name'])).toEqual([
      '1 click <a>',
      '1 click <a> (1 of 2)',
      '1 click <a> #2',
      '2 click <a>',
      '3 click <a>',
    ])
    const [fault, output] = cases[3]!.children.filter(isTag)
    expect(fault!.attribs).toEqual({ message: 'it is "<b>"', type: 'expectation_failed' })
    expect(textContent(fault!)).toBe('it is "<b>"\nand \uFFFD\uFFFD more\nexpected: "<a>"\nactual:   ["<b>"]')
    expect(textContent(output!)).toBe('[[ATTACHMENT|kept/a.png]]')
    expect(cases[4]!.children.find(isTag)!.attribs).toEqual({ message: 'not "run"' })
  })

  test('reports failures outside the steps as errors', () => {
    const xml = outputOf(
      junitReporter,
      run(script({ status: 'failed', failure: { message: 'no browser', code: 'browser_not_found' } })),
    )
    expect(xml).toContain('tests="1" failures="0" errors="1"')
    expect(xml).toContain('<error message="no browser" type="browser_not_found">no browser</error>')
  })
})

describe('HTML', () => {
  test('escapes texts, and embeds images', () => {
    const picture = { label: '<shot>', png: new Uint8Array([1, 2, 3]) }
    const html = outputOf(
      htmlReporter,
      run(script({ status: 'failed', steps: [step({ status: 'failed', failure, pictures: [picture] })] })),
    )
    const text = textContent(parseDocument(html))
    expect(text).toContain('click <a>')
    expect(text).toContain('it is "<b>"')
    expect(html).toContain('<img alt="&lt;shot&gt;" src="data:image/png;base64,AQID">')
    expect(html).not.toContain('<b>"')
    expect(html).toContain(`content="default-src 'none'`)
  })
})

test('JSON uses the field names of the HTTP API', () => {
  const json = JSON.parse(
    outputOf(jsonReporter, run(script({ status: 'flaky', attempt: 2, steps: [step({ value: 3 })] }))),
  ) as object
  expect(json).toEqual({
    run_id: 'run_1',
    success: true,
    started_at: '2026-01-01T00:00:00.000Z',
    duration_ms: 61_400,
    totals: { scripts: { passed: 0, failed: 0, flaky: 1, skipped: 0 }, steps: { passed: 1, failed: 0, skipped: 0 } },
    scripts: [
      {
        file: 'a&b.yaml',
        name: 'Shop "one"',
        status: 'flaky',
        attempt: 2,
        started_at: '2026-01-01T00:00:00.000Z',
        duration_ms: 1500,
        steps: [
          {
            number: '1',
            name: 'click <a>',
            ...place,
            phase: 'steps',
            status: 'passed',
            duration_ms: 12,
            tries: 1,
            value: 3,
          },
        ],
        artifacts: [],
        notes: [],
      },
    ],
  })
})

test('the last line counts scripts and steps', () => {
  const steps = [step({}), step({ status: 'skipped' })]
  expect(
    outputOf((sink) => new LineReporter(sink), run(script({ steps }), script({ status: 'flaky', attempt: 2, steps }))),
  ).toBe('\n2 scripts: 1 passed, 1 flaky; 4 steps: 2 passed, 2 skipped (1 min 1 s)\n')
})

test.each([
  [3.4, '3 ms'],
  [999.4, '999 ms'],
  [1000, '1.0 s'],
  [59_900, '59.9 s'],
  [125_000, '2 min 5 s'],
])('%s ms read as %s', (ms, text) => expect(readableMs(ms)).toBe(text))

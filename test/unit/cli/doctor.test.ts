import { expect, test } from 'vitest'
import { linesOf } from '../../../src/cli/commands/engine/doctor.ts'
import { plainStyle } from '../../../src/cli/output/style.ts'

test('what mends a check stands below it, line by line, where its own text begins', () => {
  const mend = 'run one of: bax setup\n  apt-get install -y chromium\n  npx playwright install chromium'
  const checks = [
    { name: 'node', ok: true, needed: true, found: 'v20.20.2' },
    { name: 'browser', ok: false, needed: true, found: 'no Chromium was found', mend, looked: ['/usr/bin/chromium'] },
    { name: 'docker', ok: false, needed: false, found: 'no socket' },
  ]
  expect(linesOf(checks, plainStyle)).toEqual([
    '✓ node     v20.20.2',
    '✗ browser  no Chromium was found',
    '           looked at /usr/bin/chromium',
    '           run one of: bax setup',
    '             apt-get install -y chromium',
    '             npx playwright install chromium',
    '- docker   no socket',
  ])
})

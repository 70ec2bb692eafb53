import { expect, test } from 'vitest'
import { linesOf } from '../../../src/cli/commands/engine/doctor.ts'
import { plainStyle } from '../../../src/cli/output/style.ts'

test('prints the fix of a failed check below it, aligned with its text', () => {
  const mend = 'run one of: bax setup\n  apt-get install -y chromium\n  npx playwright install chromium'
  const checks = [
    { name: 'node', ok: true, needed: true, found: 'v20.20.2' },
    { name: 'browser', ok: false, needed: true, found: 'no Chromium was found', mend, looked: ['/usr/bin/chromium'] },
    { name: 'docker', ok: false, needed: false, found: 'no socket' },
  ]
  expect(linesOf(checks, plainStyle)).toEqual([
    '✓ node     v20.20.2',
    '✗ browser  no Chromium was found',
    '           checked /usr/bin/chromium',
    '           run one of: bax setup',
    '             apt-get install -y chromium',
    '             npx playwright install chromium',
    '- docker   no socket',
  ])
})

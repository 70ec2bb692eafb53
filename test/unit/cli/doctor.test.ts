import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkDocker } from '../../../src/cli/checks.ts'
import { linesOf } from '../../../src/cli/commands/engine/doctor.ts'
import { plainStyle } from '../../../src/cli/output/style.ts'
import { readSettings } from '../../../src/cli/settings.ts'

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

test('checks the Docker of the settings file, unless a variable names another one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bax-doctor-'))
  try {
    const config = join(folder, 'config.json')
    const missing = `unix://${folder}/none.sock`
    await writeFile(config, JSON.stringify({ shell: { docker_host: missing } }))
    const check = (env: Record<string, string>) =>
      checkDocker(readSettings({}, { env: { BAX_CONFIG: config, ...env }, cwd: folder }))
    expect(await check({})).toMatchObject({ ok: false, found: `no socket at ${folder}/none.sock` })
    expect(await check({ DOCKER_HOST: 'tcp://10.0.0.5:2375' })).toMatchObject({
      ok: true,
      found: 'tcp://10.0.0.5:2375',
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})

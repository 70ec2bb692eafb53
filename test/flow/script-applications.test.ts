/**
 * Sessions on real applications become scripts, which do the same again: one session of each application, and with
 * BAX_TEST_WHOLE=1 all of them, three times each.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Job, leaf, type Subject } from '../support/application-jobs.ts'
import { missingForPhp, type ServedApplication } from '../support/debian-php.ts'
import { adminer } from '../support/jobs/adminer-jobs.ts'
import { dokuWiki } from '../support/jobs/dokuwiki-jobs.ts'
import { mediaWiki } from '../support/jobs/mediawiki-jobs.ts'
import { phpLiteAdmin } from '../support/jobs/phpliteadmin-jobs.ts'
import { runPlaywrightTest } from '../support/playwright-test.ts'
import { driverOf } from '../support/session-drivers.ts'
import { sessionScripts } from '../support/session-scripts.ts'
import { keepFolders } from '../support/stored.ts'

const reason = missingForPhp()
const whole = process.env['BAX_TEST_WHOLE'] === '1'
const given = sessionScripts()

/** Does a job in a session, and repeats it by both of its scripts; the application forgets it before each repetition. */
async function repeats<App extends ServedApplication>(
  app: App,
  { by, use, stored, expected }: Job<App>,
): Promise<void> {
  const kept = await keepFolders(app.folders)
  onTestFinished(async () => {
    await kept.restore()
    await kept.remove()
  })
  const secrets = { PASSWORD: app.password, PASSWORD_2: 'tr0mbone' }
  await given.folder.write('rows.csv', 'id,name,price\n7,Assam,5\n8,Pu-erh,9\n')
  await given.folder.write(
    'rows.sql',
    "INSERT INTO teas VALUES (70, 'Keemun', 8);\nINSERT INTO teas VALUES (71, 'Yunnan', 7);\n",
  )
  await given.folder.write('leaf.png', leaf)
  await given.folder.write('stem.png', leaf)
  const driver = await driverOf(by, given)
  await use(driver, app)
  expect(await stored(app)).toEqual(expected)
  const { script } = await given.exported(driver.session)
  await given.exported(driver.session, 'flow.spec.ts', ['--format', 'playwright'])
  await given.homes.clients.http.closeSession({ session_id: driver.session })
  for (const secret of Object.values(secrets)) expect(script).not.toContain(secret)
  for (let run = 0; run < (whole ? 3 : 1); run++) {
    await kept.restore()
    const { code, stderr: errors, stdout } = await given.cli(['run', 'flow.yaml', '--strict'], secrets)
    expect([code, code === 0 ? '' : `${stdout}${errors}\n${script}`]).toEqual([0, ''])
    expect([await stored(app), script]).toEqual([expected, script])
  }
  await kept.restore()
  await runPlaywrightTest(given.folder.path, 'flow.spec.ts', secrets)
  expect(await stored(app)).toEqual(expected)
}

function repeatsOf<App extends ServedApplication>({ name, start, jobs }: Subject<App>): void {
  describe.skipIf(reason)(`a script of a session on ${name}${reason ? ` (skipped: ${reason})` : ''}`, () => {
    let app: App
    beforeAll(async () => {
      app = await start()
    })
    afterAll(() => app.close())
    for (const job of jobs.filter(({ usual }) => whole || usual))
      test(`${job.title}: ${job.by}`, { timeout: whole ? 600_000 : 240_000 }, () => repeats(app, job))
  })
}

repeatsOf(dokuWiki)
repeatsOf(mediaWiki)
repeatsOf(phpLiteAdmin)
repeatsOf(adminer)

/** Log-ins on sites that ask something after the password; see login.test.ts. */
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'
import { both, testLogins, testRefusals, withCredentials } from '../support/logins.ts'
import { answers, questionPages, questions } from '../support/question-pages.ts'

inUsualHomes(questionPages, (given) => {
  withCredentials(given)

  testRefusals(
    given,
    Object.entries(questions).map(([name, [, asks]]) => ['plain', `/start/${name}`, `the page asks ${asks}`] as const),
  )

  testRefusals(
    given,
    ['two-apps', 'no-app'].map((name) => ['ann', `/start/${name}`, `the page asks ${questions[name]![1]}`] as const),
  )

  testLogins(given, [
    ...['buttons', 'radios', 'links'].map((name) => [`/start/${name}`, [...both, 'totp']] as const),
    ...Object.keys(answers).map((name) => [`/start/${name}`, both] as const),
  ])

  test('says on the page itself what it asks', async () => {
    await given.open('/show/consent')
    expect(await given.fails('login', { credential: 'ann', timeout_ms: 1000 })).toMatchObject({
      error: 'could not log in with ann: the page asks for a consent: Allow, Deny',
      hint: expect.stringContaining('bax handoff'),
    })
  })
})

/** Secrets in the data of commands, which scripts replace by references. */
import { describe, expect, test } from 'vitest'
import { keptEntries } from '../../../../src/engine/browser/journal/kept-entries.ts'
import { entryOf } from '../../../support/journal-entries.ts'

const jwt = 'eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl'

describe('the data of a command', () => {
  test.each([
    ['write_clipboard', { text: 'geheim' }, { text: '${env.CLIPBOARD}' }],
    ['set_cookies', { cookies: 'sid=geheim' }, { cookies: '${env.COOKIES}' }],
    [
      'set_local_storage',
      {
        items: [
          { key: 'accessToken', value: 'geheim' },
          { key: 'user', value: '{"name":"Ann","refresh_token":"geheim"}' },
          { key: 'theme', value: '{ "dark": true }' },
        ],
      },
      {
        items: [
          { key: 'accessToken', value: '${env.TOKEN}' },
          { key: 'user', value: '${env.TOKEN_2}' },
          { key: 'theme', value: '{ "dark": true }' },
        ],
      },
    ],
    ['set_session_storage', { items: [{ key: 'a', value: jwt }] }, { items: [{ key: 'a', value: '${env.TOKEN}' }] }],
    [
      'add_route',
      { url: '**/api', set_headers: { Authorization: 'geheim', accept: 'text/html' } },
      { url: '**/api', set_headers: { Authorization: '${env.HEADER}', accept: 'text/html' } },
    ],
    [
      'navigate_to',
      { url: 'https://a.test/?token=geheim&page=2#access_token=geheim2' },
      { url: 'https://a.test/?token=${env.TOKEN}&page=2#access_token=${env.TOKEN_2}' },
    ],
    ['new_tab', { url: 'https://ann:geheim@a.test/' }, { url: 'https://ann:${env.PASSWORD}@a.test/' }],
    ['navigate_to', { url: `https://a.test/?token=x.${jwt}` }, { url: 'https://a.test/?token=${env.TOKEN}' }],
    [
      'evaluate',
      { expression: `call(\`\${x}\`, 'Bearer geheim1234', '${jwt}')` },
      { expression: "call(`$${x}`, 'Bearer ${env.TOKEN}', '${env.TOKEN_2}')" },
    ],
    ['wait_for', { url: 'https://a.test/?code=*' }, { url: 'https://a.test/?code=*' }],
    ['fill', { selector: '#unknown', text: 'geheim' }, { selector: '#unknown', text: '${env.PASSWORD}' }],
  ])('%s %j has references', (command, data, expected) => {
    expect(entryOf(command, data).data).toEqual(expected)
  })

  test('has references for numbers and lists in the secret fields of a form', () => {
    const { data, templates } = entryOf(
      'fill_form',
      { fields: { PIN: 1234, Codes: ['12', 34], User: 5, Stay: true } },
      { elements: [['#pin', { secret: true }], ['#codes', { secret: true }], ['#user'], ['#stay', { secret: true }]] },
    )
    expect(templates).toEqual(['fields'])
    expect(data).toEqual({
      fields: { PIN: '${env.PASSWORD}', Codes: ['${env.PASSWORD_2}', '${env.PASSWORD_3}'], User: 5, Stay: true },
    })
  })

  test.each(['press_key', 'key_down', 'key_up'])('%s types nothing of a secret', (command) => {
    const reasonFor = (key: string) => keptEntries([entryOf(command, { key }, { isFocusSecret: true })]).leftOut[0]
    for (const key of ['h', 'H', 'Shift+H', 'KeyH', 'Digit1', '+', 'Shift++', 'Space', 'shift+h', 'Alt+e'])
      expect([key, reasonFor(key)?.reason]).toEqual([key, 'a key for a field with a secret'])
    for (const key of ['Enter', 'return', 'Shift+Tab', 'Control+A', 'cmd+v', 'ArrowLeft', 'Shift'])
      expect([key, reasonFor(key)]).toEqual([key, undefined])
  })
})

import { expect, test } from 'vitest'
import { liveInput, type LiveInputMessage } from '../../../src/core/shapes/live-view.ts'
import { TypedText } from '../../../src/engine/browser/privacy/typed-text.ts'

const typed = (...inputs: readonly LiveInputMessage[]): TypedText => {
  const texts = new TypedText({ withUrls: true })
  for (const input of inputs) texts.add(liveInput.parse(input))
  return texts
}
const text = (value: string): LiveInputMessage => ({ type: 'text', text: value })

test.each<[string, LiveInputMessage]>([
  ['a reload', { type: 'history', go: 'reload' }],
  ['a step back', { type: 'history', go: 'back' }],
  ['a URL', { type: 'navigate', url: 'example.com' }],
  ['a click', { type: 'mouse', action: 'down', x: 1, y: 1 }],
])('ends a text at %s', (_, input) => {
  const texts = typed(text('ada.lovelace'), input, text('next field'))
  expect(texts.redact('ada.lovelace, next field')).toBe('[redacted], [redacted]')
})

test.each([
  ['https://shop.test/magic/3f9a77', 'https://shop.test[redacted]'],
  ['https://shop.test/login?mail=ada%40x.test&n=1', 'https://shop.test[redacted]'],
  ['shop.test/reset#token=abc-def-ghi', 'https://shop.test[redacted]'],
  [' 127.0.0.1:3000/x?a=12345 ', 'http://127.0.0.1:3000[redacted]'],
  ['https://shop.test', 'https://shop.test/'],
  ['https://shop.test//', 'https://shop.test//'],
])('hides what follows the host of %s', (url, shown) => {
  const href = url.includes('://') ? url : `${url.includes('127') ? 'http' : 'https'}://${url.trim()}`
  expect(typed({ type: 'navigate', url }).redact(new URL(href).href)).toBe(shown)
})

test('hides values of a typed URL elsewhere', () => {
  const texts = typed({ type: 'navigate', url: 'https://shop.test/login?mail=ada%40x.test#code=k3y-of-ada' })
  expect(texts.redact('mail to ada@x.test with k3y-of-ada')).toBe('mail to [redacted] with [redacted]')
})

test('hides the value of a field that was typed in pieces', () => {
  const texts = typed(text('lovelac'), { type: 'mouse', action: 'down', x: 1, y: 1 }, text('ada.'))
  expect(texts.redact('I am ada.lovelace')).toBe('I am ada.lovelace')
  texts.addValue('ada.lovelace')
  expect(texts.redact('I am ada.lovelace')).toBe('I am [redacted]')
})

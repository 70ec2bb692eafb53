import { globSync } from 'tinyglobby'
import { beforeEach, expect, test } from 'vitest'
import { catalogue } from '../src/commands/index.ts'
import { operations, sockets, streams, transfers } from '../src/operations/index.ts'
import { core } from './rings.ts'
import { recordedCalls, terminalCommands } from './support/calls.ts'

const files = globSync(core)
const advice = 'call these in a file of `core` in test/rings.ts'

beforeEach((context) => {
  const run = recordedCalls('file')
  const missing = files.filter((file) => !run.has(file))
  context.skip(missing.length > 0, `${missing.length} files of npm test have not run`)
})

test('every operation succeeds in npm test', () => {
  const done = recordedCalls('operation')
  const names = Object.keys({ ...operations, ...streams, ...transfers, ...sockets })
  expect(
    names.filter((name) => !done.has(name)),
    advice,
  ).toEqual([])
})

test('every browser command succeeds in npm test', () => {
  const done = recordedCalls('browser command')
  expect(
    [...catalogue.keys()].filter((name) => !done.has(name)),
    advice,
  ).toEqual([])
})

test('every terminal command succeeds in npm test', async () => {
  const done = recordedCalls('terminal command')
  expect(
    (await terminalCommands()).filter((name) => !done.has(name)),
    advice,
  ).toEqual([])
})

test('the errors of every operation in npm test are those that it declares', () => {
  expect([...recordedCalls('undeclared error')], 'add these to `errors` of the operations').toEqual([])
})

import { expect, test } from 'vitest'
import { lateOptimization } from '../../../src/cli/extract/late-optimization.ts'

const calls = ['--invocation-count-for-turbofan=27000', '--invocation-count-for-maglev=2000']

test.each([
  ['v20.20.2', ['--interrupt-budget=600000']],
  ['v22.8.0', calls],
  ['v24.1.0', calls],
  // V8 would report flags that it does not know.
  ['v26.0.0', []],
])('uses the flags of Node %s', (version, flags) => {
  expect(lateOptimization(version)).toEqual(flags)
})

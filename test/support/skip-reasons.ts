/** A reporter that lists the reasons of skipped tests at the end: the note of `context.skip`, or a part of the title, see `titled`. */
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node'

export class SkipReasons implements Reporter {
  readonly #others: readonly string[]
  #filtered = false

  /** `others` are reasons of tests that do not even start. */
  constructor(others: readonly string[] = []) {
    this.#others = others
  }

  onInit(vitest: Vitest): void {
    this.#filtered = vitest.config.testNamePattern !== undefined
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = new Map<string, number>()
    for (const module of modules) {
      for (const test of module.children.allTests('skipped')) {
        const reason = noteOf(test) ?? reasonOf(test)
        // Excluded by `-t`.
        if (reason === undefined && this.#filtered) continue
        const line = reason ?? `without a reason in ${module.relativeModuleId}`
        counts.set(line, (counts.get(line) ?? 0) + 1)
      }
    }
    const lines = [...[...counts].map(([line, count]) => `${count} ${line}`), ...this.#others]
    if (lines.length > 0) process.stdout.write(`\nSkipped tests:\n${lines.map((line) => `  ${line}\n`).join('')}`)
  }
}

function noteOf(test: TestCase): string | undefined {
  const result = test.result()
  return result.state === 'skipped' ? result.note : undefined
}

/** Returns the reason in the title of the test, or of a suite around it. */
function reasonOf(test: TestCase): string | undefined {
  for (let at: TestCase | TestSuite | TestModule = test; at.type !== 'module'; at = at.parent) {
    const reason = /skipped[,:] (.+?)\)?$/.exec(at.name)?.[1]
    if (reason !== undefined) return reason
  }
  return undefined
}

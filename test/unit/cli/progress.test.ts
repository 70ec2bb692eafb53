import { describe, expect, test } from 'vitest'
import { withLog } from '../../../src/cli/output/progress.ts'
import { LineReporter } from '../../../src/cli/run/reporters/line.ts'
import { plainStyle } from '../../../src/cli/output/style.ts'
import type { Io } from '../../../src/cli/io.ts'

function terminal(isTTY: boolean) {
  const written: string[] = []
  const stderr = {
    isTTY,
    columns: 60,
    write: (chunk: string) => written.push(chunk),
    cursorTo: () => true,
    clearLine: () => true,
    moveCursor: () => true,
  }
  return { io: { stderr, env: {} } as never as Io, text: () => written.join('') }
}

describe('withLog', () => {
  test('shows the number of lines and the last one', async () => {
    const { io, text } = terminal(true)
    await withLog(io, 'building', async (line) => {
      line('unpacking')
      line('configuring')
      await expect.poll(text).toMatch(/building: \d+ s, 2 lines, configuring/)
    })
  })

  test('shows nothing without a terminal, and prints the last lines of work that fails', async () => {
    const { io, text } = terminal(false)
    const work = withLog(io, 'building', async (line) => {
      for (let count = 0; count < 30; count += 1) line(`line ${count}`)
      expect(text()).toBe('')
      throw new Error('broken')
    })
    await expect(work).rejects.toThrow('broken')
    expect(text().split('\n').slice(0, -1)).toEqual(Array.from({ length: 20 }, (_, at) => `line ${at + 10}`))
  })
})

describe('the line reporter on a terminal', () => {
  test('shows how many scripts and steps are done, and the totals', () => {
    const written: string[] = []
    const reporter = new LineReporter({
      write: (text: string) => void written.push(text),
      style: plainStyle,
      live: true,
      columns: 200,
    } as never)
    const script = { file: 'a.yaml', name: 'A', steps: 3, attempt: 1 }
    const step = (number: string) => ({ number, name: 'get_title', place: {}, phase: 'steps' }) as never
    reporter.begin({ scripts: 2 } as never)
    reporter.scriptStarted(script)
    reporter.stepStarted(script, step('1'))
    expect(written.at(-1)).toContain('0 of 2 scripts done')
    expect(written.at(-1)).toContain('0 of 3 steps done')
    reporter.stepFinished(script, { ...(step('1') as object), status: 'passed', durationMs: 5, tries: 1 } as never)
    reporter.stepStarted(script, step('2'))
    expect(written.at(-1)).toContain('1 of 3 steps done')
    reporter.end({ scripts: [], durationMs: 5 } as never)
  })
})

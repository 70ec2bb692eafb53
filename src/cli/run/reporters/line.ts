/** Writes one line per step; on a terminal the running steps are shown below with their time. */
import { resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import {
  type Failure,
  type RunReport,
  type ScriptReport,
  type ScriptStart,
  type StepReport,
  type StepStart,
  countResults,
} from '../report.ts'
import { counted } from '../../output/counted.ts'
import { readableMs } from '../../../core/text/readable-ms.ts'
import { placeText, type Reporter, type ReportFile, type Sink, stepTitle } from './reporter.ts'

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const frameMs = 80

export class LineReporter implements Reporter {
  readonly #sink: Sink
  readonly #reports: readonly ReportFile[]
  readonly #running = new Map<string, { title: string; since: number }>()
  /** Number of finished steps and of all steps of each running script. */
  readonly #steps = new Map<string, { done: number; readonly of: number }>()
  #scripts = { done: 0, of: 1 }
  #frame = 0
  #drawn = false
  #timer: NodeJS.Timeout | undefined

  /** `reports` are the files of the other reporters, which are named at the end. */
  constructor(sink: Sink, reports: readonly ReportFile[] = []) {
    this.#sink = sink
    this.#reports = reports
  }

  begin({ scripts }: { scripts: number }): void {
    this.#scripts = { done: 0, of: scripts }
  }

  scriptStarted({ file, name, attempt, steps }: ScriptStart): void {
    this.#steps.set(file, { done: 0, of: steps })
    const { bold, dim } = this.#sink.style
    const again = attempt > 1 ? `, retry ${attempt - 1}` : ''
    this.#line(`${bold(name)} ${dim(`${file}, ${counted(steps, 'step')}${again}`)}`)
  }

  stepStarted(script: ScriptStart, step: StepStart): void {
    if (!this.#sink.live) return
    this.#running.set(script.file, { title: this.#titled(script, step), since: performance.now() })
    this.#timer ??= setInterval(() => this.#draw(), frameMs)
    this.#draw()
  }

  stepFinished(script: ScriptStart, step: StepReport): void {
    const { dim, green, red, yellow } = this.#sink.style
    this.#running.delete(script.file)
    const steps = this.#steps.get(script.file)
    if (steps) steps.done += 1
    const title = this.#titled(script, step)
    const time = dim(`(${readableMs(step.durationMs)}${step.tries > 1 ? `, ${step.tries} tries` : ''})`)
    const note = step.note === undefined ? '' : dim(` ${step.note}`)
    if (step.status === 'skipped') this.#line(`  ${yellow('-')} ${title}${note}`)
    else if (step.status === 'passed') this.#line(`  ${green('✓')} ${title} ${time}${note}`)
    else this.#line(`  ${red('✗')} ${title} ${time}: ${oneLine(step.failure!)}`)
    this.#draw()
  }

  scriptFinished({ name, file, failure, notes }: ScriptReport): void {
    const { red, yellow } = this.#sink.style
    this.#running.delete(file)
    this.#steps.delete(file)
    this.#scripts.done += 1
    if (failure) this.#line(`  ${red('✗')} ${name}: ${oneLine(failure)}`)
    for (const note of notes) this.#line(`  ${yellow('!')} ${note}`)
  }

  end(report: RunReport): void {
    clearInterval(this.#timer)
    this.#erase()
    const failed = report.scripts.filter(({ status }) => status === 'failed')
    for (const script of failed) this.#writeFailures(script)
    const { bold, green, red } = this.#sink.style
    const { scripts, steps } = countResults(report)
    const paint = scripts.failed > 0 ? red : green
    this.#sink.write(
      `\n${bold(paint(sentence('script', scripts)))}; ${sentence('step', steps)} (${readableMs(report.durationMs)})\n`,
    )
    for (const { status, artifacts } of report.scripts)
      if (status !== 'failed') for (const path of artifacts) this.#sink.write(`  ${this.#link(path)}\n`)
    for (const { name, file } of this.#reports) this.#sink.write(`${name} report: ${this.#link(file)}\n`)
  }

  #link(file: string): string {
    const { cwd, style } = this.#sink
    return style.cyan(style.link(file, resolve(cwd, file)))
  }

  #titled(script: ScriptStart, step: StepStart): string {
    return this.#scripts.of > 1 ? `${this.#sink.style.dim(script.file)} ${stepTitle(step)}` : stepTitle(step)
  }

  #writeFailures({ name, file, steps, failure, artifacts }: ScriptReport): void {
    const { bold, dim, red } = this.#sink.style
    this.#sink.write(`\n${bold(name)} ${dim(file)}\n`)
    if (failure) this.#sink.write(`  ${red(failure.message)} ${dim(`[${failure.code}]`)}\n`)
    for (const step of steps.filter(({ status }) => status === 'failed')) {
      const { message, code, expected, actual } = step.failure!
      this.#sink.write(`  ${stepTitle(step)} ${dim(placeText(step))}\n    ${red(message)} ${dim(`[${code}]`)}\n`)
      if (expected !== undefined) this.#sink.write(`    expected: ${JSON.stringify(expected)}\n`)
      if (actual !== undefined) this.#sink.write(`    actual:   ${JSON.stringify(actual)}\n`)
    }
    for (const path of artifacts) this.#sink.write(`  ${this.#link(path)}\n`)
  }

  #line(text: string): void {
    this.#erase()
    this.#sink.write(`${text}\n`)
  }

  #draw(): void {
    if (!this.#sink.live || this.#running.size === 0) return
    this.#frame = (this.#frame + 1) % frames.length
    const parts = [...this.#running].map(
      ([file, { title, since }]) => `${title} ${readableMs(performance.now() - since)}${this.#progress(file)}`,
    )
    const { done, of } = this.#scripts
    const all = this.#scripts.of > 1 ? [`${done} of ${of} scripts done`] : []
    const text = `  ${frames[this.#frame]} ${[...all, ...parts].join(' · ')}`
    this.#sink.write(`\r\u001B[2K${cut(text, this.#sink.columns)}`)
    this.#drawn = true
  }

  /** Formats the progress of a script; loops can run more steps than were known at the start. */
  #progress(file: string): string {
    const { done, of } = this.#steps.get(file) ?? { done: 0, of: 0 }
    return of > 1 && done < of ? `, ${done} of ${of} steps done` : ''
  }

  #erase(): void {
    if (this.#drawn) this.#sink.write('\r\u001B[2K')
    this.#drawn = false
  }
}

/** Truncates a line, without counting colours: a line as wide as the terminal would wrap and could not be redrawn. */
function cut(text: string, columns: number): string {
  const plain = stripVTControlCharacters(text)
  return plain.length < columns ? text : `${plain.slice(0, Math.max(1, columns - 2))}…`
}

const oneLine = ({ message }: Failure): string => message.replaceAll(/\s*\n\s*/g, ' ')

const sentence = (noun: string, counts: Readonly<Record<string, number>>): string => {
  const parts = Object.entries(counts).filter(([, count]) => count > 0)
  const all = parts.reduce((sum, [, count]) => sum + count, 0)
  return [counted(all, noun), parts.map(([status, count]) => `${count} ${status}`).join(', ')]
    .filter(Boolean)
    .join(': ')
}

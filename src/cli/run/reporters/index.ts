/** Selects reporters by name and opens their outputs. */
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import { didYouMean } from '../../../core/errors/suggest.ts'
import type { Io, Output } from '../../io.ts'
import { plainStyle, styleFor } from '../../output/style.ts'
import { cannotWrite } from '../../output/write-output.ts'
import type { Mask } from '../../../core/access/mask.ts'
import { htmlReporter } from './html.ts'
import { jsonReporter, ndjsonReporter } from './json.ts'
import { junitReporter } from './junit.ts'
import { LineReporter } from './line.ts'
import type { Reporter, ReportFile, Sink } from './reporter.ts'
import { makeFolders } from '../../../core/state/folders.ts'

const kinds: Readonly<Record<string, (sink: Sink, reports: readonly ReportFile[]) => Reporter>> = {
  line: (sink, reports) => new LineReporter(sink, reports),
  json: jsonReporter,
  ndjson: ndjsonReporter,
  junit: junitReporter,
  html: htmlReporter,
}

const reporterNames = Object.keys(kinds)

/** A reporter selected on the command line. */
export interface ReporterChoice {
  readonly name: string
  /** Output file; the terminal by default. */
  readonly file?: string
}

/** Parses `line,junit=report.xml`, given once or repeatedly. @throws BaxError `invalid_request` */
export function parseReporters(given: readonly string[]): ReporterChoice[] {
  const choices = given
    .flatMap((text) => text.split(','))
    .filter((text) => text.trim() !== '')
    .map((text) => {
      const [name = '', ...rest] = text.trim().split('=')
      const file = rest.join('=')
      if (!Object.hasOwn(kinds, name)) {
        const problem = `unknown reporter ${JSON.stringify(name)}${didYouMean(name, reporterNames)}`
        throw new BaxError('invalid_request', problem, {
          hint: `use ${reporterNames.join(', ')}, each also as name=file`,
        })
      }
      return { name, ...(file && { file }) }
    })
  const toStdout = choices.filter(({ name, file }) => name !== 'line' && file === undefined)
  const [first] = toStdout
  if (first && toStdout.length > 1) {
    const names = toStdout.map(({ name }) => name).join(' and ')
    throw new BaxError('invalid_request', `${names} cannot both write to stdout`, {
      hint: `give all but one a file, e.g. --reporter ${first.name}=report.${first.name}`,
    })
  }
  return choices.length > 0 ? choices : [{ name: 'line' }]
}

/** Opens the outputs before anything runs. @throws BaxError `invalid_request` for a file that cannot be written. */
export async function openReporters(choices: readonly ReporterChoice[], io: Io, mask: Mask) {
  const files: number[] = []
  // When a machine-readable report uses stdout, the lines for humans go to stderr.
  const stdoutTaken = choices.some(({ name, file }) => name !== 'line' && file === undefined)
  const terminal = async (output: Output): Promise<Sink> => ({
    write: (text) => void output.write(mask.text(text)),
    style: await styleFor(io, output),
    live: Boolean(output.isTTY) && io.env['TERM'] !== 'dumb',
    columns: output.columns ?? 80,
    cwd: io.cwd,
  })
  const toFile = (file: string): Sink => {
    const path = resolve(io.cwd, file)
    const handle = orCannotWrite(path, () => openFile(path))
    files.push(handle)
    return {
      write: (text) => orCannotWrite(path, () => writeFileSync(handle, text)),
      style: plainStyle,
      live: false,
      columns: 120,
      cwd: io.cwd,
    }
  }
  const reports = choices.flatMap(({ name, file }) => (file === undefined ? [] : [{ name, file }]))
  const reporters: Reporter[] = []
  for (const { name, file } of choices) {
    const output = name === 'line' && stdoutTaken ? io.stderr : io.stdout
    const sink = file === undefined ? await terminal(output) : toFile(file)
    reporters.push(kinds[name]!(sink, reports))
  }
  return { reporters, close: () => files.forEach((handle) => closeSync(handle)) }
}

function openFile(path: string): number {
  makeFolders(dirname(path))
  return openSync(path, 'w')
}

function orCannotWrite<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw cannotWrite(path, error)
  }
}

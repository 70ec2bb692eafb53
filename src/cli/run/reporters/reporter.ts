/** The interface of reporters and their outputs. */
import type { Style } from '../../output/style.ts'
import type { RunReport, ScriptReport, ScriptStart, StepReport, StepStart } from '../report.ts'

/** Formats a run. Secrets are masked before reporters receive anything. */
export interface Reporter {
  begin?(run: { readonly runId: string; readonly startedAt: string; readonly scripts: number }): void
  scriptStarted?(script: ScriptStart): void
  stepStarted?(script: ScriptStart, step: StepStart): void
  stepFinished?(script: ScriptStart, step: StepReport): void
  scriptFinished?(script: ScriptReport): void
  end(run: RunReport): void
}

/** A file that a reporter writes. */
export interface ReportFile {
  /** Name of the reporter. */
  readonly name: string
  readonly file: string
}

/** An output of the process, or a file. */
export interface Sink {
  write(text: string): void
  readonly style: Style
  /** Whether lines can be redrawn, which files and pipes do not allow. */
  readonly live: boolean
  readonly columns: number
  /** Folder that paths are relative to. */
  readonly cwd: string
}

/** Formats the title of a step: `3 click #buy (2 of 5)`. */
export const stepTitle = ({ number, name, item }: StepStart): string =>
  `${number} ${name}${item ? ` (${item.index} of ${item.of})` : ''}`

/** Formats the position of a step: `shop.yaml:12:5`. */
export const placeText = ({ place }: StepStart): string => `${place.file}:${place.line}:${place.column}`

/** Prints the result of checking scripts: their errors, or the number of their steps. */
import { BaxError, exits } from '../../core/errors/errors.ts'
import { type Io, print } from '../io.ts'
import { counted } from '../output/counted.ts'
import type { LoadedScripts } from './load.ts'
import { countSteps, type Plan } from './script/plan.ts'
import { renderErrors } from './script/render-errors.ts'
import { groupErrors } from './script/script-errors.ts'

/** Prints the errors of scripts to stderr, and with `json` also as JSON to stdout; returns the exit code. */
export function reportErrors({ errors, mask }: Pick<LoadedScripts, 'errors' | 'mask'>, io: Io, json: boolean): number {
  const files = new Set(errors.flatMap(({ position }) => position?.file ?? []))
  const where = files.size > 1 ? ` in ${files.size} files` : ''
  const summary = `${counted(errors.length, 'error')}${where}; nothing was run`
  io.stderr.write(mask.text(`${renderErrors(errors)}\n${summary}\n`))
  if (json) {
    const groups = groupErrors(errors).map(({ message, positions }) => ({
      message,
      places: positions.map(({ file, span: { line, column } }) => ({ file, line, column })),
    }))
    print(io, JSON.stringify(mask.deep({ ...new BaxError('invalid_request', summary).toBody(), errors: groups })))
  }
  return exits.usage
}

/** Prints that the scripts have no errors; returns the exit code. */
export function reportChecked({ plans, mask }: Pick<LoadedScripts, 'plans' | 'mask'>, io: Io, json: boolean): number {
  const scripts = plans.map((plan) => ({ file: plan.file, name: plan.name, steps: stepsOf(plan) }))
  if (json) print(io, JSON.stringify(mask.deep({ success: true, scripts, errors: [] })))
  else for (const { file, steps } of scripts) print(io, `${file}: ${counted(steps, 'step')}, no errors`)
  return exits.done
}

const stepsOf = (plan: Plan): number => (plan.kind === 'script' ? countSteps(plan.block) : plan.places.length)

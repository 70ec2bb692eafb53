/** Marks in a recorded script what does not hold, and prints it. */
import type { Context } from '../context.ts'
import { note } from '../io.ts'
import type { LocatedEngine } from '../engine/locate-engine.ts'
import { stepLine } from '../../core/text/script/write-script.ts'
import type { ScriptFile } from './script-file.ts'
import { type Verification, verifySteps } from './verify.ts'

/** Replays the script in a new session, and adds remarks to the steps that do not hold, or were not replayed. */
export async function verifyScript(script: ScriptFile, context: Context, engine: LocatedEngine): Promise<Verification> {
  const { io, manifest } = context
  note(io, `verifying ${counted(script.count)} in a new session`)
  const result = await verifySteps(script.steps, context, engine)
  const { error, code, failed_step, reason, verified, steps } = result
  if (result.success) {
    note(io, `verified: ${counted(steps)} can be replayed`)
    return result
  }
  if (failed_step === undefined) {
    if (verified < steps) script.remark(verified, `not verified from here on: ${reason}`)
    note(io, `warning: only ${verified} of ${counted(steps)} were verified: ${reason}`)
  } else {
    const at = failed_step - 1
    script.remark(at, `does not hold when it is replayed: ${error} (${code})`)
    if (failed_step < steps) script.remark(failed_step, 'not verified from here on: the step before failed')
    const line = (await stepLine(script.steps[at]!, manifest)).split('\n').join(' ')
    note(io, `warning: step ${failed_step} does not hold when it is replayed: ${line}: ${error} (${code})`)
  }
  await script.write()
  return result
}

const counted = (steps: number): string => `${steps} ${steps === 1 ? 'step' : 'steps'}`

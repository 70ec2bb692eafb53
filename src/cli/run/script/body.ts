/** A plain body of POST /commands as a script: `{"commands": [{"command": …, "data": …}]}`. */
import { basename } from 'node:path'
import { renameAliases, unknownFields } from '../../../core/operation/unknown-fields.ts'
import { catalogue } from '../../../commands/index.ts'
import { operations } from '../../../operations/index.ts'
import { checkValue } from './check.ts'
import { pathOf } from './document.ts'
import type { FaultList } from './script-errors.ts'
import type { BodyPlan } from './plan.ts'

/** Checks a body as the service would, with the places of its faults. */
export function readBody(fields: Readonly<Record<string, unknown>>, faults: FaultList): BodyPlan {
  const { file } = faults.document
  const body = renameAliases(operations.runCommands.input, fields) as BodyPlan['body']
  checkValue({ schema: operations.runCommands.input, value: body, locate: (path) => path }, faults)
  const commands = Array.isArray(body.commands) ? body.commands : []
  for (const [index, call] of commands.entries()) tellUnknown(call, index, faults)
  return {
    kind: 'body',
    file,
    name: basename(file).replace(/\.(ya?ml|json)$/i, ''),
    body,
    places: commands.map((_, index) => {
      const { line, column } = faults.document.spanOf(['commands', index])
      return { file, line, column }
    }),
    secrets: [],
  }
}

/** A misspelled field of a command that has other faults too is not found through the union of all commands. */
function tellUnknown(call: { command?: unknown; data?: unknown } | null, index: number, faults: FaultList): void {
  const command = catalogue.get(String(call?.command))
  if (!command) return
  const at = `commands[${index}].data`
  for (const { path, hint } of unknownFields(command.data, call?.data, at)) {
    faults.addKey(pathOf(path), `${path} is not a known field${hint}`)
  }
}

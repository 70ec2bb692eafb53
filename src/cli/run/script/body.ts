/** Reads plain bodies of POST /commands as scripts: `{"commands": [{"command": …, "data": …}]}`. */
import { mappingOf } from '../../../core/text/is-mapping.ts'
import { renameAliases } from '../../../core/operation/input/given-fields.ts'
import { unknownFields } from '../../../core/operation/input/unknown-fields.ts'
import { catalogue } from '../../../commands/index.ts'
import { operations } from '../../../operations/index.ts'
import { renameCommands } from '../../parse/command-names.ts'
import { checkValue } from './check.ts'
import { pathOf } from './document.ts'
import type { ScriptErrorList } from './script-errors.ts'
import { scriptName } from '../files.ts'
import type { BodyPlan } from './plan.ts'

/** Validates a body as the engine does, and reports errors with their positions. */
export function readBody(fields: Readonly<Record<string, unknown>>, errors: ScriptErrorList): BodyPlan {
  const { file } = errors.document
  const body = renameAliases(operations.runCommands.input, renameCommands(fields)) as BodyPlan['body']
  checkValue(operations.runCommands.input, body, errors)
  const commands = Array.isArray(body.commands) ? body.commands : []
  for (const [index, call] of commands.entries()) reportUnknownFields(call, index, errors)
  return {
    kind: 'body',
    file,
    name: scriptName(file),
    body,
    places: commands.map((_, index) => errors.placeOf(['commands', index])),
    secrets: [],
  }
}

/** Reports unknown fields per command: the union of all commands does not find them in commands with other errors. */
function reportUnknownFields(call: unknown, index: number, errors: ScriptErrorList): void {
  const { command: name, data } = mappingOf(call)
  const command = catalogue.get(String(name))
  if (!command) return
  const at = `commands[${index}].data`
  for (const { path, hint } of unknownFields(command.data, data, at)) {
    errors.addKey(pathOf(path), `${path} is not a known field${hint}`)
  }
}

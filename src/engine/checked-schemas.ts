/** Validates the schemas of a batch before a session is created for it and before its first command runs. */
import type { Sessions } from '../core/engine.ts'
import type { CommandCall } from '../core/shapes/commands.ts'

export const withValidatedSchemas = (sessions: Sessions): Sessions => ({
  ...sessions,
  runCommands: async (batch, call) => {
    await checkSchemas(batch.commands)
    return sessions.runCommands(batch, call)
  },
  step: async (request, call) => {
    await checkSchemas(request.commands)
    return sessions.step(request, call)
  },
})

/** @throws BaxError `invalid_request` that names the field of the first invalid schema. */
async function checkSchemas(commands: readonly CommandCall[]): Promise<void> {
  for (const [at, { command, data }] of commands.entries()) {
    if (command !== 'extract_structured_content' || !data?.['schema']) continue
    const [{ checkFor }, { properSchema }] = await Promise.all([
      import('./extract/structured/validate.ts'),
      import('./extract/structured/shape.ts'),
    ])
    checkFor(properSchema(data['schema'] as Record<string, unknown>), `commands[${at}].data.schema`)
  }
}

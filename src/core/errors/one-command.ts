/** Errors of a batch of one command, for callers who do not know that their command was sent in a batch. */
import { BaxError } from './errors.ts'

const place = 'commands[0].data.'

/** Returns the error with fields named as the caller wrote them: `selector`, not `commands[0].data.selector`. */
export function ofOneCommand(error: BaxError): BaxError {
  const { code, message, hint, details, cause } = error
  return new BaxError(code, message.replaceAll(place, ''), {
    ...(hint && { hint }),
    ...(details && { details: JSON.parse(JSON.stringify(details).replaceAll(place, '')) as typeof details }),
    cause,
  })
}

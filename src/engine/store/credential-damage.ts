/** Messages about damaged records of credentials: their names are encrypted, and known only if they were read before. */
import { BaxError } from '../../core/errors/errors.ts'

const repair = (name: string): string => `"bax credential delete ${name}", and add it again`

export const damagedError = (name: string): BaxError =>
  new BaxError('credential_not_found', `the credential ${name} is damaged`, { hint: `run ${repair(name)}` })

/** Builds a warning about damaged records; `showIds` adds the IDs of those without a known name. */
export function damageWarning(
  ids: readonly string[],
  nameOf: (id: string) => string | undefined,
  showIds: boolean,
): string {
  const own = ids.flatMap((id) => nameOf(id) ?? []).map((name) => `${damagedError(name).message}: run ${repair(name)}`)
  const unknown = ids.filter((id) => nameOf(id) === undefined)
  if (unknown.length === 0) return own.join('; ')
  const listed = showIds ? ` (${unknown.join(', ')})` : ''
  const subject = `${unknown.length} stored credentials${listed}, of any key, cannot be listed because they are damaged`
  return [...own, `${subject}: for each name that is missing here, run ${repair('NAME')}`].join('; ')
}

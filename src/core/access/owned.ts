/** Resources that belong to the key they were created with; all other keys cannot see them. */
import { type Caller, canSee } from './caller.ts'
import { BaxError } from '../errors/errors.ts'

export interface Owned {
  /** ID of a key; null for resources created where no keys are in use. */
  readonly owner: string | null
}

export const isVisibleTo =
  (caller: Caller) =>
  ({ owner }: Owned): boolean =>
    canSee(caller, owner)

/**
 * Finds a resource by name, which several keys may use: the caller's own one, or the only visible one.
 * @throws BaxError `conflict` when several other keys use the name.
 */
export function findByName<T extends Owned & { readonly name: string | null }>(
  things: readonly T[],
  name: string,
  caller: Caller,
): T | undefined {
  const found = things.filter((thing) => thing.name === name && canSee(caller, thing.owner))
  const own = found.find(({ owner }) => owner === caller.keyId)
  if (own || found.length <= 1) return own ?? found[0]
  throw new BaxError('conflict', `${found.length} keys use the name ${JSON.stringify(name)}`, {
    hint: 'use the id instead of the name',
  })
}

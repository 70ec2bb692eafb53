/** Things that belong to the key they were made under: to every other key they are not there. */
import { type Caller, sees } from './caller.ts'
import { BaxError } from '../errors/errors.ts'

export interface Owned {
  /** A key, by its id; null for what was made where no keys are in use. */
  readonly owner: string | null
}

export const isSeen =
  (caller: Caller) =>
  ({ owner }: Owned): boolean =>
    sees(caller, owner)

/**
 * What a caller means by a name, which several keys may use: its own thing, or the only one of that name that it sees.
 * @throws BaxError `conflict` when several others have it.
 */
export function named<T extends Owned & { readonly name: string | null }>(
  things: readonly T[],
  name: string,
  caller: Caller,
): T | undefined {
  const found = things.filter((thing) => thing.name === name && sees(caller, thing.owner))
  const own = found.find(({ owner }) => owner === caller.keyId)
  if (own || found.length <= 1) return own ?? found[0]
  throw new BaxError('conflict', `${found.length} keys use the name ${JSON.stringify(name)}`, {
    hint: 'name the one that is meant by its id',
  })
}

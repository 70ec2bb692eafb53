/** Provisions by id: those under way, and for a while the settled ones. */
import { type Caller, sees } from '../../../core/access/caller.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { Provision, type ProvisionFacts, type Provisioning } from './provision.ts'

export class Provisions {
  readonly #known = new Map<string, Provision>()

  get underWay(): number {
    return [...this.#known.values()].filter(({ settledAt }) => !settledAt).length
  }

  begin(facts: ProvisionFacts): Provisioning {
    this.#forget()
    const begun = Provision.begin(facts)
    this.#known.set(begun.provision.id, begun.provision)
    return begun
  }

  /** @throws BaxError `provision_not_found`, also for what is somebody else's. */
  find(provisionId: string, caller: Caller): Provision {
    this.#forget()
    const provision = this.#known.get(provisionId)
    if (provision && sees(caller, provision.owner)) return provision
    throw new BaxError('provision_not_found', `no provision has the id ${JSON.stringify(provisionId)}`)
  }

  cancelAll(reason: BaxError): void {
    for (const provision of this.#known.values()) provision.cancel(reason)
  }

  #forget(): void {
    const oldest = Date.now() - limits.session.tombstoneMs
    for (const [id, { settledAt }] of this.#known) {
      if (settledAt && settledAt.getTime() < oldest) this.#known.delete(id)
    }
  }
}

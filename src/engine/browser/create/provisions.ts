/** Provisions by ID: the pending ones, and for a while the ended ones. */
import { type Caller, canSee } from '../../../core/access/caller.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { Provision, type ProvisionFacts, type Provisioning } from './provision.ts'

export class Provisions {
  readonly #byId = new Map<string, Provision>()

  get underWay(): number {
    return [...this.#byId.values()].filter(({ endedAt }) => !endedAt).length
  }

  begin(facts: ProvisionFacts): Provisioning {
    this.#expire()
    const provisioning = Provision.begin(facts)
    this.#byId.set(provisioning.provision.id, provisioning.provision)
    return provisioning
  }

  /** Returns a provision. @throws BaxError `provision_not_found`, also for provisions of other keys. */
  find(provisionId: string, caller: Caller): Provision {
    this.#expire()
    const provision = this.#byId.get(provisionId)
    if (provision && canSee(caller, provision.owner)) return provision
    throw new BaxError('provision_not_found', `no provision has the id ${JSON.stringify(provisionId)}`)
  }

  cancelAll(reason: BaxError): void {
    for (const provision of this.#byId.values()) provision.cancel(reason)
  }

  #expire(): void {
    const oldest = Date.now() - limits.session.tombstoneMs
    for (const [id, { endedAt }] of this.#byId) {
      if (endedAt && endedAt.getTime() < oldest) this.#byId.delete(id)
    }
  }
}

/**
 * The secret of the fleet, of which Redis has a fingerprint. The first member stores it, and all members renew it;
 * processes with another secret do not start. Once nobody has renewed it for the time of a lease, a process with another
 * secret replaces it, so that the secret can be changed. That process measures the time itself: while Redis is away,
 * nobody can renew anything.
 *
 * Renewals also detect that Redis lost the data of the fleet: the stored creation time has changed then.
 */
import { createHmac } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Log } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { dataLost } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'
import { prefix, type RunScript, scriptsOn } from './scripts/run.ts'

export interface SecretClaimOptions {
  /** A connection that others may share; it is not closed. */
  readonly redis: Redis
  readonly secret: Buffer
  readonly log: Log
  readonly leaseMs?: number
  readonly heartbeatMs?: number
}

const key = `${prefix}secret`

/** Does not reveal the secret, and differs from everything else that is derived from it. */
export const fingerprintOf = (secret: Buffer): string =>
  createHmac('sha256', secret).update('bax:fleet-secret').digest('hex')

/** Returns whether the fleet has this secret; undefined if no process with a secret was ever started. */
export async function isFleetSecret(redis: Redis, secret: Buffer): Promise<boolean | undefined> {
  const known = await redis.hget(key, 'fingerprint')
  return known === null ? undefined : known === fingerprintOf(secret)
}

export class SecretClaim {
  readonly #run: RunScript
  readonly #fingerprint: string
  readonly #leaseMs: number
  readonly #log: Log
  #timer: NodeJS.Timeout | undefined
  /** Last renewal of another secret, with the time on the monotonic clock when it was first seen. */
  #other: { readonly renewed: number; readonly since: number } | undefined
  /** Beginning of the data in Redis. */
  #since: number | undefined
  /** Time since the data was lost at the last renewal, in milliseconds; undefined if it was not. */
  #lossAgeMs: number | undefined

  private constructor({ redis, secret, log, leaseMs = limits.fleet.leaseMs }: SecretClaimOptions) {
    this.#run = scriptsOn(redis)
    this.#fingerprint = fingerprintOf(secret)
    this.#leaseMs = leaseMs
    this.#log = log
  }

  /**
   * Resolves once the fleet has this secret, and renews it until `close`. Waits while the members of a fleet with another
   * secret may still be running.
   * @throws BaxError `invalid_request` if they are, `fleet_unavailable`
   */
  static async begin(options: SecretClaimOptions): Promise<SecretClaim> {
    const { heartbeatMs = limits.fleet.heartbeatMs } = options
    const claim = new SecretClaim(options)
    await claim.#acquire(heartbeatMs / 3)
    claim.#timer = setInterval(() => void claim.#renew(), heartbeatMs).unref()
    return claim
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** @throws BaxError `fleet_unavailable` while the members recover from a loss of the data */
  async assertData(): Promise<void> {
    const [since, lossAgeMs] = await this.#run<[number, number]>('data')
    // Every request for something unknown asks, so that nothing is written unless there is a loss to record.
    if (since === this.#since) this.#compareData(since, lossAgeMs)
    else await this.#isHeld()
    if (this.#lossAgeMs === undefined || this.#lossAgeMs > this.#leaseMs) return
    throw new BaxError('fleet_unavailable', 'the fleet has lost its data, and its workers register again', {
      hint: 'retry in some seconds',
      retryAfterSecs: limits.overload.retryAfterSecs,
    })
  }

  async #acquire(pollMs: number): Promise<void> {
    if (await this.#isHeld()) return
    const found = this.#other!.renewed
    const details = { up_to_secs: Math.ceil(this.#leaseMs / 1000) }
    this.#log('warn', 'the fleet has another secret: waiting to see whether any of its members is running', details)
    for (;;) {
      await delay(pollMs)
      if (await this.#isHeld()) return
      if (this.#other!.renewed !== found) throw otherSecret()
    }
  }

  async #renew(): Promise<void> {
    // Fails while Redis is away; the next renewal is early enough.
    await this.#isHeld().catch(() => {})
  }

  /** Renews the secret, or replaces another one that nobody has renewed for the time of a lease. */
  async #isHeld(): Promise<boolean> {
    const other = this.#other
    const hasEnded = other && performance.now() - other.since >= this.#leaseMs
    const [renewed, since, lossAgeMs] = await this.#run<[number, number, number]>(
      'claim',
      this.#fingerprint,
      hasEnded ? other.renewed : '',
      this.#since ?? '',
    )
    this.#compareData(since, lossAgeMs)
    if (renewed === 0) this.#other = undefined
    else if (renewed !== other?.renewed) {
      this.#other = { renewed, since: performance.now() }
      // `#acquire` reports it before the first renewal.
      if (!other && this.#timer) this.#reportOther()
    }
    return renewed === 0
  }

  #reportOther(): void {
    const { message, hint } = otherSecret()
    this.#log('error', message, { hint })
  }

  #compareData(since: number, lossAgeMs: number): void {
    const isLost = this.#since !== undefined && this.#since !== since
    this.#since = since
    this.#lossAgeMs = lossAgeMs < 0 ? undefined : lossAgeMs
    if (isLost) this.#log('error', dataLost.message, { hint: dataLost.hint })
  }
}

const otherSecret = (): BaxError =>
  new BaxError('invalid_request', 'the secret is not that of the fleet: its gateways and workers have another one', {
    hint: 'pass the same --secret-file to all of them; to change the secret, end all of them first',
  })

/**
 * Builds of a fleet. The workers of each build form a generation: a gateway gives new work to its own generation only,
 * and still reaches objects on workers of other builds, so that a rolling upgrade cuts no session.
 */
import { BaxError } from '../../core/errors/errors.ts'
import type { WorkerRecord } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'

export interface Build {
  readonly build: string
  readonly version: string
}

/** Describes the builds of the workers if they differ from each other or from that of `owner`. */
export function mixedBuilds(workers: readonly Build[], own: Build, owner = 'this gateway'): string | undefined {
  const names = [...new Set(workers.map(nameOf))].toSorted()
  if (names.length === 0 || (names.length === 1 && names[0] === nameOf(own))) return undefined
  return `${owner} is ${nameOf(own)}, the workers are ${names.join(' and ')}`
}

/** @throws BaxError `fleet_unavailable` if workers accept new work, but none of them has this build. */
export function assertOwnBuild(workers: readonly WorkerRecord[], own: Build): void {
  const ready = workers.filter(({ state }) => state === 'ready')
  if (ready.length === 0 || ready.some(({ build }) => build === own.build)) return
  const others = [...new Set(ready.map(nameOf))].toSorted()
  throw new BaxError('fleet_unavailable', `this is ${nameOf(own)}, but all workers run ${others.join(' or ')}`, {
    hint: 'upgrade the workers first, then the gateways',
    details: { own: own.version, workers: [...new Set(ready.map(({ version }) => version))].toSorted() },
    retryAfterSecs: limits.overload.retryAfterSecs,
  })
}

const nameOf = ({ version, build }: Build): string => `bax ${version} (build ${build.slice(0, 12)})`

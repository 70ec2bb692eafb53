/** Asks one provider after the other until one answers. */
import { asBaxError, BaxError, type ProviderFault } from '../../core/errors/errors.ts'
import type { SearchConfig } from '../../core/config/config.ts'
import { isSetUp, type SearchProviderName, searchNeeds } from '../../core/config/search-providers.ts'
import { type Collected, collect } from './collect.ts'
import type { Question, SearchProvider } from './provider.ts'

export interface Answered extends Collected {
  readonly provider: SearchProviderName
}

/** Why a search ends early: whoever asked has gone, or the time is up. */
export interface AskSignals {
  readonly caller: AbortSignal
  readonly clock: AbortSignal
}

/** @throws BaxError `search_unavailable` with the failure of every provider. */
export async function ask(
  providers: readonly SearchProvider[],
  question: Question,
  { caller, clock }: AskSignals,
): Promise<Answered> {
  const faults: ProviderFault[] = []
  const signal = AbortSignal.any([caller, clock])
  for (const provider of providers) {
    const { name } = provider
    try {
      clock.throwIfAborted()
      const { results, warnings } = await collect(provider, question, signal)
      return { provider: name, results, warnings: [...faults.map(told), ...warnings] }
    } catch (error) {
      caller.throwIfAborted()
      const { code, message } = asBaxError(clock.aborted ? clock.reason : error)
      // A fault of ours is no answer of the provider's.
      if (code === 'internal_error') throw error
      faults.push({ provider: name, error: message, code })
    }
  }
  throw unavailable(faults)
}

const told = ({ provider, error }: ProviderFault): string => `${provider} gave no answer: ${error}`

function unavailable(faults: readonly ProviderFault[]): BaxError {
  const list = faults.map(({ provider, error }) => `${provider}: ${error}`).join('; ')
  return new BaxError('search_unavailable', list ? `no search provider answered (${list})` : 'no provider is set up', {
    details: faults,
    hint: hintFor(faults),
  })
}

function hintFor(faults: readonly ProviderFault[]): string {
  const asksPagesOnly = faults.every(({ provider }) => searchNeeds[provider as SearchProviderName].length === 0)
  if (!asksPagesOnly) return '`bax doctor` says which providers are set up'
  const setUp = 'set up BAX_SEARXNG_URL, BAX_BRAVE_KEY, BAX_SERPER_KEY, or BAX_GOOGLE_KEY with BAX_GOOGLE_CX'
  if (faults.some(({ code }) => code === 'browser_not_found')) return `get a browser with \`bax setup\`, or ${setUp}`
  if (faults.some(({ code }) => code === 'provider_blocked')) return `result pages often turn programs away: ${setUp}`
  return `for an API that is made for programs, ${setUp}`
}

/** @throws BaxError `invalid_request` when a provider that was asked for has not been told what it needs. */
export function checkProvider(name: SearchProviderName, config: SearchConfig): void {
  if (isSetUp(name, config)) return
  const variables = searchNeeds[name].map((need) => `BAX_${name}_${need}`.toUpperCase())
  throw new BaxError('invalid_request', `${name} is not set up in this engine`, {
    details: [{ path: 'provider', message: 'is not set up' }],
    hint: `set ${variables.join(' and ')} where the engine is started`,
  })
}

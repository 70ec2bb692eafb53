/** Removes secrets from the steps of scripts. */
import type { BrowserContext } from 'playwright'
import type { RecordedStep } from '../../../core/shapes/recording.ts'
import { hiderOf } from '../credentials/session-secrets.ts'
import { hiddenMark, waitGlob } from './wait-glob.ts'

type Step = RecordedStep & { readonly playwright?: Readonly<Record<string, string>> }

/** Returns steps without values of credentials and without what a person typed during a handoff. */
export function hideSteps<Given extends Step>(steps: readonly Given[], context: BrowserContext): Given[] {
  const hide = hiderOf(context)
  return steps.map((step) => {
    const hidden = hide(step)
    const { comment, playwright } = step
    const isIncomplete = hiddenMark.test(JSON.stringify(hidden.data))
    return {
      ...hidden,
      // A secret may be spelled like a command.
      command: step.command,
      ...(playwright && { playwright: Object.fromEntries(Object.entries(playwright).map((entry) => hide(entry))) }),
      ...(isIncomplete && { comment: [comment, 'a secret was removed from this step'].filter(Boolean).join('\n') }),
    }
  })
}

/** Returns the glob of a URL for a script; secrets are hidden first, because a glob spells them in another way. */
export function hiddenGlob(url: string, before: string | undefined, context: BrowserContext): string | undefined {
  const hide = hiderOf(context)
  return waitGlob(hide(url), hide(before))
}

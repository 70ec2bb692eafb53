/** Detects containers that can no longer respond, so that pending calls fail: paused, or cut off silently. */
import type { AgentChannel } from '../agent/channel.ts'

/** Silence during a call, in milliseconds, after which the agent is pinged and then Docker is asked. */
const silenceMs = 1000

/** Calls `inspect` while the agent does not respond, until the returned function is called. */
export function watch(channel: AgentChannel, inspect: () => Promise<void>): () => void {
  let pinged = false
  const ping = async () => {
    pinged = true
    // It fails only with the session, which reports that itself.
    await channel.ping().catch(() => {})
    pinged = false
  }
  const check = () => {
    if (!channel.busy || performance.now() - channel.receivedAt < silenceMs) return
    // A loaded machine is slow, too: only the state reported by Docker counts. Without it, the next check retries.
    if (pinged) inspect().catch(() => {})
    else void ping()
  }
  const timer = setInterval(check, silenceMs).unref()
  return () => clearInterval(timer)
}

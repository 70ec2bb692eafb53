/** Navigation errors that are not caused by the URL and disappear on a retry. */

/**
 * Matches a late error page of an earlier navigation, and a change of this machine's network interfaces (as with every
 * container that starts), after which Chromium closes all connections.
 */
const transient = /interrupted by another navigation to "chrome-error:|net::ERR_NETWORK_CHANGED/

/** Navigates, with up to two retries after a transient error. Not for form submissions, which must not be repeated. */
export function retryTransient<T>(navigate: () => Promise<T>): Promise<T> {
  const again = (error: unknown) => {
    if (!transient.test(String(error))) throw error
    return navigate()
  }
  return navigate().catch(again).catch(again)
}

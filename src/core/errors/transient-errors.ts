/** Errors of navigations that do not come from the address, and are gone when it is opened again. */

/**
 * The error page of an earlier navigation arrived late; or a network interface of this machine came or went, as with
 * every container that starts, upon which Chromium ends all connections.
 */
const passing = /interrupted by another navigation to "chrome-error:|net::ERR_NETWORK_CHANGED/

/** Navigates, and tries up to twice more after a passing error. For navigations that may be repeated: not for forms. */
export function retryPassing<T>(navigate: () => Promise<T>): Promise<T> {
  const again = (error: unknown) => {
    if (!passing.test(String(error))) throw error
    return navigate()
  }
  return navigate().catch(again).catch(again)
}

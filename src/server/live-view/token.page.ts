/** The token of a view whose link works once: when the page is reloaded, it uses the one that it received. */
const keyOf = (token: string) => `bax.live.${token}`
let linked = ''

/** Returns the token to connect with. */
export function currentToken(fromLink: string): string {
  linked = fromLink
  return storage()?.getItem(keyOf(linked)) ?? linked
}

export function keepToken(token: string): void {
  storage()?.setItem(keyOf(linked), token)
}

/** Returns the storage of the tab; undefined in a frame that may not use it, where a reloaded page does not connect again. */
function storage(): Storage | undefined {
  try {
    return sessionStorage
  } catch {
    return undefined
  }
}

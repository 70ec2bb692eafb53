/** Compares records for a list with the newest first. */
export const newestFirst = (a: { readonly created_at: string }, b: { readonly created_at: string }): number =>
  a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0

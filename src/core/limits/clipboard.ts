/** Limits on the clipboard of a session; part of `limits.ts`. */
export const clipboardLimits = {
  /** Maximum length of a copied text. */
  chars: 1_000_000,
} as const

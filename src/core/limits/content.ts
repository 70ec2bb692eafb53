/** Limits of request bodies, and of files that commands read; part of `limits.ts`. */
export const contentLimits = {
  bodyBytes: 10 * 1024 * 1024,
  /** Project files, scripts and stored screenshots. */
  projectFileBytes: 1024 * 1024,
  scriptBytes: 10 * 1024 * 1024,
  storedScreenshotBytes: 64 * 1024 * 1024,
  clipboard: {
    /** Maximum length of a copied text. */
    chars: 1_000_000,
  },
} as const

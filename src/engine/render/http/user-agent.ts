/** User agent of fetches, the same as of the rendering browser, so that sites send both the same content. */
export const httpUserAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36'

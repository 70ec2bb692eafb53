/** What a fetch calls itself: the browser that would render the same page, so that sites send both the same. */
export const httpUserAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36'

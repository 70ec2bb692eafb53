/** `./x.page.ts?inline`: the bundled text of a page script (scripts/inline-page.js), which sets `__bax_module`. */
declare module '*.page.ts?inline' {
  const script: string
  export default script
}

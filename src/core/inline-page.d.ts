/** `./x.page.ts?inline`: the bundled text of a script for the page (scripts/inline-page.js). Its exports are in the global `__bax_module`. */
declare module '*.page.ts?inline' {
  const script: string
  export default script
}

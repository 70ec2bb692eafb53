/** HTML pages in one file, for reports: with a light and a dark theme, and without requests. */
import { createHash } from 'node:crypto'

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text for content and quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character)

/** Colors and elements that all pages share. */
const theme = `
:root{color-scheme:light dark;--line:#8884;--dim:light-dark(#5f6368,#a0a4aa);--good:#1a7f37;--bad:#c62828;--odd:#9a6700;--box:#8881;--mark:light-dark(#0b57d0,#8ab4f8)}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;line-height:1.25;margin:0;overflow-wrap:anywhere}h2{font-size:1.1rem;margin:0}h3{font-size:1rem;margin:1rem 0 .3rem}
a{color:var(--mark)}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.87em}
.facts,.note{color:var(--dim);font-size:.85rem;overflow-wrap:anywhere}
.chip{display:inline-block;padding:0 .6em;border-radius:1em;color:#fff;background:#5f6368;font-size:.8rem;white-space:nowrap}
.chip.passed{background:var(--good)}.chip.failed{background:var(--bad)}.chip.flaky{background:var(--odd)}
.fault{border-left:3px solid var(--bad);background:var(--box);padding:.4rem .8rem;margin:.4rem 0;overflow-wrap:anywhere}
.fault p{margin:0}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--box);padding:.4rem .6rem;margin:.2rem 0;max-height:24rem;overflow:auto}
summary{cursor:pointer}
dl{display:grid;grid-template-columns:auto 1fr;gap:.2rem .8rem;margin:.4rem 0 0}dd{margin:0;min-width:0}
`

interface HtmlPage {
  readonly title: string
  /** Added to the theme. */
  readonly style: string
  readonly body: string
  /** The only script that may run. */
  readonly script?: string
}

/** Builds a page whose policy allows its own script, its own styles and data URLs, and nothing else. */
export function htmlPage({ title, style, body, script }: HtmlPage): string {
  const scripts = script === undefined ? '' : `; script-src 'sha256-${sha256(script)}'`
  const policy = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'${scripts}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(title)}</title>
<style>${theme}${style}</style>
</head>
<body>
${body}
${script === undefined ? '' : `<script>${script}</script>\n`}</body>
</html>
`
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64')

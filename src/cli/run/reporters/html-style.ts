/** Stylesheet of the HTML report, with a light and a dark theme. */
export const stylesheet = `
:root{color-scheme:light dark;--line:#8884;--dim:#777;--good:#1a7f37;--bad:#c62828;--odd:#9a6700;--box:#8881}
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;margin:0}h3{font-size:1rem;margin:1rem 0 .3rem}
.facts{color:var(--dim);font-size:.85rem}
.chip{display:inline-block;padding:0 .6em;border-radius:1em;color:#fff;background:var(--dim);font-size:.8rem}
.chip.passed{background:var(--good)}.chip.failed{background:var(--bad)}.chip.flaky{background:var(--odd)}
.script{border:1px solid var(--line);border-radius:.5rem;margin:1rem 0;padding:.6rem 1rem}
summary{cursor:pointer}ol{list-style:none;padding:0}
.step{padding:.35rem 0;border-top:1px solid var(--line)}
.mark{display:inline-block;width:1.2em;font-weight:bold}
.passed>.mark{color:var(--good)}.failed>.mark{color:var(--bad)}.skipped{color:var(--dim)}
.fault{border-left:3px solid var(--bad);background:var(--box);padding:.4rem .8rem;margin:.4rem 0 .4rem 1.2em}
.fault p{margin:0}.note{color:var(--dim);margin:.2rem 0 .2rem 1.2em}
.step>details{margin-left:1.2em}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--box);padding:.4rem .6rem;margin:.2rem 0;max-height:24rem;overflow:auto}
dl{display:grid;grid-template-columns:auto 1fr;gap:.2rem .8rem;margin:.4rem 0 0}dd{margin:0}
figure{display:inline-block;margin:.6rem 1rem .2rem 1.2em;max-width:30rem;vertical-align:top}
figure img{max-width:100%;border:1px solid var(--line)}figcaption{color:var(--dim);font-size:.85rem}
`

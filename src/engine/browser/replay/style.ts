/** Styles of a replay, beside those of all pages. */
export const replayStyle = `
body{margin:0;padding:0}
header{padding:1rem 1.2rem .6rem}header p{margin:.25rem 0 0}
.tools{display:flex;gap:.5rem 1rem;flex-wrap:wrap;align-items:center;padding:0 1.2rem .8rem;border-bottom:1px solid var(--line)}
.tools [type=search]{flex:1 1 14rem;max-width:30rem;min-width:0;font:inherit;padding:.3rem .6rem;border:1px solid var(--line);border-radius:.4rem;background:Canvas;color:CanvasText}
.layout{display:grid;grid-template-columns:minmax(15rem,21rem) minmax(0,1fr)}
nav{border-right:1px solid var(--line);position:sticky;top:0;max-height:100vh;overflow:auto}
nav ol{list-style:none;margin:0;padding:.3rem 0}
nav a{display:grid;grid-template-columns:1.2rem minmax(0,1fr) auto;gap:.4rem;align-items:baseline;padding:.3rem .8rem;color:inherit;text-decoration:none;border-left:3px solid transparent}
nav .what{overflow-wrap:anywhere;display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical;overflow:hidden}
nav a:hover{background:var(--box)}nav a[aria-current]{background:var(--box);border-left-color:var(--mark)}
nav a.passed .mark{color:light-dark(#1a7f37,#57ab5a)}nav a.failed .mark,.bad{color:light-dark(#c62828,#ff8a80)}nav a.failed b{color:light-dark(#c62828,#ff8a80)}nav a.skipped{color:var(--dim)}
.mark{font-weight:bold}
main{padding:1rem 1.2rem 3rem;min-width:0}
.step h2{overflow-wrap:anywhere}.step h2 code{font-weight:normal}
.head .facts{margin:.2rem 0 .6rem}.step>details{margin:.6rem 0}
.pages{font-size:.85rem;overflow-wrap:anywhere}.pages dt{color:var(--dim);white-space:nowrap}
.log{list-style:none;margin:.3rem 0;padding:0;font-size:.85rem;max-height:24rem;overflow:auto}.log li{overflow-wrap:anywhere;padding:.1rem 0}
.view{margin:.8rem 0 1rem}
.view .bar{display:flex;gap:.5rem;align-items:center;margin-bottom:.4rem}
button{font:inherit;padding:.15rem .8rem;border:1px solid var(--line);border-radius:.4rem;background:Canvas;color:CanvasText;cursor:pointer}
button[aria-pressed=true]{border-color:var(--mark);color:var(--mark);font-weight:600}
:focus-visible{outline:2px solid var(--mark);outline-offset:1px}
.screen{position:relative;overflow:hidden;border:1px solid var(--line);border-radius:.3rem;background:#fff;color-scheme:light}
.screen iframe,.screen img{border:0;display:block;transform-origin:0 0;max-width:none}
.screen p{color:#5f6368;margin:0;padding:2rem 1rem;text-align:center}
.view,.tools{display:none}.scripted .view{display:block}.scripted .tools{display:flex}
.scripted .step:not(.current){display:none}
.step+.step{margin-top:2rem}.scripted .step{margin-top:0}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.flag{border:1px solid var(--odd);border-radius:.3rem;padding:0 .3em;margin-right:.4em;color:light-dark(#7a5200,#e3b341);white-space:nowrap}
nav>p.facts{margin:.4rem .8rem 0}
.flags,.earlier:not(:empty){border-left:3px solid var(--odd);background:var(--box);padding:.4rem .8rem;margin:.4rem 0;overflow-wrap:anywhere}
.head h3{margin:0;font-size:.9rem}.head ul{margin:.2rem 0;padding-left:1.2rem}.earlier p{margin:0}
.controls ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem .4rem}.controls li{border:1px solid var(--line);border-radius:.3rem;padding:0 .4em;font-size:.85rem;overflow-wrap:anywhere}
.step:not([data-status=failed],[data-failed-step]) .pending{display:none}
@media (max-width:720px){.layout{display:block}nav{position:static;max-height:38vh;border-right:0;border-bottom:1px solid var(--line)}header,.tools{padding-left:.8rem;padding-right:.8rem}main{padding:.8rem}dl.pages{grid-template-columns:1fr;gap:0}dl.pages dd{margin-bottom:.3rem}}
`

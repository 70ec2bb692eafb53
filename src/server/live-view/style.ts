/** Styles of the live view, light and dark. */
export const style = `
:root { color-scheme: light dark; --line: light-dark(#d5d9e0, #333a45); --soft: light-dark(#5b6472, #98a2b3);
  --ground: light-dark(#f5f6f8, #14171c); --panel: light-dark(#fff, #1c2027); --accent: light-dark(#0b63ce, #6cb2ff) }
* { box-sizing: border-box }
body { margin: 0; height: 100vh; display: grid; grid-template: auto auto auto 1fr / 1fr minmax(16rem, 22rem);
  background: var(--ground); font: 13px/1.45 system-ui, sans-serif }
header, nav { grid-column: 1 / -1; display: flex; gap: .5rem; align-items: center; padding: .4rem .7rem;
  background: var(--panel); border-bottom: 1px solid var(--line) }
#name { font-weight: 600 }
#state { color: var(--soft) } #state::before { content: "●"; color: #23a55a; margin-right: .3em } #state.over::before { color: #d33 }
#holder { margin-left: auto; color: var(--accent) }
nav form { flex: 1 } #address { width: 100% }
input, button { font: inherit; padding: .2rem .5rem; border: 1px solid var(--line); border-radius: 5px;
  background: var(--ground); color: inherit } button:disabled { opacity: .5 }
#control { border-color: var(--accent); color: var(--accent) } .holding #control { background: var(--accent); color: var(--panel) }
#handoff { grid-column: 1 / -1; display: flex; gap: .5rem; align-items: center; padding: .5rem .7rem; background: var(--panel);
  border-bottom: 1px solid var(--line); font-size: 15px } #handoff[hidden] { display: none }
#handoff p { flex: 1; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere } #done { border-color: var(--accent); color: var(--accent) }
main, aside { grid-row: 4 }
main { display: grid; grid-template-rows: auto 1fr; min-width: 0; min-height: 0 }
#tabs { display: flex; gap: 2px; margin: 0; padding: .3rem .5rem 0; list-style: none; overflow: hidden }
#tabs li { padding: .15rem .6rem; border: 1px solid var(--line); border-bottom: 0; border-radius: 6px 6px 0 0; color: var(--soft);
  max-width: 16rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
#tabs [aria-current] { background: var(--panel); color: inherit }
#stage { min-height: 0; padding: .5rem; display: grid; place-items: center; container-type: size }
#screen { max-width: 100%; max-height: 100cqh; border: 1px solid var(--line); background: #fff; outline: 0 }
#keys { position: fixed; left: 0; top: 0; width: 1px; height: 1px; padding: 0; border: 0; opacity: 0; resize: none; pointer-events: none }
.holding #screen { border-color: var(--accent); box-shadow: 0 0 0 2px var(--accent) }
aside { display: grid; grid-template-rows: auto 1fr; min-height: 0; border-left: 1px solid var(--line); background: var(--panel) }
aside input { margin: .4rem }
#events { margin: 0; padding: 0 .5rem; list-style: none; overflow: auto; font: 11px/1.6 ui-monospace, monospace }
#events li { display: flex; gap: .6em; white-space: nowrap } #events li[hidden] { display: none }
#events span:first-child { color: var(--soft) } #events .type { color: var(--accent) }
dialog { border: 1px solid var(--line); border-radius: 8px; background: var(--panel); color: inherit; min-width: 20rem }
dialog p { white-space: pre-wrap; overflow-wrap: anywhere } dialog input { width: 100%; margin-bottom: .6rem }
#script textarea { display: block; max-width: 100%; margin-bottom: .6rem; font: 12px/1.5 ui-monospace, monospace; white-space: pre }
@media (max-width: 50rem) { body { grid-template-columns: 1fr } aside { display: none } }
`

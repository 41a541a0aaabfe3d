"""How the page looks, by day and by night."""

STYLE = """
:root { color-scheme: light dark;
  --ink: #1f2328; --faint: #656d76; --line: #d0d7de; --paper: #ffffff; --page: #f6f8fa;
  --seed: #2563eb; --expansion: #16a34a; --bridge: #ea580c;
  --fact: #9333ea; --report: #0d9488; --fill: #6b7280; }
@media (prefers-color-scheme: dark) { :root {
  --ink: #e6edf3; --faint: #9198a1; --line: #3d444d; --paper: #151b23; --page: #0d1117;
  --seed: #60a5fa; --expansion: #4ade80; --bridge: #fb923c;
  --fact: #c084fc; --report: #2dd4bf; --fill: #9ca3af; } }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .3rem; }
header p { margin: 0; color: var(--faint); }
header .method { font: 12px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
figure, article, details { background: var(--paper); border: 1px solid var(--line);
  border-radius: 8px; margin: 1rem 0 0; padding: .8rem 1rem; }
figure { overflow-x: auto; }
figcaption { font-size: 13px; color: var(--faint); margin-top: .5rem; }
article { border-left: 5px solid var(--fill); }
article:target { outline: 2px solid var(--seed); }
h2 { font-size: 1.05rem; margin: 0; }
.rank { color: var(--faint); font-weight: 400; }
.note { font-size: 13px; color: var(--faint); margin: 0; overflow-wrap: anywhere; }
p.path { font-size: 14px; margin: .3rem 0 .5rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.5 ui-monospace, monospace;
  margin: 0; max-height: 26rem; overflow-y: auto; }
summary { cursor: pointer; }
table { border-collapse: collapse; margin-top: .5rem; font-size: 13px; }
td { border-top: 1px solid var(--line); padding: .25rem .8rem .25rem 0; vertical-align: top;
  overflow-wrap: anywhere; }
.role { font-size: 12px; font-weight: 600; border: 1px solid; border-radius: 1rem;
  padding: 0 .5rem; margin-left: .3rem; }
article.seed { border-left-color: var(--seed); } .role.seed { color: var(--seed); }
article.expansion { border-left-color: var(--expansion); }
.role.expansion { color: var(--expansion); }
article.bridge { border-left-color: var(--bridge); } .role.bridge { color: var(--bridge); }
article.fact { border-left-color: var(--fact); } .role.fact { color: var(--fact); }
article.report { border-left-color: var(--report); } .role.report { color: var(--report); }
.role.fill { color: var(--fill); }
figure > svg { max-width: 100%; height: auto; display: block; }
svg rect { fill: var(--paper); stroke: var(--fill); stroke-width: 1.5; }
svg .question rect { fill: var(--ink); stroke: var(--ink); }
svg .question text { fill: var(--paper); }
svg .seed rect { stroke: var(--seed); } svg .expansion rect { stroke: var(--expansion); }
svg .bridge rect { stroke: var(--bridge); } svg .fact rect { stroke: var(--fact); }
svg .report rect { stroke: var(--report); } svg .connector rect { stroke-dasharray: 4 3; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .detail { fill: var(--faint); } svg .name { font-weight: 600; }
svg .question .detail { fill: var(--paper); } svg .connector .name { font-weight: 400; }
svg path { fill: none; stroke: var(--faint); stroke-width: 1.5; }
svg path.other { stroke: var(--line); stroke-dasharray: 3 3; }
svg path:hover { stroke: var(--seed); stroke-width: 3; }
"""

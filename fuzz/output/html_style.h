// Style of the page: light or dark like the reader's system, for widths of 390 pixels and more.
#pragma once

namespace mmadiff {

inline constexpr char kHtmlStyle[] = R"css(
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--line:#dfe3e8;--text:#1b2128;--soft:#566270;
--accent:#0b62a8;--bad:#b3261e;--bad-soft:#fdeceb;--warn:#8a5a00;--warn-soft:#fdf3e0;--good:#1c6b3a;--good-soft:#e8f5ec;
--code:#f0f2f5;--gray:#e7eaee;--heat:11,98,168;--s1:#0b62a8;--s2:#c4660a;--s3:#2c7d4b;--s4:#8a3b8f;--s5:#a08209;--s6:#6b7480}
@media(prefers-color-scheme:dark){:root{--page:#101418;--card:#181d23;--line:#2c343d;--text:#e6eaee;--soft:#9aa7b4;
--accent:#6db5f2;--bad:#ff8f86;--bad-soft:#3a1c1b;--warn:#f0b95a;--warn-soft:#33270f;--good:#7ed29b;--good-soft:#14301f;
--code:#20272f;--gray:#262d35;--heat:109,181,242;--s1:#5aa7e8;--s2:#ee9a4d;--s3:#63b985;--s4:#c58acb;--s5:#d0b64a;--s6:#8b96a3}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif}
main{max-width:1160px;margin:0 auto;padding:24px 20px 64px}
h1,h2,h3,h4{line-height:1.25;margin:0;overflow-wrap:anywhere}
h1{font-size:26px}h2{font-size:20px;margin:40px 0 12px}h3{font-size:16px}h4{font-size:14px;margin:0 0 8px}
h1 small,h2 small,h4 small{font-weight:400;color:var(--soft);font-size:14px;margin-left:6px}
p{margin:8px 0}
code,pre,.mono{font-family:ui-monospace,"SFMono-Regular",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;font-size:13px}
.soft{color:var(--soft)}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:16px 18px;margin:12px 0;min-width:0}
.verdict{border-left:6px solid var(--soft);font-size:18px;font-weight:600}
.verdict p{margin:0}.verdict .why{font-size:14px;font-weight:400;color:var(--soft);margin-top:4px}
.verdict.bad{border-left-color:var(--bad);background:var(--bad-soft)}.verdict.bad p:first-child{color:var(--bad)}
.verdict.warn{border-left-color:var(--warn);background:var(--warn-soft)}.verdict.warn p:first-child{color:var(--warn)}
.verdict.good{border-left-color:var(--good);background:var(--good-soft)}.verdict.good p:first-child{color:var(--good)}
.verdict .why{color:var(--text)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:12px 0}
.tiles div{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 16px}
.tiles dt{color:var(--soft);font-size:13px}.tiles dd{margin:0;font-size:22px;font-weight:600;font-variant-numeric:tabular-nums}
dl{margin:0}
.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:4px 18px}
.facts dt{color:var(--soft)}.facts dd{margin:0;overflow-wrap:anywhere}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}
.scroll>table{min-width:100%}
caption{text-align:left;color:var(--soft);padding:0 0 6px}
th{font-weight:600;text-align:left}thead th{color:var(--soft);font-weight:500;font-size:13px;white-space:nowrap}
td,th{padding:6px 14px 6px 0;vertical-align:top}
tbody tr{border-top:1px solid var(--line)}
td:last-child,th:last-child{padding-right:0}
.n{text-align:right;white-space:nowrap}
.name{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;font-size:13px;display:inline-block;min-width:13em}
.tag{display:inline-block;border-radius:999px;padding:0 9px;font-size:12.5px;white-space:nowrap;background:var(--gray);color:var(--text)}
.tag.bad{background:var(--bad-soft);color:var(--bad)}.tag.warn{background:var(--warn-soft);color:var(--warn)}.tag.good{background:var(--good-soft);color:var(--good)}
details{margin:12px 0}summary{cursor:pointer;color:var(--accent);padding:4px 0}
pre{background:var(--code);border-radius:8px;padding:10px 12px;margin:6px 0;overflow-x:auto;line-height:1.45}
.bits{background:var(--code);border-radius:8px;padding:10px 12px;margin:6px 0}
.bits span{display:inline-block;white-space:pre;font:13px/1.45 ui-monospace,"SFMono-Regular",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace}
.finding details{border-top:1px solid var(--line);margin:0}.finding summary{padding:8px 0}.finding summary .mono{overflow-wrap:anywhere}
.finding header{display:flex;flex-wrap:wrap;gap:4px 12px;align-items:baseline;margin-bottom:8px}
.finding header .mono{color:var(--soft);overflow-wrap:anywhere}
.pair{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1.9fr);gap:0 18px}
.label{color:var(--soft);font-size:13px;margin:10px 0 2px}
.stages td{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;font-size:13px;white-space:nowrap}
.stages tr.parts td{background:var(--bad-soft);color:var(--bad)}
@media(max-width:640px){.stages td{font-size:11px;white-space:normal;overflow-wrap:anywhere;padding-right:6px}}
.stages td:first-child,.stages th:first-child{padding-left:8px}
.command{display:flex;gap:8px;align-items:flex-start;background:var(--code);border-radius:8px;padding:8px 8px 8px 12px;margin-top:12px}
.command code{flex:1;overflow-wrap:anywhere;padding-top:3px}
button{font:inherit;font-size:13px;color:var(--accent);background:var(--card);border:1px solid var(--line);border-radius:6px;padding:3px 10px;cursor:pointer}
button:hover,button:focus-visible{border-color:var(--accent)}
.crosses{display:grid;margin-top:16px;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:24px 32px}
.cross{min-width:0}
.cross.wide{grid-column:1/-1}
.heat{font-size:12px}.scroll>.heat{min-width:0}
.heat tbody tr{border:0}
.heat td,.heat th{padding:2px 4px;text-align:center;white-space:nowrap;vertical-align:middle}
.heat th{font-weight:400;color:var(--soft)}.heat th[scope=row]{text-align:right;padding-right:8px}
.heat td{min-width:26px;height:24px;border:2px solid var(--card);border-radius:5px}
.heat .h1{background:rgba(var(--heat),.08)}.heat .h2{background:rgba(var(--heat),.14)}.heat .h3{background:rgba(var(--heat),.2)}
.heat .h4{background:rgba(var(--heat),.27)}.heat .h5{background:rgba(var(--heat),.34)}.heat .h6{background:rgba(var(--heat),.41)}
.heat .h7{background:rgba(var(--heat),.48)}.heat .h8{background:rgba(var(--heat),.55)}.heat .h9{background:rgba(var(--heat),.62)}
.heat .few{box-shadow:inset 0 0 0 2px var(--bad)}
.heat .none{background-color:var(--bad-soft);color:var(--bad);font-weight:700;box-shadow:inset 0 0 0 2px var(--bad)}
.heat .u{background:var(--gray);color:var(--soft)}
.key{display:inline-block;width:14px;height:14px;border-radius:4px;vertical-align:-2px;margin-right:6px}
.key.few{background:rgba(var(--heat),.14);box-shadow:inset 0 0 0 2px var(--bad)}.key.none{background:var(--bad-soft);box-shadow:inset 0 0 0 2px var(--bad)}.key.u{background:var(--gray)}.key.h{background:linear-gradient(90deg,rgba(var(--heat),.08),rgba(var(--heat),.62));width:36px}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;list-style:none;margin:8px 0 0;padding:0;font-size:13px;color:var(--soft)}
.legend li{overflow-wrap:anywhere}
.hist,.ticks{display:flex;gap:2px}.hist{height:160px;align-items:flex-end;border-bottom:1px solid var(--soft);border-top:1px dashed var(--line)}
.hist span{flex:1;background:var(--s1);border-radius:2px 2px 0 0;min-width:0}
.ticks span{flex:1 1 0;min-width:0;white-space:nowrap;color:var(--soft);font-size:13px;line-height:1.6}.ticks span:last-child{direction:rtl}
figure{margin:0}figcaption{color:var(--soft);font-size:13px;margin-bottom:4px}
.plot{display:block;width:100%;height:160px;border-bottom:1px solid var(--soft);border-top:1px dashed var(--line)}
.axis{display:flex;justify-content:space-between;gap:12px;flex-wrap:wrap;color:var(--soft);font-size:13px;font-variant-numeric:tabular-nums;margin-top:4px}
.s1{fill:var(--s1)}.s2{fill:var(--s2)}.s3{fill:var(--s3)}.s4{fill:var(--s4)}.s5{fill:var(--s5)}.s6{fill:var(--s6)}
.key.s1{background:var(--s1)}.key.s2{background:var(--s2)}.key.s3{background:var(--s3)}.key.s4{background:var(--s4)}.key.s5{background:var(--s5)}.key.s6{background:var(--s6)}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:16px}
.columns .card{margin:0}
footer{color:var(--soft);font-size:13px;margin-top:40px}
@media(max-width:640px){main{padding:16px 12px 48px}h1{font-size:21px}.card{padding:12px}
.facts{gap:4px 12px}
.stack thead{display:none}.stack tr{display:grid;grid-template-columns:1fr 1fr;gap:2px 16px;padding:10px 0}.stack,.stack tbody{display:block}
.stack td,.stack td:last-child{padding:0;display:flex;justify-content:space-between;gap:8px;align-items:baseline;text-align:left}.stack td:first-child{display:block;grid-column:1/-1}
.stack td:not(:first-child)::before{content:attr(data-title);color:var(--soft);font-size:13px}.stack td{flex-wrap:wrap}.stack tr:first-child{border-top:0;padding-top:0}
.pair{grid-template-columns:minmax(0,1fr)}.pair pre{white-space:pre-wrap;overflow-wrap:anywhere}.bits,.bits span{font-size:12px}.tiles{grid-template-columns:1fr 1fr;gap:8px}.tiles dd{font-size:18px}.tiles div{padding:10px 12px}
.verdict{font-size:16px}}
@media print{body{background:#fff}.card{break-inside:avoid}button{display:none}}
)css";

// The page is complete without the script. If the browser refuses the clipboard, the command is
// selected.
inline constexpr char kHtmlScript[] = R"js(
document.addEventListener('click',function(e){
  var b=e.target;if(b.tagName!=='BUTTON')return;var c=b.previousElementSibling;
  function select(){var r=document.createRange();r.selectNodeContents(c);var s=getSelection();s.removeAllRanges();s.addRange(r);
    if(document.execCommand('copy'))done();}
  function done(){b.textContent='Copied';setTimeout(function(){b.textContent='Copy'},1500);}
  if(navigator.clipboard)navigator.clipboard.writeText(c.textContent).then(done,select);else select();
});
)js";

}  // namespace mmadiff

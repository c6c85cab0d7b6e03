"""What a kernel, a compiler or a submission may contain to get a report to do something."""

from __future__ import annotations

from kernelarena.spec import Family, FamilyTally, Launch, Location, Provenance, Reason, RunData, Status, Tally, Trial

TEXTS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><style>body{display:none}</style>",
    "</pre></td></table><h1>owned</h1>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "\x1b[2J\x1b[31mred\x1b]0;title\x07",
    "a\x00b\x08\x9b2J",
    "\ud800\udfff",
    "admin\u202egnp.exe",
    '=HYPERLINK("http://evil")',
    "@SUM(A1)",
    "| a | b |\n| - | - |",
    "```\n# heading\n````",
    "@everyone see #1 and http://evil.example and ![x](http://evil.example/x.png) [y](z)",
    "[bold red]markup[/] [link=http://evil]x[/link]",
)
LONG = "L" * 10_000_000


def run(make, text: str) -> RunData:
    """A run in which everything that others write is ``text``."""
    shape = {"dims": {text[:50]: 1}, "dtype": text[:50], "family": Family.EDGE}
    launch = Launch(kernel=text, signature=text, grid=(1,), reason=Reason.COMPILE_ERROR, detail=text, shape=shape)
    common = {
        "task": text[:1000],
        "detail": text,
        "log": text,
        "notes": (text, text),
        "toolchain": text,
        "location": Location(file="kernel.py", line=1, text=text),
        "launches": (launch,),
        "trials": (Trial(shape=shape, passed=False, reason=Reason.MISMATCH, detail=text, error=float("nan")),),
    }
    verdicts = [
        make.failed("softmax-1024", "mi300", Reason.CRASH, text, **{k: v for k, v in common.items() if k != "detail"}),
        make.verdict(
            "softmax-1024",
            "cpu",
            **common,
            hidden=FamilyTally(passed=1, total=1, by_family={Family.EDGE: Tally(passed=1, total=1)}),
        ),
        make.unknown("softmax-1024", "h100", Status.INFRA, Reason.WORKER_LOST, text),
    ]
    data = make.data(
        verdicts,
        command=("kab-mc", text),
        left_out=(text,),
        environment={"versions": {text[:200]: text}, "host": text, "git_revision": text},
    )
    kernel = make.kernel(
        "softmax-1024",
        files={"kernel.py": text},
        origin=text,
        provenance=Provenance(agent=text, model=text, note=text),
    )
    return data.model_copy(update={"kernels": {kernel.id: kernel}})

"""The page that lists all tasks says what their declarations say."""

from tests.tasks.conftest import TASKS
from tools.list_tasks import PAGE, page


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python tools/list_tasks.py"


def test_the_page_lists_every_task_once() -> None:
    lines = page().splitlines()
    for name in TASKS:
        assert sum(line.startswith(f"| `{name}` |") for line in lines) == 1

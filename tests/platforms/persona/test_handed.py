"""What a kernel was handed it has not computed."""

import torch

from kernelarena.platforms.persona.handed import Handed
from kernelarena.platforms.persona.ledger import Ledger

ANSWER = torch.arange(12.0).reshape(3, 4)


class Launches:
    """Launches of kernels that are written in torch."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.handed = Handed(self.ledger)

    def __call__(self, kernel, *tensors):
        for tensor in tensors:
            self.ledger.enter(tensor, device=True)
        before = self.handed.launching(tensors)
        kernel(*tensors)
        self.handed.launched(before)
        return tensors[-1]


def carried(source, target):
    target.copy_(source)


def computed(target):
    target.copy_(ANSWER)


def test_an_answer_that_is_only_carried_over_was_handed():
    launch = Launches()
    assert launch.handed.was(launch(carried, ANSWER.clone(), torch.empty(3, 4)))


def test_so_was_one_that_lies_in_the_output_already():
    launch = Launches()
    assert launch.handed.was(launch(lambda target: None, ANSWER.clone()))


def test_and_one_that_is_handed_over_row_by_row_or_again_and_again():
    launch = Launches()
    answer, output = ANSWER.clone(), torch.empty(3, 4)
    for row in (0, 1, 2, 0, 1, 2):
        launch(carried, answer[row], output[row])
    assert launch.handed.was(output)


def test_what_a_launch_made_may_be_handed_to_another():
    launch = Launches()
    between = launch(computed, torch.empty(3, 4))
    assert not launch.handed.was(launch(carried, between, torch.empty(3, 4)))
    launch = Launches()
    between = torch.empty(3, 4)
    for row in range(3):
        launch(lambda target, row=row: target.copy_(ANSWER[row]), between[row])
    assert not launch.handed.was(launch(carried, between, torch.empty(3, 4)))


def test_what_an_earlier_call_made_may_lie_in_a_workspace_that_is_kept():
    launch = Launches()
    workspace = torch.empty(3, 4)
    for _ in range(2):
        launch.handed.next_call()
        launch(computed, workspace)
        assert not launch.handed.was(launch(carried, workspace, torch.empty(3, 4)))


def test_what_an_earlier_call_was_handed_is_no_kernels_work_in_the_next_one_either():
    launch = Launches()
    workspace = torch.empty(3, 4)
    for _ in range(2):
        launch.handed.next_call()
        workspace.copy_(ANSWER)
        assert launch.handed.was(launch(carried, workspace, torch.empty(3, 4)))


def test_what_an_input_holds_may_be_the_answer():
    launch = Launches()
    launch.ledger.enter(ANSWER, device=True, argument=True)
    assert not launch.handed.was(launch(carried, ANSWER, torch.empty(3, 4)))
    assert not launch.handed.was(launch(carried, ANSWER.clone(), torch.empty(3, 4)))
    assert not launch.handed.was(launch(carried, ANSWER.t().contiguous().t(), torch.empty(3, 4)))


def test_constants_prove_nothing():
    launch = Launches()
    assert not launch.handed.was(launch(carried, torch.zeros(3, 4), torch.empty(3, 4)))
    assert not launch.handed.was(launch(carried, torch.ones(1), torch.empty(1)))
    assert not launch.handed.was(launch(carried, torch.empty(0, 4), torch.empty(0, 4)))


def test_tensors_may_lie_in_any_way():
    launch = Launches()
    strided = torch.empty(3, 8)[:, ::2]
    strided.copy_(ANSWER)
    assert launch.handed.was(launch(carried, strided, torch.empty(3, 4)))
    wide = torch.arange(4.0).expand(3, 4)
    assert launch.handed.was(launch(carried, wide, torch.empty(3, 4)))
    for dtype in (torch.bool, torch.float8_e4m3fn, torch.bfloat16, torch.complex64):
        some = torch.tensor([0.0, 1.0, 0.0, 1.0]).to(dtype)
        assert launch.handed.was(launch(carried, some, torch.empty(4, dtype=dtype)))

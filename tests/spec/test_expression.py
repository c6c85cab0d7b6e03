import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.spec.expression import evaluate, names_in


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2*M*N*itemsize", 2 * 3 * 5 * 4),
        ("M * N <= 2**28", True),
        ("M < N < 10", True),
        ("M % 2 == 0 or N % 2 == 0", False),
        ("not (M > N)", True),
        ("max(M, N) // min(M, N)", 1),
        ("ceil(N / M) + log2(8) - sqrt(4)", 2 + 3 - 2),
        ("M if M > N else -N", -5),
    ],
)
def test_values(text, value):
    assert evaluate(text, {"M": 3, "N": 5, "itemsize": 4}) == value


def test_names():
    assert names_in("max(M, 2) * N") == {"M", "N"}


@pytest.mark.parametrize(
    "text",
    [
        "", "M +", "__import__('os')", "M.real", "[M]", "M[0]", "lambda: 1", "'a'", "M * 'a'", "f(M)", "max(*M)",
        "9**9**9", "M\0", "(" * 1000 + "M" + ")" * 1000, "1 / (M - M)", "M % (M - M)", "log2(M - M)", "sqrt(-M)",
        "(-M) ** 0.5", "min()", "X + 1",
    ],
)  # fmt: skip
def test_what_is_no_expression_or_has_no_value_is_a_value_error(text):
    with pytest.raises(ValueError, match=r".+"):
        evaluate(text, {"M": 3})


@given(st.text(alphabet="MN0123456789+-*/%()<>=., ", max_size=30))
def test_any_text_has_a_value_or_is_a_value_error(text):
    try:
        value = evaluate(text, {"M": 3, "N": 5})
    except ValueError:
        return
    assert isinstance(value, int | float)

import pytest

from kernelarena.platforms.toolchains.cpp.cuda_on_clang import CudaOnClang
from kernelarena.platforms.toolchains.cpp.diagnostics import Diagnostic
from kernelarena.platforms.toolchains.cpp.hipify import MOST_CHARACTERS, difference, translated

COMPILER = CudaOnClang("/usr/bin/clang++-19", "clang 19.1.7 with HIP 5.2.0 and torch's hipify", "/usr", "/bitcode")


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("#include <cuda_runtime.h>\n", "#include <hip/hip_runtime.h>\n"),
        ('  #  include "cuda_fp16.h"', '  #  include "hip/hip_fp16.h"'),
        ("cudaStream_t", "hipStream_t"),  # also where a file begins and ends with it
        ("f<<<1, 2, 0, (cudaStream_t)s>>>(x); // cudaStream_t", "f<<<1, 2, 0, (hipStream_t)s>>>(x); // cudaStream_t"),
        ("/* cudaFree\n*/ cudaFree(p);", "/* cudaFree\n*/ hipFree(p);"),
        ('puts("cudaFree"); cudaFree(p);', 'puts("cudaFree"); hipFree(p);'),
        ("n = 1'000; cudaFree(p); m = 2'000;", "n = 1'000; hipFree(p); m = 2'000;"),
        ("my_cudaFree(p); cudaFreeIt(p);", "my_cudaFree(p); cudaFreeIt(p);"),
        ("a / b; cudaFree(p);\n", "a / b; hipFree(p);\n"),
        ("/* never closed cudaFree", "/* never closed cudaFree"),
        ("", ""),
    ],
)
def test_names_are_translated_and_text_is_not(cuda, hip):
    assert translated(cuda) == hip


def test_the_difference_is_a_patch_without_context():
    assert difference("a.cu", "x\ncudaFree(p);\ny\n", "x\nhipFree(p);\ny\n").splitlines() == [
        "--- a.cu (CUDA)", "+++ a.cu (HIP)", "@@ -2 +2 @@", "-cudaFree(p);", "+hipFree(p);",
    ]  # fmt: skip
    assert difference("a.cu", "x", "x") == ""
    many = difference("a.cu", "a\n" * MOST_CHARACTERS, "b\n" * MOST_CHARACTERS)
    assert len(many) < MOST_CHARACTERS + 30
    assert many.endswith("lines more")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("use of undeclared identifier 'cudaGraphInstantiate'", "'cudaGraphInstantiate' is not carried over from CUDA"),
        ("unknown type name 'CUtensorMap'", "'CUtensorMap' is not carried over"),
        (
            "use of undeclared identifier '__shfl_down_sync'",
            "'__shfl_down_sync' is not carried over from CUDA to HIP 5",
        ),
        ("'cuda/pipeline' file not found", "'cuda/pipeline' is not carried over"),
        ("'hipcub/hipcub.hpp' file not found", "'hipcub/hipcub.hpp', which a header of CUDA's is translated to"),
        ("'cooperative_groups/reduce.h' file not found", "'cooperative_groups/reduce.h' is not"),
        ("use of undeclared identifier 'current'", None),
        ("use of undeclared identifier '__my_own'", None),
        ("'mine.h' file not found", None),
        ("no matching function for call to 'cudaFree'", None),
    ],
)
def test_what_cuda_has_and_hip_has_not(message, said):
    lacking = COMPILER.lacks(Diagnostic(message))
    assert lacking is None if said is None else said in lacking

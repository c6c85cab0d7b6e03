"""What each word of the vocabulary means to a reader, and what can be done about each reason."""

from __future__ import annotations

from kernelarena.spec import Evidence, Family, Gate, Reason, ReasonGroup, Status

SIGN = {Status.PASS: "✓", Status.FAIL: "✗", Status.SKIPPED: "–", Status.INFRA: "!"}
PENDING = "·"
"""The sign of a cell that has no verdict yet."""
HOME = "⌂"
"""The mark of a cell whose platform is the one that its kernel was written for."""

STATUS = {
    Status.PASS: "passed every gate that its evidence allows",
    Status.FAIL: "failed",
    Status.SKIPPED: "could not be tried here; says nothing about the kernel",
    Status.INFRA: "lost to something around the kernel; says nothing about it",
}

LETTER = {Evidence.MEASURED: "M", Evidence.EMULATED: "E", Evidence.COMPILED: "C"}
EVIDENCE = {
    Evidence.MEASURED: "ran on that chip",
    Evidence.EMULATED: "ran in emulation under that platform’s rules, not on a chip",
    Evidence.COMPILED: "built for that chip and held against its limits; never run",
}
CLAIM = {
    Evidence.MEASURED: ("works on", "work on"),
    Evidence.EMULATED: ("gives right answers on", "give right answers on"),
    Evidence.COMPILED: ("builds for and fits", "build for and fit"),
}
"""What a pass lets one say of one kernel and of several. Only what ran on a chip is said to work on it."""
REACHED = {
    Evidence.MEASURED: "that were measured",
    Evidence.EMULATED: "that were emulated",
    Evidence.COMPILED: "that were compiled for",
}
"""What tells the platforms of one kind of evidence from the others of the run."""
CAVEAT = {
    Evidence.MEASURED: "measured on the chip",
    Evidence.EMULATED: "emulated, not measured",
    Evidence.COMPILED: "compiled, never run there",
}

GATE = {
    Gate.COMPILE: "compile",
    Gate.CORRECTNESS: "correctness on visible shapes",
    Gate.TIMING: "timing",
    Gate.HIDDEN: "hidden shapes",
}

FAMILY = {
    Family.VISIBLE: "published with the task",
    Family.EDGE: "dimensions at the ends of their ranges",
    Family.SCALE_UP: "larger than any visible shape",
    Family.SCALE_DOWN: "smaller than any visible shape",
    Family.ALIGNMENT: "primes, and a power of two plus or minus one",
    Family.ASYMMETRIC: "one dimension long, another short",
    Family.PRODUCTION: "from real models",
}

GROUP = {
    ReasonGroup.COMPILE: "does not build or fit",
    ReasonGroup.RUN: "does not run",
    ReasonGroup.CORRECTNESS: "wrong answers",
    ReasonGroup.INTEGRITY: "not honest work",
    ReasonGroup.INFRA: "not the kernel’s fault",
}

MEANING = {
    Reason.SYNTAX_ERROR: "The file is not valid source.",
    Reason.IMPORT_ERROR: "Loading the file failed, or the entry is not in it.",
    Reason.COMPILE_ERROR: "The compiler refused a device kernel.",
    Reason.UNSUPPORTED_FEATURE: "The chip, or this toolchain for it, lacks something that the kernel uses.",
    Reason.RESOURCE_EXCEEDED: "A launch asks for more than the chip has.",
    Reason.COMPILE_TIMEOUT: "Compilation did not end before the deadline.",
    Reason.NO_DEVICE_KERNEL: "The entry launched no device kernel.",
    Reason.FRAMEWORK_FALLBACK: "The framework’s operators did the computing.",
    Reason.LAUNCH_ERROR: "The host code raised before the work was done.",
    Reason.ILLEGAL_ACCESS: "The kernel touched memory that is not its own.",
    Reason.CRASH: "The process died.",
    Reason.TIMEOUT: "A call did not return before the deadline.",
    Reason.UNINITIALISED_READ: "The kernel read what nothing had written.",
    Reason.DATA_RACE: "Two waves touched the same shared memory without a barrier between them.",
    Reason.DIVERGENT_BARRIER: "Some waves of a block wait at a barrier that others never reach.",
    Reason.MISSING_WAIT: "A loaded value was used before its load was waited for.",
    Reason.OUT_OF_MEMORY: "It asked for more memory than there is.",
    Reason.WRONG_SHAPE: "An output does not have the reference’s shape.",
    Reason.WRONG_DTYPE: "An output does not have the reference’s dtype.",
    Reason.MISMATCH: "An output is further from the truth than rounding explains.",
    Reason.REDUCED_PRECISION: "The error is that of tf32 or half accumulation, which the task does not allow.",
    Reason.NON_FINITE: "An output is NaN or infinite where the truth is finite, or the reverse.",
    Reason.NONDETERMINISTIC: "Two runs on the same inputs disagree.",
    Reason.INPUT_MUTATED: "An input was changed.",
    Reason.OUT_OF_BOUNDS_WRITE: "Memory beside an output was written.",
    Reason.UNWRITTEN_OUTPUT: "Part of an output was never written.",
    Reason.TIMER_TAMPERING: "The clock or its events were interfered with.",
    Reason.CACHED_RESULT: "An earlier result was returned instead of a new one.",
    Reason.DEFERRED_WORK: "Work was put off until after it was counted.",
    Reason.FASTER_THAN_PHYSICS: "It finished sooner than the chip can move the data.",
    Reason.JUDGE_TAMPERING: "What the kernel’s process reported cannot be true.",
    Reason.OFF_STREAM_WORK: "Work ran where the timer does not look.",
    Reason.WORKER_LOST: "The worker died.",
    Reason.DEVICE_UNAVAILABLE: "No such device is to be had here.",
    Reason.DEVICE_UNHEALTHY: "The device failed its own check.",
    Reason.TOOLCHAIN_MISSING: "What would build the kernel is not installed.",
    Reason.EMULATOR_UNSUPPORTED: "The chip’s code holds an instruction that the emulator does not know.",
    Reason.INTERRUPTED: "The run was ended.",
}

ADVICE = {
    Reason.SYNTAX_ERROR: "Correct the line shown; every platform is lost until the file parses.",
    Reason.IMPORT_ERROR: "Make the module importable with the kernel’s own files, PyTorch and Triton alone, and check "
    "the entry’s name.",
    Reason.COMPILE_ERROR: "Start from the line shown and the compiler’s first error; later ones often follow from it.",
    Reason.UNSUPPORTED_FEATURE: "Guard the feature by the target’s architecture and give this platform another path; "
    "ask the platform for its own flavour of a type instead of naming one.",
    Reason.RESOURCE_EXCEEDED: "Choose block sizes, num_warps and num_stages from the device’s properties, or add a "
    "smaller configuration to the autotuner: a warp is 64 lanes on some chips and 32 on others.",
    Reason.COMPILE_TIMEOUT: "Compile fewer variants: fewer constexpr arguments that change with the shape, fewer "
    "unrolled iterations, fewer autotuner configurations.",
    Reason.NO_DEVICE_KERNEL: "Launch the kernel from the entry on every path that the visible shapes take.",
    Reason.FRAMEWORK_FALLBACK: "Do the operator’s work in the kernel; views, allocation and casts may stay in PyTorch.",
    Reason.LAUNCH_ERROR: "Read the exception: most often an assertion, an argument list or a device check that does "
    "not hold for this shape or this platform.",
    Reason.ILLEGAL_ACCESS: "Mask every load and store by the true extent, and take strides from the tensors.",
    Reason.CRASH: "Run it alone with the command below; look for wild pointers and native extensions.",
    Reason.TIMEOUT: "Look for a loop whose bound does not shrink, or for work that grows with the wrong dimension.",
    Reason.UNINITIALISED_READ: "Write every element before it is read, also in the last, partial tile.",
    Reason.DATA_RACE: "Put a barrier between the write and the access by another wave; lanes of one wave need none, "
    "but how many lanes a wave has differs from chip to chip.",
    Reason.DIVERGENT_BARRIER: "Have every wave of the block reach the same barriers, whatever its own data are.",
    Reason.MISSING_WAIT: "In assembly of one’s own: wait for the counter. Otherwise it is the compiler’s fault: report "
    "it there, with the artefact.",
    Reason.OUT_OF_MEMORY: "Allocate workspaces in proportion to what is needed at a time.",
    Reason.WRONG_SHAPE: "Return exactly what the task’s signature says, in that order.",
    Reason.WRONG_DTYPE: "Cast the result to the dtype that the task’s reference returns for this input.",
    Reason.MISMATCH: "Compare at the index shown; a pattern in the wrong elements usually names the tile or the mask.",
    Reason.REDUCED_PRECISION: "Accumulate in float32 and ask for IEEE precision in dot products.",
    Reason.NON_FINITE: "Subtract the maximum before exponentiating, add the epsilon, and mask with a neutral value.",
    Reason.NONDETERMINISTIC: "Look for atomics on floating-point values, missing barriers, and unseeded randomness.",
    Reason.INPUT_MUTATED: "Write to a new tensor; a caller still owns the inputs.",
    Reason.OUT_OF_BOUNDS_WRITE: "Mask stores by the true extent in every dimension.",
    Reason.UNWRITTEN_OUTPUT: "Check that the grid covers the last, partial tile.",
    Reason.TIMER_TAMPERING: "Leave clocks, events and synchronisation alone.",
    Reason.CACHED_RESULT: "Compute from the inputs on every call; caching by shape is fine, by content or address not.",
    Reason.DEFERRED_WORK: "Finish the work on the current stream before returning.",
    Reason.FASTER_THAN_PHYSICS: "Check that all of the output is computed on every call.",
    Reason.JUDGE_TAMPERING: "Leave the harness’s channels alone; print to stdout instead.",
    Reason.OFF_STREAM_WORK: "Launch on the current stream, or wait for the other one before returning.",
    Reason.WORKER_LOST: "Resume the run: the cell is tried again.",
    Reason.DEVICE_UNAVAILABLE: "Run on a host that has the device, or ask for weaker evidence.",
    Reason.DEVICE_UNHEALTHY: "Check the device with its vendor’s tools, then resume the run.",
    Reason.TOOLCHAIN_MISSING: "Install the toolchain named, then resume the run.",
    Reason.EMULATOR_UNSUPPORTED: "Ask for compiled evidence of this kernel, or add the instruction to the emulator.",
    Reason.INTERRUPTED: "Resume the run.",
}
"""What a kernel's author, or whoever runs the sweep, can do: general, where a verdict's own detail is particular."""

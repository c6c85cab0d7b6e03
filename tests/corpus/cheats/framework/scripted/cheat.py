import torch
import work

program = torch.jit.CompilationUnit("""
def rows(x):
    return torch.softmax(x, -1)
""")


def softmax(x):
    return work.copied(program.rows(x))

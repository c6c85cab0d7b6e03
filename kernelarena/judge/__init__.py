"""The trusted side: it draws inputs, owns references, and runs kernels in processes that it does not trust."""

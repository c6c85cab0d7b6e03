"""Keys and values into the slots of a paged cache: the tokens' elements as one list, a block per program."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["total"])
def reshape_and_cache_kernel(
    keys_ptr, values_ptr, slots_ptr, cache_ptr, total, G, D,
    keys_token, keys_head, values_token, values_head, cache_part, cache_page, cache_entry, cache_head,
    PAGE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    elements = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    token, head, lane = elements // (G * D), elements // D % G, elements % D
    slot = tl.load(slots_ptr + token, mask=elements < total, other=-1)
    written = slot >= 0
    key = tl.load(keys_ptr + token * keys_token + head * keys_head + lane, mask=written)
    value = tl.load(values_ptr + token * values_token + head * values_head + lane, mask=written)
    target = cache_ptr + slot // PAGE * cache_page + slot % PAGE * cache_entry + head * cache_head + lane
    tl.store(target, key, mask=written)
    tl.store(target + cache_part, value, mask=written)


def reshape_and_cache(keys, values, slots, cache):
    T, G, D = keys.shape
    keys, values = (x if x.stride(2) == 1 else x.contiguous() for x in (keys, values))
    reshape_and_cache_kernel[(triton.cdiv(T * G * D, 1024),)](
        keys, values, slots, cache, T * G * D, G, D, *keys.stride()[:2], *values.stride()[:2], *cache.stride()[:4],
        PAGE=cache.shape[2], BLOCK=1024, num_warps=4,
    )  # fmt: skip
    return cache

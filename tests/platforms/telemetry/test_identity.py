import pytest

from kernelarena.platforms.telemetry.identity import PciAddress, same_uuid


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("0000:1b:00.0", "0000:1b:00.0"),
        ("00000000:1B:00.0", "0000:1b:00.0"),
        ("1b:00", "0000:1b:00"),
        ("0001:85:00", "0001:85:00"),
        ("10000:01:1f.7", "10000:01:1f.7"),
    ],
)
def test_addresses_in_every_spelling(text, printed):
    assert str(PciAddress.parse(text)) == printed


@pytest.mark.parametrize("text", ["", "gpu0", "0", "0000:1b", "0000:1b:00.8", "0000:1g:00.0"])
def test_what_is_no_address(text):
    assert PciAddress.parse(text) is None


def test_a_function_counts_only_where_both_say_it():
    chip, first, second = map(PciAddress.parse, ["0000:85:00", "0000:85:00.0", "0000:85:00.1"])
    assert chip.same_device(first)
    assert chip.same_device(second)
    assert first.same_chip(second)
    assert not first.same_device(second)
    assert not chip.same_chip(PciAddress.parse("0001:85:00"))


def test_uuids_in_every_spelling():
    assert same_uuid("GPU-AAAAAAAA-1111-2222-3333-bbbbbbbbbbbb", "aaaaaaaa-1111-2222-3333-bbbbbbbbbbbb")
    assert same_uuid("GPU-c28afe5b6c1a0e03", "0xC28AFE5B6C1A0E03")
    assert same_uuid(b"c28afe5b6c1a0e03".hex(), "GPU-c28afe5b6c1a0e03")
    assert not same_uuid("aaaaaaaa-1111-2222-3333-bbbbbbbbbbbb", "aaaaaaaa-1111-2222-3333-bbbbbbbbbbbc")


@pytest.mark.parametrize("text", ["", "0", "GPU-", "00000000-0000-0000-0000-000000000000"])
def test_no_uuid_is_like_nothing_not_even_itself(text):
    assert not same_uuid(text, text)

"""The timing gate: a kernel beside its baseline on one device, round by round; figures are judged before they count."""

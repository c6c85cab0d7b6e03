"""What others need to test what they add: a suite that any backend can run. Needs pytest (extra ``testing``)."""

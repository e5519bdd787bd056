"""What a thread of other code raises is one line while a run is at work, and what it was before and after."""

import threading

from steadyrl.ground.threads import threads_in_one_line


def ended(target):
    thread = threading.Thread(target=target)
    thread.start()
    thread.join()


def broken():
    raise ValueError("no\nwords")


def test_the_same_line_is_said_once_and_a_thread_may_end_itself(capsys):
    before = threading.excepthook
    with threads_in_one_line("Own\x1b-v0"):
        for target in (broken, broken, exit):
            ended(target)
    assert threading.excepthook is before
    message = "a thread raised ValueError: no words; the run continues without that thread"
    assert capsys.readouterr().err == f"warning: Own\\x1b-v0: {message}\n"


def test_in_a_thread_nothing_changes():
    """Two runs in threads would give back each other's hook."""
    before = threading.excepthook
    inside = []

    def run():
        with threads_in_one_line("Own-v0"):
            inside.append(threading.excepthook)

    ended(run)
    assert inside == [before]

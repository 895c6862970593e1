"""The index of jobs against the plainest thing that could hold them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quotactl.local.batch.job import ServiceJob
from quotactl.local.batch.job_store import JobStore
from quotactl.local.training.behaviour import JobBehaviour

STATUSES = ("SUBMITTED", "RUNNABLE", "RUNNING", "FAILED")
actions = st.lists(
    st.tuples(st.just("add"), st.sampled_from("pq")) | st.tuples(st.integers(0, 20), st.sampled_from(STATUSES)),
    max_size=60,
)


def new_job(sequence: int, queue: str) -> ServiceJob:
    name = str(sequence)
    return ServiceJob(name, name, name, queue, "share", sequence, "{}", {}, {}, JobBehaviour(), 0, 0)


@given(actions, st.integers(0, 30))
def test_it_lists_what_a_plain_list_would(actions: list[tuple[object, str]], before: int) -> None:
    store, plain = JobStore(), list[ServiceJob]()
    for what, argument in actions:
        if what == "add":
            job = new_job(store.next_sequence, argument)
            store.add(job)
            plain.append(job)
        elif isinstance(what, int) and what < len(plain):
            store.set_status(plain[what], argument)
    for queue in "pq":
        for status in (None, *STATUSES):
            expected = [
                job.id
                for job in reversed(plain)
                if job.queue_arn == queue and status in (None, job.status) and job.sequence < before
            ]
            assert [job.id for job in store.newest_first(queue, status, before)] == expected
    assert len(store) == len(plain)
    assert all(store[job.id] is job for job in plain)

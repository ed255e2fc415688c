"""What every record store must tell of its changes: see ``contract``."""

from __future__ import annotations

import pytest
from records.samples import NOW, link, memory, remembered

from ebbmem.records.followable import TOUCHED, touched_rows


class ChangesContract:
    """Every change names the memories that an index has to look at again."""

    @pytest.fixture
    def rows(self, store):
        rows = remembered(store, "a", "b", "c")
        with store.write() as writer:
            writer.insert_links(rows[0] >> 32, [link(rows[0], rows[1])])
            writer.insert_vectors([(rows[0], b"\0" * 4)])
        return rows

    def changes(self, store, scope_id, after=0):
        with store.read() as reader:
            found = reader.changes(scope_id, after, 99)
            assert reader.scopes()[0].last_seq >= max((one.seq for one in found), default=0)
        return [
            (one.kind, touched_rows(one.payload) if one.kind == TOUCHED else one.memory)
            for one in found
        ]

    @pytest.mark.parametrize(
        ("change", "touched"),
        [
            (lambda w, s, a, b, _: w.update_state(s, b, superseded_by=a), [1]),
            (lambda w, s, a, b, _: w.insert_links(s, [link(b, a)]), [1]),
            (lambda w, s, a, b, _: w.insert_links(s, [link(a, b, 0.9)]), [0]),
            (lambda w, s, a, b, _: w.delete_links(s, [(a, b, "related")]), [0]),
            (lambda w, _s, a, _b, _c: w.insert_vectors([(a, b"\1" * 4)]), [0]),
        ],
    )
    def test_memories_are_named(self, store, rows, change, touched):
        scope_id = rows[0] >> 32
        with store.write() as writer:
            before = writer.last_seq(scope_id)
            change(writer, scope_id, *rows)
        named = tuple(rows[at] for at in touched)
        assert self.changes(store, scope_id, before) == [(TOUCHED, named)]

    def test_one_that_was_superseded_by_what_is_erased_is_named_and_that_is_not(self, store, rows):
        a, b, _ = rows
        with store.write() as writer:
            writer.update_state(a >> 32, b, superseded_by=a)
            before = writer.last_seq(a >> 32)
            writer.erase_memories(a >> 32, [a])
        assert self.changes(store, a >> 32, before) == [(TOUCHED, (b,))]
        with store.read() as reader:
            assert reader.row_ids(a >> 32) == list(rows[1:])

    def test_an_event_of_a_memory_names_it(self, store, rows):
        a = rows[0]
        with store.write() as writer:
            before = writer.last_seq(a >> 32)
            writer.update_state(a >> 32, a, tier=2)
            writer.insert_event(a >> 32, "archived", NOW, a)
        assert self.changes(store, a >> 32, before) == [("archived", a)]

    def test_what_is_new_needs_no_name(self, store, rows):
        scope_id = rows[0] >> 32
        with store.write() as writer:
            before = writer.last_seq(scope_id)
            (made,) = writer.insert_memories(scope_id, [memory("d")])
            writer.insert_vectors([(made.row_id, b"\0" * 4)])
            writer.insert_links(scope_id, [link(made.row_id, rows[0]), link(rows[1], made.row_id)])
        assert self.changes(store, scope_id, before) == []
        with store.read() as reader:
            assert [one.kept.row_id for one in reader.rows_after(scope_id, rows[2])] == [
                made.row_id
            ]
            assert reader.links_after(scope_id, rows[2]) == [
                link(rows[1], made.row_id), link(made.row_id, rows[0])
            ]  # fmt: skip
            assert reader.vectors_after(scope_id, rows[2]) == [(made.row_id, b"\0" * 4)]

    def test_the_seq_that_is_told_includes_the_naming(self, store, rows):
        scope_id = rows[0] >> 32
        with store.write() as writer:
            writer.update_state(scope_id, rows[0], tier=2)
            told = writer.last_seq(scope_id)
        with store.read() as reader:
            assert reader.scope("ann").last_seq == told

    def test_the_history_leaves_the_naming_out(self, store, rows):
        with store.write() as writer:
            writer.update_state(rows[0] >> 32, rows[0], tier=2)
        with store.read() as reader:
            assert reader.events(rows[0] >> 32, 0, 99) == []

    def test_links_around_memories_are_those_from_and_to_them(self, store, rows):
        a, b, c = rows
        with store.write() as writer:
            writer.insert_links(a >> 32, [link(c, a), link(c, b)])
        with store.read() as reader:
            assert reader.links_around([a]) == [link(a, b), link(c, a)]
            assert reader.links_around([a, b]) == [link(a, b), link(c, a), link(c, b)]

    def test_what_an_index_keeps_is_read_for_those_that_are_there(self, store, rows):
        with store.read() as reader:
            every = reader.index_rows(rows[0] >> 32)
            found = reader.index_rows_of([rows[2], rows[0], rows[2] + 7])
            assert found == {rows[0]: every[0], rows[2]: every[2]}

    def test_a_vector_written_after_a_seq_is_told(self, store, rows):
        with store.write() as writer:
            before = writer.last_seq(rows[0] >> 32)
            writer.insert_vectors([(rows[1], b"\0" * 4)])
        with store.read() as reader:
            assert not reader.any_vector_after([rows[0], rows[2]], before)
            assert reader.any_vector_after(rows, before)

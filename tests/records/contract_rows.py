"""What every record store must do with the rows beside memories: see ``contract``."""

from __future__ import annotations

import pytest
from records.samples import NOW, intention, link, remembered, scope_of, turn

from ebbmem.errors import InvalidArgument
from ebbmem.records.base import HAS, WANTS, EventRow, SummaryRow


class LinkContract:
    def test_a_link_keeps_the_greater_weight_and_its_first_moment(self, store):
        a, b = remembered(store, "a", "b")
        with store.write() as writer:
            for weight, at in ((0.5, NOW), (0.8, NOW + 1), (0.2, NOW + 2)):
                writer.insert_links(a >> 32, [link(a, b, weight, at)])
        with store.read() as reader:
            assert reader.links(a >> 32) == [link(a, b, 0.8, NOW)]

    def test_links_come_in_order_and_go(self, store):
        a, b, c = remembered(store, "a", "b", "c")
        with store.write() as writer:
            writer.insert_links(a >> 32, [link(c, a), link(a, c), link(a, b)])
            before = writer.scope("ann").last_seq
            writer.delete_links(a >> 32, [(a, c, "related"), (b, c, "related")])
            assert writer.scope("ann").last_seq > before
        with store.read() as reader:
            assert reader.links(a >> 32) == [link(a, b), link(c, a)]

    def test_links_from_one_memory_are_its_own(self, store):
        a, b, c = remembered(store, "a", "b", "c")
        with store.write() as writer:
            writer.insert_links(a >> 32, [link(a, c), link(a, b), link(b, a)])
        with store.read() as reader:
            assert reader.links_from(a) == [link(a, b), link(a, c)]
            assert reader.links_from(c) == []

    def test_a_link_to_no_memory_is_refused(self, store):
        (a,) = remembered(store, "a")
        with pytest.raises(InvalidArgument), store.write() as writer:
            writer.insert_links(a >> 32, [link(a, a + 1)])

    def test_holders_are_the_newest_of_their_scope(self, store):
        rows = remembered(store, "a", "b", "c")
        (other,) = remembered(store, "d", scope="bob")
        with store.write() as writer:
            for row in [*rows, other, rows[0]]:
                writer.insert_keywords(row >> 32, [("dog", HAS, row), ("pet", WANTS, row)])
        with store.read() as reader:
            assert reader.holders(rows[0] >> 32, "dog", HAS, NOW, 2) == [rows[2], rows[1]]
            assert reader.holders(rows[0] >> 32, "dog", WANTS, NOW, 2) == []
            assert reader.holders(rows[0] >> 32, "pet", WANTS, NOW, 9) == rows[::-1]

    def test_vectors_are_replaced(self, store):
        rows = remembered(store, "a", "b")
        with store.write() as writer:
            writer.insert_vectors([(row, b"\0" * 8) for row in rows])
            writer.insert_vectors([(rows[0], b"\1" * 8)])
        with store.read() as reader:
            assert reader.vectors(rows[0] >> 32) == [(rows[0], b"\1" * 8), (rows[1], b"\0" * 8)]


class ConversationContract:
    def test_turns_come_by_run_in_order(self, store):
        scope_id = scope_of(store)
        with store.write() as writer:
            rows = writer.insert_turns(scope_id, [turn("a"), turn("b", "other"), turn("c")])
        with store.read() as reader:
            assert reader.turns(scope_id, None, 0, 10) == rows
            assert reader.turns(scope_id, "run", 0, 10) == [rows[0], rows[2]]
            assert reader.turns(scope_id, "run", rows[0].row_id, 10) == [rows[2]]
            assert reader.turns(scope_id + 1, None, 0, 10) == []

    def test_the_last_turn_is_the_newest_with_a_memory_of_its_run(self, store):
        a, b = remembered(store, "a", "b")
        with store.write() as writer:
            assert writer.last_turn(a >> 32, "run") is None
            said = [turn("a", memory_row=a), turn("b", memory_row=b), turn("c")]
            rows = writer.insert_turns(a >> 32, [*said, turn("d", "other", a)])
        with store.read() as reader:
            assert reader.last_turn(a >> 32, "run") == rows[1]
            assert reader.last_turn((a >> 32) + 1, "run") is None
            assert reader.last_turn(a >> 32, "run", rows[1].row_id) == rows[0]
            assert reader.last_turn(a >> 32, "run", rows[0].row_id) is None

    def test_a_turn_can_be_given_its_memory_later(self, store):
        (a,) = remembered(store, "a")
        (other,) = remembered(store, "b", scope="other")
        with store.write() as writer:
            one, two = writer.insert_turns(a >> 32, [turn("a"), turn("b")])
        with store.write() as writer:
            seq = writer.last_seq(a >> 32)
            writer.give_memory(one, a)
            assert writer.last_seq(a >> 32) > seq
        with pytest.raises(InvalidArgument), store.write() as writer:
            writer.give_memory(two, other)
        with store.read() as reader:
            assert reader.turns(a >> 32, None, 0, 9) == [one._replace(memory=a), two]
            assert reader.turns_of([a]) == [one._replace(memory=a)]

    def test_a_summary_is_replaced(self, store):
        scope_id = scope_of(store)
        with store.write() as writer:
            writer.put_summary(scope_id, SummaryRow("run", "short", 1, NOW))
            writer.put_summary(scope_id, SummaryRow("run", "longer", 2, NOW))
        with store.read() as reader:
            assert reader.summary(scope_id, "run") == SummaryRow("run", "longer", 2, NOW)
            assert reader.summary(scope_id, "other") is None

    def test_an_intention_is_completed_once(self, store):
        scope_id = scope_of(store)
        later, sooner = intention(scope_id, "b", NOW + 1), intention(scope_id, "a", NOW)
        with store.write() as writer:
            writer.insert_intention(later)
            writer.insert_intention(sooner)
            assert writer.intentions(scope_id) == [sooner, later]
            assert not writer.complete_intention(scope_id + 1, sooner.id, NOW)
            assert writer.complete_intention(scope_id, sooner.id, NOW)
            assert not writer.complete_intention(scope_id, sooner.id, NOW)
        with store.read() as reader:
            assert reader.intentions(scope_id) == [later]

    def test_events_come_in_the_order_of_seq(self, store):
        (row,) = remembered(store, "a")
        with store.write() as writer:
            first = writer.insert_event(row >> 32, "recalled", NOW, None, b"\0packed")
            second = writer.insert_event(row >> 32, "archived", NOW, row)
        with store.read() as reader:
            events = [
                EventRow(first, row >> 32, "recalled", NOW, None, b"\0packed"),
                EventRow(second, row >> 32, "archived", NOW, row, None),
            ]
            assert reader.events(row >> 32, 0, 10) == events
            assert reader.events(row >> 32, first, 10) == events[1:]
            assert reader.events(row >> 32, 0, 1) == events[:1]

    def test_an_event_is_rewritten_in_its_place(self, store):
        (row,) = remembered(store, "a")
        with store.write() as writer:
            seqs = [writer.insert_event(row >> 32, "recalled", NOW, None, b"ab") for _ in range(2)]
            before = writer.scope("ann").last_seq
            writer.rewrite_event(row >> 32, seqs[0], b"b")
            assert writer.scope("ann").last_seq > before
        with store.read() as reader:
            found = reader.events(row >> 32, 0, 10)
        assert [(event.seq, event.payload) for event in found] == [
            (seqs[0], b"b"),
            (seqs[1], b"ab"),
        ]

    def test_an_event_that_is_not_there_cannot_be_rewritten(self, store):
        scope_id = scope_of(store)
        with pytest.raises(InvalidArgument, match="seq"), store.write() as writer:
            writer.rewrite_event(scope_id, 7, b"b")

    def test_counts_are_of_one_scope(self, store):
        a, b = remembered(store, "a", "b")
        remembered(store, "c", scope="bob")
        with store.write() as writer:
            writer.update_state(a >> 32, a, superseded_by=b, tier=1, memory_type="semantic")
            writer.insert_links(a >> 32, [link(a, b)])
            writer.insert_turns(a >> 32, [turn("x")])
            writer.insert_intention(intention(a >> 32))
        with store.read() as reader:
            counts = reader.counts(a >> 32)
        assert counts == ({"episodic": 1, "semantic": 1}, {0: 1, 1: 1}, 1, 1, 1, 1)

    @pytest.mark.parametrize("ask", ["turns", "events", "holders", "due"])
    def test_a_negative_limit_is_refused(self, store, ask):
        scope_id = scope_of(store)
        args = {"turns": (None, 0), "events": (0,), "holders": ("dog", HAS, NOW), "due": (0,)}[ask]
        with store.read() as reader, pytest.raises(InvalidArgument, match="limit"):
            getattr(reader, ask)(scope_id, *args, -1)


class EraseContract:
    def test_all_that_names_a_memory_goes(self, store):
        a, b = remembered(store, "a", "b")
        scope_id = a >> 32
        with store.write() as writer:
            (said,) = writer.insert_turns(scope_id, [turn("I said a", memory_row=a)])
            writer.insert_links(scope_id, [link(a, b), link(b, a)])
            writer.insert_keywords(scope_id, [("dog", HAS, a)])
            writer.insert_vectors([(a, b"\0" * 4)])
            writer.insert_sources(scope_id, [(b, "turn", said.row_id), (b, "memory", a)])
            writer.insert_event(scope_id, "remembered", NOW, a)
            writer.erase_memories(scope_id, [a])
            assert [row.row_id for row in writer.index_rows(scope_id)] == [b]
            assert (writer.links(scope_id), writer.vectors(scope_id)) == ([], [])
            assert (writer.turns(scope_id, None, 0, 9), writer.events(scope_id, 0, 9)) == ([], [])
            assert writer.holders(scope_id, "dog", HAS, NOW, 9) == []

    def test_what_was_superseded_by_it_lives_again(self, store):
        a, b = remembered(store, "a", "b")
        with store.write() as writer:
            writer.update_state(a >> 32, a, superseded_by=b, superseded_at=NOW)
            writer.erase_memories(a >> 32, [b, b])
        with store.read() as reader:
            row = reader.memories([a])[a]
            assert (row.superseded_by, row.superseded_at) == (None, None)
            assert len(reader.index_rows(a >> 32)) == 1

    def test_a_superseded_pair_goes_together(self, store):
        a, b = remembered(store, "a", "b")
        with store.write() as writer:
            writer.update_state(a >> 32, a, superseded_by=b, superseded_at=NOW)
            writer.erase_memories(a >> 32, [a, b])
        with store.read() as reader:
            assert reader.index_rows(a >> 32) == []

    def test_erasing_what_is_gone_changes_nothing(self, store):
        (a,) = remembered(store, "a")
        for _ in range(2):
            with store.write() as writer:
                writer.erase_memories(a >> 32, [a])
        with store.read() as reader:
            assert reader.scope("ann").memory_count == 0

    def test_a_digest_stays_erased_until_it_is_lifted(self, store):
        scope_id, other = scope_of(store), scope_of(store, "bob")
        with store.write() as writer:
            writer.insert_erased(scope_id, [(b"i" * 16, b"d" * 32)], NOW)
            assert writer.erased(scope_id, b"d" * 32)
            assert not writer.erased(other, b"d" * 32)
            writer.lift_erased(scope_id, [b"d" * 32])
            assert not writer.erased(scope_id, b"d" * 32)

    def test_orphans_are_what_has_no_other_source(self, store):
        a, b, only_a, a_and_b, of_only_a = remembered(store, *"abcde")
        scope_id = a >> 32
        with store.write() as writer:
            (said,) = writer.insert_turns(scope_id, [turn("a", memory_row=a)])
            entries = [
                (only_a, "turn", said.row_id),
                (a_and_b, "turn", said.row_id),
                (a_and_b, "memory", b),
                (of_only_a, "memory", only_a),
            ]
            writer.insert_sources(scope_id, entries)
            assert writer.orphans([a]) == [only_a, of_only_a]
            assert writer.orphans([a, b]) == [only_a, a_and_b, of_only_a]
            assert writer.orphans([only_a]) == [of_only_a]
            assert writer.orphans([]) == []

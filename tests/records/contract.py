"""What every record store must do, whatever keeps its rows.

A subclass provides the fixture ``store``: an open, migrated and empty store.
"""

from __future__ import annotations

import threading

import pytest
from records.contract_changes import ChangesContract
from records.contract_rows import ConversationContract, EraseContract, LinkContract
from records.samples import NOW, link, memory, remembered, scope_of

from ebbmem.errors import InvalidArgument, StoreClosed, StoreError, UnknownMemory
from ebbmem.records.base import IndexRow, StrengthRow, number_of, row_id


class ScopeContract:
    def test_a_scope_never_written_to_is_none(self, store):
        with store.read() as reader:
            assert reader.scope("ann") is None
            assert reader.scopes() == []

    def test_a_scope_is_made_once(self, store):
        assert scope_of(store) == scope_of(store)
        with store.read() as reader:
            assert [scope.name for scope in reader.scopes()] == ["ann"]

    @pytest.mark.parametrize(
        "name", ["", "a/../b", "x'; DROP TABLE scopes; --", "a\0b", "ANN", "é" * 300]
    )
    def test_any_text_names_a_scope(self, store, name):
        other, mine = scope_of(store, "ann"), scope_of(store, name)
        assert mine != other
        with store.read() as reader:
            assert reader.scope(name).name == name

    def test_seq_grows_over_all_scopes_and_each_keeps_its_newest(self, store):
        remembered(store, "a", scope="ann")
        remembered(store, "b", "c", scope="bob")
        with store.read() as reader:
            assert [scope.last_seq for scope in reader.scopes()] == [1, 3]

    def test_several_events_are_those_of_one_by_one(self, store):
        scope_id = scope_of(store)
        with store.write() as writer:
            writer.insert_events(scope_id, "recalled", [(NOW, b"a"), (NOW + 1, b"")])
            writer.insert_events(scope_id, "recalled", [])
            writer.insert_event(scope_id, "recalled", NOW + 2, payload=b"c")
        with store.read() as reader:
            told = reader.events(scope_id, 0, 9)
        assert [event.seq for event in told] == [1, 2, 3]
        assert [(event.kind, event.memory) for event in told] == [("recalled", None)] * 3
        assert [(event.at, event.payload) for event in told] == [
            (NOW, b"a"), (NOW + 1, b""), (NOW + 2, b"c")
        ]  # fmt: skip

    def test_the_newest_seq_counts_what_this_transaction_did(self, store):
        rows = remembered(store, "a")
        remembered(store, "b", scope="bob")
        with store.write() as writer:
            assert writer.last_seq(rows[0] >> 32) == 1
            writer.insert_event(rows[0] >> 32, "told", NOW)
            assert writer.last_seq(rows[0] >> 32) == writer.scope("ann").last_seq == 3
            with pytest.raises(InvalidArgument, match="scope_id"):
                writer.last_seq(77)

    def test_the_count_follows_what_comes_and_goes(self, store):
        rows = remembered(store, "a", "b", "c")
        with store.write() as writer:
            writer.erase_memories(rows[0] >> 32, rows[:1])
            assert writer.scope("ann").memory_count == 2
        with store.read() as reader:
            assert reader.scope("ann").memory_count == 2


class MemoryContract:
    @pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 31, 33, 1000])
    def test_what_is_inserted_is_read_back(self, store, n):
        scope_id = scope_of(store)
        with store.write() as writer:
            stored = writer.insert_memories(scope_id, [memory(f"fact {i}") for i in range(n)])
        with store.read() as reader:
            assert list(reader.memories([row.row_id for row in stored]).values()) == stored
            assert len(reader.index_rows(scope_id)) == n

    def test_numbers_start_at_one_and_are_never_used_again(self, store):
        first = remembered(store, "a", "b")
        with store.write() as writer:
            writer.erase_memories(first[0] >> 32, first)
        assert [number_of(row) for row in first + remembered(store, "c")] == [1, 2, 3]

    def test_every_column_comes_back(self, store):
        other = remembered(store, "Rex is a cat")[0]
        full = memory(
            detail="d",
            importance=9.5,
            emotional_valence=-0.5,
            valid_from=-1,
            valid_to=2,
            expires_at=3,
            due_at=4,
            pinned=1,
            verified=1,
            tier=2,
            superseded_by=other,
            superseded_at=NOW,
            key="k",
            source="chat",
            run_id="r",
            metadata='{"a": 1}',
        )
        with store.write() as writer:
            (stored,) = writer.insert_memories(other >> 32, [full])
        with store.read() as reader:
            assert reader.memories([stored.row_id]) == {stored.row_id: stored}
            wanted = IndexRow(*(getattr(stored, name) for name in IndexRow._fields))
            assert reader.index_rows(other >> 32)[1] == wanted

    @pytest.mark.parametrize(
        "text", ["a\0b", "\ufeff", "\u2028", "\U0010ffff", "", "e\u0301", "' OR 1=1"]
    )
    def test_hostile_text_comes_back_whole(self, store, text):
        (row,) = remembered(store, text)
        with store.read() as reader:
            assert reader.texts([row], row >> 32) == [(row, text, "dog\npet")]

    def test_a_lone_surrogate_is_refused_and_nothing_changes(self, store):
        (row,) = remembered(store, "a")
        with pytest.raises(InvalidArgument, match="surrogate"), store.write() as writer:
            writer.insert_memories(row >> 32, [memory("b"), memory("c\ud83d")])
        with store.read() as reader:
            assert [text for _, text, _ in reader.texts(None, row >> 32)] == ["a"]
            with pytest.raises(InvalidArgument, match="surrogate"):
                reader.find_key(row >> 32, "\ud800")

    @pytest.mark.parametrize(
        "bad",
        [
            {"importance": None},
            {"importance": float("nan")},
            {"tier": 1 << 63},
            {"detail": 5},
            {"tier": "x"},
        ],
    )
    def test_a_value_no_column_can_hold_is_refused(self, store, bad):
        scope_id = scope_of(store)
        with pytest.raises(InvalidArgument), store.write() as writer:
            writer.insert_memories(scope_id, [memory(), memory(**bad)])
        with store.read() as reader:
            assert reader.index_rows(scope_id) == []

    def test_texts_of_given_rows_come_in_the_order_of_rows(self, store):
        rows = remembered(store, "a", "b", "c")
        with store.read() as reader:
            found = reader.texts(
                [rows[2], rows[0], rows[2], row_id(rows[0] >> 32, 99)], rows[0] >> 32
            )
        assert [text for _, text, _ in found] == ["a", "c"]

    def test_rows_of_another_scope_are_refused(self, store):
        (row,) = remembered(store, "a")
        other = scope_of(store, "bob")
        with store.write() as writer, pytest.raises(InvalidArgument):
            writer.texts([row], other)
        for call in ("erase_memories", "update_strengths", "insert_links"):
            values = {
                "update_strengths": [StrengthRow(row, 1.0, 1.0, 1, 1)],
                "insert_links": [link(row, row)],
            }
            with pytest.raises(InvalidArgument), store.write() as writer:
                getattr(writer, call)(other, values.get(call, [row]))

    def test_a_memory_is_found_by_id_key_and_digest(self, store):
        scope_id = scope_of(store)
        with store.write() as writer:
            (row,) = writer.insert_memories(scope_id, [memory(key="k")])
        with store.read() as reader:
            assert reader.find(row.id) == row.row_id
            assert reader.ids([row.row_id]) == {row.row_id: row.id}
            assert reader.find_key(scope_id, "k") == row.row_id
            assert reader.find_digest(scope_id, row.digest, NOW) == row.row_id
            assert reader.find(b"x" * 16) is None

    def test_keys_and_digests_stay_inside_their_scope(self, store):
        mine, other = scope_of(store, "ann"), scope_of(store, "bob")
        with store.write() as writer:
            (row,) = writer.insert_memories(mine, [memory(key="k")])
            writer.insert_memories(other, [memory(key="k")])
        with store.read() as reader:
            assert reader.find_key(mine, "k") == row.row_id
            assert reader.find_digest(mine, row.digest, NOW) == row.row_id

    def test_a_key_is_taken_once_in_a_scope(self, store):
        scope_id = scope_of(store)
        with pytest.raises(InvalidArgument), store.write() as writer:
            writer.insert_memories(scope_id, [memory("a", key="k"), memory("b", key="k")])

    def test_a_digest_finds_the_newest_live_memory(self, store):
        scope_id = scope_of(store)
        with store.write() as writer:
            made = [memory("same") for _ in range(4)]
            made += [memory("same", expires_at=NOW), memory("same", valid_to=NOW)]
            rows = writer.insert_memories(scope_id, made)
            writer.update_state(scope_id, rows[3].row_id, tier=2)
            writer.update_state(
                scope_id, rows[2].row_id, superseded_by=rows[0].row_id, superseded_at=NOW
            )
        with store.read() as reader:
            assert reader.find_digest(scope_id, rows[0].digest, NOW) == rows[1].row_id
            assert reader.find_digest(scope_id, rows[0].digest, NOW - 1) == rows[5].row_id


class ChangeContract:
    def test_strengths_change_and_nothing_else(self, store):
        rows = remembered(store, "a", "b")
        with store.write() as writer:
            old = writer.memories(rows)
            writer.update_strengths(rows[0] >> 32, [StrengthRow(rows[1], 0.7, 0.9, NOW + 5, 8)])
        with store.read() as reader:
            wanted = old[rows[1]]._replace(
                storage_strength=0.7, r_anchor=0.9, anchored_at=NOW + 5, access_count=8, seq=3
            )
            assert reader.memories(rows) == {rows[0]: old[rows[0]], rows[1]: wanted}
            assert reader.index_rows(rows[0] >> 32)[1].r_anchor == 0.9

    def test_strengths_of_a_memory_that_is_gone_are_passed_over(self, store):
        rows = remembered(store, "a", "b")
        with store.write() as writer:
            writer.erase_memories(rows[0] >> 32, rows[:1])
            writer.update_strengths(
                rows[0] >> 32, [StrengthRow(row, 0.7, 0.9, 1, 1) for row in rows]
            )
        with store.read() as reader:
            assert [row.storage_strength for row in reader.index_rows(rows[0] >> 32)] == [0.7]

    @pytest.mark.parametrize("unfit", [2**63, "often", None])
    def test_a_strength_that_no_column_holds_is_refused(self, store, unfit):
        rows = remembered(store, "a")
        with store.read() as reader:
            old = reader.memories(rows)
        with pytest.raises(InvalidArgument, match="strengths"), store.write() as writer:
            writer.update_strengths(rows[0] >> 32, [StrengthRow(rows[0], 0.7, 0.9, 1, unfit)])
        with store.read() as reader:
            assert reader.memories(rows) == old

    def test_state_changes_only_where_told(self, store):
        rows = remembered(store, "a", "b")
        with store.write() as writer:
            writer.update_state(rows[0] >> 32, rows[0], tier=1, memory_type="semantic", due_at=NOW)
            writer.update_state(
                rows[0] >> 32, rows[0], superseded_by=rows[1], superseded_at=NOW + 1
            )
        with store.read() as reader:
            row = reader.memories(rows)[rows[0]]
            assert (row.tier, row.memory_type, row.due_at) == (1, "semantic", NOW)
            assert (row.superseded_by, row.superseded_at, row.summary) == (rows[1], NOW + 1, "a")
            assert len(reader.index_rows(rows[0] >> 32)) == 2

    def test_state_of_an_unknown_memory_raises(self, store):
        scope_id = scope_of(store)
        with pytest.raises(UnknownMemory), store.write() as writer:
            writer.update_state(scope_id, row_id(scope_id, 7), tier=1)

    def test_what_is_due_comes_in_order(self, store):
        scope_id = scope_of(store)
        with store.write() as writer:
            rows = writer.insert_memories(
                scope_id, [memory(due_at=at) for at in (30, 10, None, 20)]
            )
        with store.read() as reader:
            assert reader.due(scope_id, 25, 10) == [rows[1].row_id, rows[3].row_id]
            assert reader.due(scope_id, 30, 1) == [rows[1].row_id]


class TransactionContract:
    @pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, GeneratorExit])
    def test_any_exception_rolls_back(self, store, error):
        (row,) = remembered(store, "a")
        with pytest.raises(error), store.write() as writer:  # noqa: PT012
            writer.insert_memories(row >> 32, [memory("b")])
            raise error
        with store.write() as writer:
            assert len(writer.index_rows(row >> 32)) == 1

    def test_a_change_that_failed_cannot_be_committed(self, store):
        scope_id = scope_of(store)
        with pytest.raises(StoreError, match="rolled back"), store.write() as writer:  # noqa: PT012
            with pytest.raises(InvalidArgument):
                writer.insert_memories(scope_id, [memory(key="k"), memory(key="k")])
            writer.insert_memories(scope_id, [memory("b")])
        with store.read() as reader:
            assert reader.index_rows(scope_id) == []

    def test_a_write_cannot_be_nested(self, store):
        with store.write(), pytest.raises(StoreError, match="nested"), store.write():
            pass
        with store.read(), pytest.raises(StoreError, match="nested"), store.write():
            pass

    def test_a_read_inside_a_write_sees_its_changes(self, store):
        with store.write() as writer:
            writer.open_scope("ann", NOW)
            with store.read() as reader:
                assert reader.scope("ann").name == "ann"

    def test_a_reader_is_of_no_use_afterwards(self, store):
        with store.read() as reader:
            pass
        with store.write() as writer:
            pass
        for over in (reader, writer):
            with pytest.raises(StoreError, match="over"):
                over.scopes()

    def test_meta_is_kept(self, store):
        with store.write() as writer:
            writer.set_meta("embedder", "hash")
            writer.set_meta("embedder", "hash-2")
        with store.read() as reader:
            assert reader.meta("embedder") == "hash-2"
            assert reader.meta("other") is None

    @pytest.mark.parametrize("key", ["seq", "migration:0001_initial"])
    def test_meta_of_the_store_itself_is_refused(self, store, key):
        with pytest.raises(InvalidArgument, match="key"), store.write() as writer:
            writer.set_meta(key, "9")

    def test_threads_share_the_store(self, store):
        scope_id = scope_of(store)

        def work(name: int) -> None:
            for i in range(20):
                with store.write() as writer:
                    writer.insert_memories(scope_id, [memory(f"{name} {i}")])

        threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        with store.read() as reader:
            assert len(reader.index_rows(scope_id)) == 160

    def test_calls_after_close_raise(self, store):
        store.close()
        store.close()
        for call in (
            store.migrate,
            store.data_version,
            store.read().__enter__,
            store.write().__enter__,
        ):
            with pytest.raises(StoreClosed):
                call()

    def test_close_waits_for_another_thread_and_then_refuses_it(self, store):
        inside, leave = threading.Event(), threading.Event()

        def hold() -> None:
            with store.write() as writer:
                writer.open_scope("ann", NOW)
                inside.set()
                leave.wait(10)

        holder = threading.Thread(target=hold)
        closer = threading.Thread(target=store.close)
        holder.start()
        inside.wait(10)
        closer.start()
        leave.set()
        for thread in (holder, closer):
            thread.join(10)
        with pytest.raises(StoreClosed), store.read():
            pass

    def test_close_inside_a_transaction_is_refused(self, store):
        with store.read(), pytest.raises(StoreError, match="inside"):
            store.close()


class RecordStoreContract(
    ScopeContract,
    ChangesContract,
    MemoryContract,
    ChangeContract,
    LinkContract,
    ConversationContract,
    EraseContract,
    TransactionContract,
):
    """The whole suite."""

"""Every formula by numbers worked out by hand: the working stands beside each number."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ebbmem import (
    Ebbinghaus,
    HashingEmbedder,
    PowerForgetting,
    Reinforcement,
    StorageStrength,
    WeightedSum,
    recipes,
)
from ebbmem.decay import Traces
from ebbmem.errors import InvalidArgument
from ebbmem.reinforcement import (
    NEW_ACCESS_COUNT,
    NEW_RETRIEVABILITY,
    NEW_STRENGTH,
    Strength,
)

S = 1_000_000
DAY = 86_400 * S


def traces(ages_s: list[float], importance: float = 5.0) -> Traces:
    """Memories that differ in age only; the moment is 0."""
    n = len(ages_s)
    born = np.array([-round(age * S) for age in ages_s], dtype=np.int64)
    full = np.full
    return Traces(full(n, importance), full(n, 0.1), full(n, 0.55), np.zeros(n), born, born)


class TestEbbinghaus:
    def test_forgets_at_five_percent_a_second(self):
        assert Ebbinghaus().decay_factor == 0.05

    @pytest.mark.parametrize(
        ("cosine", "importance", "age_s", "expected"),
        [
            (1.0, 10.0, 0.0, 10.0),  # (1 + 1)/2 * 10 * e^0
            (-1.0, 10.0, 0.0, 0.0),  # (-1 + 1)/2 = 0
            (0.0, 5.0, 0.0, 2.5),  # 1/2 * 5
            (0.5, 8.0, 30.0, 1.338780960890579),  # 0.75 * 8 * e^-1.5 = 6 * 0.22313016014842982
            (1.0, 10.0, 600.0, 9.357622968840175e-13),  # 10 * e^-30 = 10 * 9.357622968840175e-14
            (1.0, 10.0, -5.0, 10.0),  # ages below 0 count as 0
        ],
    )
    def test_score(self, cosine, importance, age_s, expected):
        score = Ebbinghaus().score(cosine, importance, age_s)
        assert score == pytest.approx(expected, rel=1e-14)

    def test_half_is_left_after_thirteen_point_nine_seconds(self):
        # ln 2 / 0.05 = 0.6931471805599453 / 0.05
        assert Ebbinghaus().retention(13.862943611198906) == pytest.approx(0.5, rel=1e-15)

    def test_linear_score_vanishes_between_14902_and_14903_seconds(self):
        # float64 rounds e^x to 0 below x = ln 2^-1075 = -745.1332; 0.05 * 14,902 = 745.10
        assert Ebbinghaus().score(1.0, 1.0, 14_902) > 0
        assert Ebbinghaus().score(1.0, 1.0, 14_903) == 0

    def test_log_weight_is_log_importance_less_decay(self):
        # ln 8 = 2.0794415416798357; 0.05 * 30 = 1.5
        (weight,) = Ebbinghaus().log_weights(traces([30.0], importance=8.0), 0)
        assert weight == pytest.approx(0.5794415416798357, rel=1e-14)

    def test_order_holds_where_the_linear_score_is_zero(self):
        # ln 5 - 0.05 * age: 1,000 s more are 50 less, however old both are
        weights = Ebbinghaus().log_weights(traces([15_000, 16_000, 1_000_000]), 0)
        assert weights[0] - weights[1] == pytest.approx(50, rel=1e-12)
        assert np.all(np.diff(weights) < 0)
        assert np.isfinite(weights).all()


class TestStorageStrength:
    def test_forgets_at_one_percent_an_hour(self):
        assert StorageStrength().decay_rate == 0.01

    @pytest.mark.parametrize(
        ("strength", "intensity", "expected"),
        [
            (0.0, 0.0, 0.01),
            (0.1, 0.0, 0.00925),  # 0.01 * (1 - 0.075)
            (0.1, 0.5, 0.00555),  # 0.01 * 0.925 * (1 - 0.4)
            (1.0, 1.0, 0.0005),  # 0.01 * 0.25 * 0.2
        ],
    )
    def test_rate_is_slowed_by_strength_and_emotion(self, strength, intensity, expected):
        assert StorageStrength().rate_per_h(strength, intensity) == pytest.approx(expected)

    def test_new_memory_after_twenty_idle_days(self):
        # 480 h * 0.00925 = 4.44; 0.55 * e^-4.44 = 0.55 * 0.0117959 = 0.0064878: printed as 0.006
        r = StorageStrength().effective(0.55, 0.1, 0.0, 480.0)
        assert r == pytest.approx(0.0064878, abs=1e-7)
        assert f"{r:.3f}" == "0.006"

    def test_idle_time_below_zero_is_zero(self):
        assert StorageStrength().effective(0.55, 0.1, 0.0, -3.0) == 0.55


class TestReinforcement:
    def test_success_updates_strength_before_retrievability(self):
        # S = 0.5 + 0.1 * (1 - 0.2) * (1 - 0.5) = 0.54; R = 0.5 + 0.27.
        # The other order would give R = 0.75 and S = 0.5 + 0.1 * 0.25 * 0.5 = 0.5125.
        after = Reinforcement().succeed(Strength(0.5, 0.2))
        assert after == pytest.approx((0.54, 0.77), rel=1e-15)

    def test_failure(self):
        # S = 0.5 - 0.3 * 0.8 * 0.5 = 0.38; R = 0.8 / 2
        assert Reinforcement().fail(Strength(0.5, 0.8)) == pytest.approx((0.38, 0.4), rel=1e-15)

    def test_published_sample_from_the_stored_anchor(self):
        # 1: S = 0.1 + 0.1 * 0.45 * 0.9 = 0.1405, R = 0.57025
        # 2: S = 0.1405 + 0.1 * 0.42975 * 0.8595 = 0.17743701, R = 0.58871851
        # 3: S = 0.17743701 + 0.1 * 0.41128149 * 0.82256299 = 0.21126750, R = 0.60563375
        state, seen = Strength(0.1, 0.55), []
        for _ in range(3):
            state = Reinforcement().succeed(state)
            seen.append(f"{state.storage:.3f}/{state.retrievability:.3f}")
        assert (seen[0], seen[2]) == ("0.141/0.570", "0.211/0.606")

    @pytest.mark.parametrize("beta", [0.1, 0.3])
    @pytest.mark.parametrize("gamma", [0.2, 0.4])
    def test_accepts_the_ends_of_both_ranges(self, beta, gamma):
        assert Reinforcement(beta, gamma).beta == beta

    @pytest.mark.parametrize("beta", [0.0999, 0.3001, math.nan, -0.1])
    def test_refuses_beta_out_of_range(self, beta):
        with pytest.raises(InvalidArgument, match="beta"):
            Reinforcement(beta=beta)

    @pytest.mark.parametrize("gamma", [0.1999, 0.4001, math.nan, math.inf])
    def test_refuses_gamma_out_of_range(self, gamma):
        with pytest.raises(InvalidArgument, match="gamma"):
            Reinforcement(gamma=gamma)

    def test_defaults(self):
        assert Reinforcement() == Reinforcement(beta=0.1, gamma=0.3)


class TestWeightedSum:
    @pytest.mark.parametrize(
        ("cosine", "importance", "age_h", "expected"),
        [
            (1.0, 10.0, 0.0, 1.0),  # 0.5 + 0.3 + 0.2
            (0.0, 1.0, 0.0, 0.32),  # 0.3 + 0.02
            (
                0.8,
                9.0,
                24.0,
                0.8460761310151473,
            ),  # 0.4 + 0.3 * e^-0.12 + 0.18
            (-1.0, 1.0, 1e9, -0.48),  # -0.5 + 0 + 0.02
        ],
    )
    def test_score(self, cosine, importance, age_h, expected):
        assert WeightedSum().score(cosine, importance, age_h) == pytest.approx(expected, rel=1e-13)

    def test_recency_halves_in_138_6_hours(self):
        # ln 2 / 0.005 = 138.62943611198907; 0.5 * 0 + 0.3 * 0.5 + 0.2 * 5/10
        assert WeightedSum().score(0, 5, 138.62943611198907) == pytest.approx(0.25, rel=1e-14)


class TestSimilarity:
    def test_threshold(self):
        assert recipes.SIMILARITY.min_score == 0.15

    # md5("a") = 0cc175b9c0f1b6a8 31c399e269772661: last byte 0x61 = 97; bit 8 is the lowest of
    # 0x26: 0; bit 64 the lowest of 0xa8: 0.  md5("b") = 92eb5ffee6ae2fec 3ad71c777531578f: last
    # byte 0x8f = 143; bit 8 the lowest of 0x57: 1; bit 64 the lowest of 0xec: 0.
    @pytest.mark.parametrize(
        ("sign", "a", "b"), [(None, 1, 1), ("seed", -1, 1), ("independent", -1, -1)]
    )
    def test_bucket_and_sign_of_two_words(self, sign, a, b):
        vector = HashingEmbedder(256, sign=sign).embed("a b")
        assert np.flatnonzero(vector).tolist() == [97, 143]
        half = math.sqrt(0.5)  # two words: each weighs 1 / sqrt 2
        assert vector[[97, 143]].tolist() == pytest.approx([a * half, b * half], rel=1e-7)

    def test_lower_split_keeps_punctuation_and_words_keep_case(self):
        split = HashingEmbedder(256, split="lower_split")
        words = HashingEmbedder(256)
        assert np.array_equal(split.embed("A b"), split.embed("a B"))
        assert not np.array_equal(split.embed("a!"), split.embed("a"))
        assert np.array_equal(words.embed("a!"), words.embed("a"))
        assert not np.array_equal(words.embed("A"), words.embed("a"))


class TestPowerForgetting:
    @pytest.mark.parametrize("stability", [0.5, 30.0, 10_000.0])
    @pytest.mark.parametrize("exponent", [0.1542, 0.5, 1.0])
    def test_nine_tenths_are_left_after_stability(self, stability, exponent):
        law = PowerForgetting(exponent=exponent)
        assert law.retention(stability, stability) == pytest.approx(0.9, rel=1e-14)

    def test_factor(self):
        # 0.9^(-1/0.1542) - 1 = e^(0.1053605157/0.1542) - 1 = e^0.6832718 - 1 = 0.980346
        assert PowerForgetting().factor == pytest.approx(0.980346, abs=1e-5)

    def test_ten_times_stability(self):
        # (1 + 9.80346)^-0.1542 = e^(-0.1542 * 2.379867) = e^-0.3669755 = 0.692827
        assert PowerForgetting().retention(300.0, 30.0) == pytest.approx(0.692827, abs=1e-5)

    def test_strength_emotion_and_importance_each_triple_stability(self):
        one = np.ones(1)
        old = np.array([-30 * 27 * DAY], dtype=np.int64)
        strongest = Traces(10 * one, one, one, one, old, old)
        # 30 days * 3 * 3 * 3 = 810 days, which is the age
        assert PowerForgetting().retrievability(strongest, 0) == pytest.approx([0.9], rel=1e-12)


class TestRecipes:
    def test_associative_weights_add_up_to_one(self):
        w = recipes.ASSOCIATIVE.weights
        assert (w.similarity, w.cascade, w.retrievability) == (0.40, 0.25, 0.25)
        assert (w.strength, w.emotion, w.importance) == (0.05, 0.05, 0.0)

    def test_associative_halves_activation_at_each_hop(self):
        assert recipes.ASSOCIATIVE.spread.hop_decay == 0.5

    def test_generative_weights(self):
        w = recipes.GENERATIVE.weights
        assert (w.similarity, w.retrievability, w.importance) == (0.5, 0.3, 0.2)

    def test_default_forgets_within_a_bound(self):
        # An unbounded exponential is a veto: at worst a memory keeps this share of its score.
        assert recipes.DEFAULT.retention_floor > 0.5

    def test_defaults_of_a_new_memory(self):
        new = (NEW_STRENGTH, NEW_RETRIEVABILITY, NEW_ACCESS_COUNT)
        assert new == (0.1, 0.55, 1)

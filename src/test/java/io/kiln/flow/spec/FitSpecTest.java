// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.flow.spec.CompilerSpec.FitSpec;
import io.kiln.tuning.fit.FitSearch.FitLimits;
import io.kiln.tuning.fit.FitTable.FitCost;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class FitSpecTest {
    private static FitSpec parsed(String optimize, Optional<String> flash, Optional<String> ram) {
        Problems problems = new Problems(Failure.CONFIG);
        FitSpec spec = FitSpec.of(optimize, flash, ram, problems);
        problems.throwIfAny();
        return spec;
    }

    @Test
    void limitsAreSizesAndHoldForEveryGoal() {
        assertThat(parsed("speed", Optional.empty(), Optional.empty())).isEqualTo(FitSpec.NONE);
        assertThat(parsed("fit", Optional.of("48K"), Optional.of("20000")))
                .isEqualTo(new FitSpec(true, new FitLimits(OptionalLong.of(48 * 1024), OptionalLong.of(20_000))));
        FitLimits limits = parsed("size", Optional.empty(), Optional.of("1K")).limits();
        assertThat(limits.allow(new FitCost(1, 1 << 30, 1024))).isTrue();
        assertThat(limits.allow(new FitCost(1, 1, 1025))).isFalse();
    }

    @Test
    void everyWrongLimitIsNamed() {
        assertThatThrownBy(() -> parsed("fit", Optional.of("much"), Optional.of("0")))
                .isInstanceOfSatisfying(
                        KilnException.class,
                        e -> assertThat(e.problems())
                                .extracting(Problem::what)
                                .containsExactly("kiln.limit.flash is 'much'", "kiln.limit.ram is '0'"));
    }

    @Test
    void aSearchBeginsWithTheBuildForSpeed() {
        assertThat(FitSpec.goal("fit")).isEqualTo(Optimize.SPEED);
        for (Optimize goal : Optimize.values()) {
            assertThat(FitSpec.goal(goal.text())).isEqualTo(goal);
        }
        assertThatThrownBy(() -> FitSpec.goal("fast"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("one of speed, size, ram, fit");
    }
}

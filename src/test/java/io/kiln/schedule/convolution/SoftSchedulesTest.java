// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Optimize;
import io.kiln.lower.LoweringCase;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.LayerSchedules;
import io.kiln.schedule.space.Workload;
import io.kiln.target.Target;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** For which cores float layers are computed in integers. */
class SoftSchedulesTest {
    private static final int CASES = 40;

    /** How many of some float layers have these schedules. */
    private static long chosen(String target) {
        return IntStream.range(0, CASES)
                .mapToObj(LoweringCase::ofFloats)
                .map(c -> new Workload(
                        ConvComputation.of(c.op()),
                        Rows.whole(c.op().type().shape()),
                        Target.parse(target).features(),
                        Optimize.SPEED))
                .filter(layer -> LayerSchedules.choose(layer).schedule().name().startsWith("soft_"))
                .count();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "c -mcpu=cortex-m0plus",
                "c -mcpu=cortex-m23",
                "c -mcpu=cortex-m33+nofp",
                "c -mcpu=cortex-m4 -mfloat-abi=soft",
                "c -march=rv32im"
            })
    void coresWithoutFloatingPointUnitUseThem(String target) {
        assertThat(chosen(target)).isGreaterThan(CASES / 2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "c -mcpu=cortex-m33",
                "c -mcpu=cortex-m55",
                "c -march=rv32imafc",
                "c -march=rv32i",
                "c -march=rv64imac",
                "c -keys=cpu -model=host"
            })
    void noOtherCoreDoes(String target) {
        assertThat(chosen(target)).isZero();
    }
}

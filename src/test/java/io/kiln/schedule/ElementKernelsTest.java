// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Optimize;
import io.kiln.draw.RandomOperators;
import io.kiln.ir.Function;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Limits;
import io.kiln.lower.element.Int16Add;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import io.kiln.transform.Pipeline;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Sums and functions of single elements have kernels, which both compilers leave as they are. */
class ElementKernelsTest {
    private static final int DRAWS = 1_000;

    /** The names of the schedules that are no plain loops, without their configurations. */
    private static Set<String> kernels(String target, LongFunction<Function> drawn) {
        Dispatch dispatch = new Dispatch(Target.parse(target), Optimize.SPEED);
        return LongStream.range(0, DRAWS)
                .mapToObj(seed -> Pipeline.standard().run(drawn.apply(seed)))
                .flatMap(function -> FusedOperator.all(function, "drawn").stream())
                .map(op -> dispatch.lower(op).schedule())
                .map(schedule -> schedule.substring(0, (schedule + "(").indexOf('(')))
                .filter(schedule -> !schedule.equals("flat") && !schedule.equals("broadcast"))
                .collect(Collectors.toSet());
    }

    static Stream<Arguments> cores() {
        return Stream.of(
                Arguments.of(TestTargets.M55, Set.of("mve_slopes", "mve_sum16"), "mve_sum"),
                Arguments.of(TestTargets.M4, Set.of("dsp_slopes", "dsp_sum16"), "thumb_sum"),
                Arguments.of(TestTargets.M3, Set.of(), "thumb_sum"),
                Arguments.of(TestTargets.M0, Set.of("thumb_sum16", "thumb_sum16_channel"), "thumb_sum"),
                Arguments.of(
                        TestTargets.RV32, Set.of("riscv_slopes", "riscv_sum16", "riscv_sum16_channel"), "riscv_sum"),
                Arguments.of(TestTargets.HOST, Set.of(), ""));
    }

    @ParameterizedTest
    @MethodSource("cores")
    void eachCoreHasItsKernels(String target, Set<String> ofShorts, String ofBytes) {
        assertThat(kernels(target, RandomOperators::ofShorts)).isEqualTo(ofShorts);
        assertThat(kernels(target, RandomOperators::ofBytes)).isEqualTo(ofBytes.isEmpty() ? Set.of() : Set.of(ofBytes));
    }

    /** The largest sum is 2^30 less one; its product by twice the multiplier must leave room for what is added before the shift. */
    @Test
    void multipliersThatLeaveNoRoomForTheirStepAreNotSmall() {
        assertThat(sum(Integer.MAX_VALUE - (1 << 14) - 1).isSmall()).isTrue();
        assertThat(sum(Integer.MAX_VALUE - (1 << 14)).isSmall()).isFalse();
    }

    private static Int16Add sum(int outMultiplier) {
        return new Int16Add(0, false, 1 << 30, 1, outMultiplier, 14, new Limits(Short.MIN_VALUE, Short.MAX_VALUE));
    }
}
